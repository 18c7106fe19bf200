"""Results of a recognizer on labelled images."""
from . import _arrays, _html
from ._errors import TypeRefused


class TestResult:
    """Accuracy of a recognizer on labelled images that are not enrolled, by ``Recognizer.test``.

    Attributes
    ----------
    recognizer, method, mode : str
    calibrated : bool, whether it can answer "none of these"
    enrolled : int, number of its classes
    images, right : int, images of its classes; of these, those whose most probable class is right
    accuracy, low, high : float in [0, 1], right / images, with Wilson's 95 % interval for independent images
    top5 : float, share whose class is among the five most probable; None if it has at most five classes
    certainty, expected_error, log_loss : float, mean probability of the answers, ECE of 15 bins, and mean of -ln of the right
        class's probability; all given that the image is of one of the classes
    refused, kept_right : int, images of its classes that are answered "none of these"; right ones that are not
    unknown, accepted : int, images of other classes; of these, those answered by one of its classes
    classes, confusion, bins, unknown_classes : list of dict
    tested : list of dict: image, class, known, answer, certainty, none, none_of_these, rank, log_loss, right
    worst : list of int, indices in ``tested`` of the wrong answers, the most certain first
    already_enrolled : int, images left out because they are enrolled
    unlabelled : int, tested images that are also among its unlabelled ones
    unshared : int, in a comparison, images left out because only one recognizer has their class
    skipped : str, files of folders that are not images
    unreadable : list of str
    """

    __test__ = False  # not a test for pytest

    def __init__(self, core):
        self._core = core
        self.__dict__.update(core.fields())

    def to_dict(self):
        """Everything, as ``protocom test --json`` prints it."""
        return self._core.fields()

    def compare(self, other):
        """Compares with another test on the same images. Returns a dict: ``difference`` (accuracy of this minus that of the
        other), ``low``, ``high`` (its 95 % interval, Agresti and Min 2005), ``p_value`` (McNemar's exact test), ``first_only``
        and ``second_only`` (images that only the other, or only this one, has right), ``images``, ``differing`` (indices in
        ``tested``) and ``sentence``."""
        return self._core.compare(_core_of(other))

    def to_csv(self, path, other=None):
        """Writes a row per image, as ``protocom test --csv`` does; with the answers of ``other`` too, a test on the same images."""
        self._core.write_csv(_arrays.fspath(path), None if other is None else _core_of(other))

    def to_html(self, path, other=None, *, worst=24):
        """Writes a page, as ``protocom test --html`` does: classes, confusion matrix, reliability, and the most confident wrong
        answers, at most ``worst``, with their images; with ``other``, a test on the same images, also where the two differ."""
        self._core.write_page(_arrays.fspath(path), None if other is None else _core_of(other), _arrays.whole(worst, "worst", 0))

    def __repr__(self):
        return f"TestResult({self._core.sentence()})"

    def _repr_html_(self):
        head = ["class", "images", "right", "refused", "most often taken for"]
        rows = [[one["class"], one["images"], one["right"], one["refused"], one["confused_with"] or ""] for one in self.classes]
        return _html.table(rows, head, caption=self._core.sentence())


def _core_of(test):
    if not isinstance(test, TestResult):
        raise TypeRefused(f"other must be a TestResult, found {type(test).__name__}")
    return test._core
