"""What a recognizer says of an image."""
import html


class Answer:
    """What a recognizer says of an image.

    Attributes
    ----------
    name : str, the most probable class
    probability : float
    ranking : list of (class, probability), most probable first
    familiarity : float, the score for being one of the classes at all
    none : float, the probability that it is of none of the classes, which sums to 1 with all of theirs; None without a
        calibration
    none_of_these : bool, none >= 1/2, or None without a calibration
    nearest : list of dict: the most similar enrolled images
    nearest_note : str, why the first class is not that of the nearest image, "" where it is
    attributes : list of dict: those that spoke most for the first class or against it
    set : list of str, the classes that hold the right one with the ``coverage`` that was asked for, most probable first;
        empty where none was
    group : (name, probability) of a group of classes, where ``roll_up`` was asked for and the first class is less
        probable, or None
    box : Crop, the box that it is about, or None where it is about a whole image
    """

    def __init__(self, found):
        vars(self).update({"set": [], "box": None}, **found)  # recognizer/answer_json.cc
        self.ranking = [(one["class"], one["probability"]) for one in found["ranking"]]
        group = found.get("group")
        self.group = (group["name"], group["probability"]) if group else None

    @property
    def name(self):
        return self.ranking[0][0]

    @property
    def probability(self):
        return self.ranking[0][1]

    def __repr__(self):
        return "Answer(none of these)" if self.none_of_these else f"Answer({self.name!r}, {self.probability:.2f})"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{100 * share:.1f} %</td><td><div style='background:#47a;height:0.8em;"
            f"width:{100 * share:.0f}px'></div></td></tr>"
            for name, share in self.ranking
        )
        return ("<p>none of these</p>" if self.none_of_these else "") + f"<table>{rows}</table>"
