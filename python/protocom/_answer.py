"""A recognizer's answer for an image."""
from ._later import html


class Answer:
    """A recognizer's answer for an image.

    Attributes
    ----------
    name : str, the most probable class; "" if it is none of these
    probability : float, of the most probable class
    ranking : list of (class, probability), most probable first
    familiarity : float, score of how well the image fits any of the classes
    none : float, probability that the image shows none of the classes; with the probabilities of all classes it sums to
        1; None if no threshold is set
    none_of_these : bool, none >= 1/2; None if no threshold is set
    nearest : list of dict, the most similar enrolled images
    nearest_note : str, why the first class is not that of the nearest image; "" if it is
    attributes : list of dict, the attributes that affected the first class's score most
    set : list of str, classes that contain the right one with the probability ``coverage``, most probable first; empty
        without ``coverage``
    group : (name, probability) of the smallest group of classes that reaches ``roll_up``, if the first class does not;
        else None
    box : Crop, the box classified; None for a whole image
    """

    def __init__(self, found):
        vars(self).update({"set": [], "box": None}, **found)  # recognizer/results_json.cc
        self.ranking = [(one["class"], one["probability"]) for one in found["ranking"]]
        group = found.get("group")
        self.group = (group["name"], group["probability"]) if group else None

    @property
    def name(self):
        return "" if self.none_of_these else self.ranking[0][0]

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
