"""What a recognizer does on labelled images."""
from . import _html


class TestResult:
    """How good a recognizer is on labelled images that were never enrolled, by ``Recognizer.test``.

    Attributes
    ----------
    recognizer, method, mode : str
    calibrated : bool, whether it says "none of these"
    enrolled : int, its classes
    images, right : int, images of its own classes, and of these the right ones by the most probable class
    accuracy, low, high : float in [0, 1], with the 95 % interval of Wilson, the images taken as independent
    top5 : float, share whose class is among the five most probable, or None up to five classes
    certainty, expected_error, log_loss : float, the mean probability of the answers, the ECE of 15 bins, and the mean of -ln of
        the right class's probability; probabilities are given that an image is of one of the classes
    refused, kept_right : int, images of its classes that are called none of these; right ones that are not
    unknown, accepted : int, images of other classes; of these, those taken for one of its own
    classes, confusion, bins, unknown_classes : list of dict
    tested : list of dict: image, class, known, answer, certainty, none, none_of_these, rank, log_loss, right
    worst : list of int, places in ``tested`` of the wrong answers, the surest first
    already_enrolled, unlabelled, unshared : int, left out, or of those that it learned from without a label
    skipped : str; unreadable : list of str
    """

    __test__ = False  # pytest takes it for no test

    def __init__(self, core):
        self._core = core
        self.__dict__.update(core.fields())

    def to_dict(self):
        """All of it, as ``protocom test --json`` prints it."""
        return self._core.fields()

    def compare(self, other):
        """This test less another one of the same images: a dict of ``difference``, ``low``, ``high`` (its 95 % interval,
        Agresti and Min 2005), ``p_value`` (McNemar's exact test), ``first_only`` and ``second_only`` (images that the other one,
        and this one, alone has right), ``images``, ``differing`` (places in ``tested``) and ``sentence``."""
        return self._core.compare(other._core)

    def __repr__(self):
        return f"TestResult({self._core.sentence()})"

    def _repr_html_(self):
        head = ["class", "images", "right", "refused", "most often taken for"]
        rows = [[one["class"], one["images"], one["right"], one["refused"], one["confused_with"] or ""] for one in self.classes]
        return _html.table(rows, head, caption=self._core.sentence())
