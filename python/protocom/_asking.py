"""Methods of Recognizer that do not change its file."""
import os

import numpy as np

from . import _arrays, _boxes, _given_images
from ._answer import Answer
from ._class_names import class_name as _class_name
from ._engine import engine
from ._errors import Error, UsageError
from ._parquet_photos import as_list
from ._tests import TestResult


def classify(self, images, *, on_error="raise", boxes=None):
    """Classifies an image, or several: an Answer, or a list of them.

    Parameters
    ----------
    images : an image or several: a folder, a pattern ("holiday/*.jpg"), Parquet of photos, a list, or any iterable, of which
        a few are in memory at a time (type checkers take every path for one image's). An image is a path, a file opened as
        bytes, the bytes of a file, a PIL image, or pixels (uint8, or floats from 0 to 1: grey [h, w], RGB [h, w, 3], RGBA
        [h, w, 4], or channels first). Or features of its encoder, float32 [d] or [n, d].
    on_error : "raise": an unreadable image raises an Error with its ``index`` and ``path`` (None unless it is a file);
        "skip": it is logged, and its answer is None
    boxes : path of a file or folder of boxes, or Boxes; ``images`` are then paths of photos or folders. There is an
        answer for each box, with the box in ``Answer.box``
    """
    if boxes is not None:
        asked = _boxes.crops(images, boxes)
        answers = self.classify(asked, on_error=on_error)
        for answer, box in zip(answers, asked):
            if answer is not None:
                answer.box = box
        return answers
    if _given_images.is_features(images):
        _given_images.check_on_error(on_error)
        rows = np.atleast_2d(_arrays.array(images, "features"))
        made = [Answer(one) for one in self._core.classify_features(np.ascontiguousarray(rows, np.float32))]
        return made[0] if getattr(images, "ndim", 2) == 1 else made
    given, single = _given_images.images(images)
    rows, places, count = _given_images.features_of(given, self._core.features_of, on_error)
    made = [None] * count
    for place, one in zip(places, self._core.classify_features(rows) if places else ()):
        made[place] = Answer(one)
    return made[0] if single else made


def classify_series(self, images, *, by=None, gap=60.0, on_error="raise", boxes=None):
    """One answer for the images of a series (a burst, a video, a visit to a camera trap), by the mean of their features.

    Parameters
    ----------
    images : images of one series, as ``classify`` takes several; with ``by`` paths of photos or folders, of many series
    by : what is a series. "time": photos of one folder, each at most ``gap`` seconds after the one before (EXIF);
        "folder": the photos of a folder; "visits.csv:visit": the photos that have one text in this column of a CSV, which
        also has a column of images
    on_error : as ``classify`` takes it; "skip" leaves unreadable images out of their series
    boxes : as ``classify`` takes it: a series consists of the boxes of its photos

    Returns
    -------
    Answer (None if no image of the series could be read); with ``by`` a list of (paths, Answer), a pair for each series
    """
    if boxes is not None:
        images = _boxes.crops(images, boxes)
    if by is None:
        return _answer_one_series(self, images, on_error)
    paths = [images] if isinstance(images, (str, os.PathLike)) else list(images)
    if not all(isinstance(one, (str, os.PathLike)) for one in paths):
        raise UsageError("with by, images must be paths of photos or folders")
    found = [file for one in paths for file in (_given_images.images_in(one) if os.path.isdir(one) else [one])]
    groups = engine.group_photos([_arrays.fspath(one) for one in found], _arrays.text(by, "by"), _arrays.number(gap, "gap"))
    return [([_arrays.fspath(one) for one in group], _answer_one_series(self, group, on_error)) for group in groups]


def _answer_one_series(self, images, on_error):
    _given_images.check_on_error(on_error)
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
    else:
        rows = self.features_of(images, on_error=on_error)
        if on_error == "skip":
            rows = rows[~np.isnan(rows).any(1)]
            if len(rows) == 0:
                return None
    if len(rows) == 0:
        raise Error("a series needs at least one image, found none")
    return self.classify(np.asarray(rows, np.float64).mean(0).astype(np.float32))


def explain(self, image, class_name=None):
    """Which part of an image made its answer, by covering each of 7 x 7 patches of the square that the encoder sees
    (Zeiler and Fergus 2014).

    Parameters
    ----------
    image : as ``classify`` takes one, except features
    class_name : the class to explain; default: the most probable one

    Returns
    -------
    dict: ``class``, its ``probability`` for the whole image, and ``effects`` float64 [7, 7], rows top to bottom: by how
    much the class's log odds fall when the patch is covered; above 0 the patch is evidence for the class
    """
    if _given_images.is_features(image):
        raise UsageError("explain() covers parts of an image: give the image, not its features")
    given, single = _given_images.images(image)
    if not single:
        raise UsageError("explain() takes one image")
    name = "" if class_name is None else _class_name(class_name)
    try:
        found = self._core.explain([_given_images.image(given[0])], name)
    except Error:
        _given_images.features_of(given, self._core.features_of)  # of an unreadable image: the error with its index and path
        raise
    found["effects"] = np.array(found["effects"])
    return found


def suggest(self, images, count=20, *, on_error="raise"):
    """Which unlabelled images to label next, the most useful first; enrolled images are left out.

    Parameters
    ----------
    images : as ``enrol`` takes them
    count : int
    on_error : as ``classify`` takes it; "skip" leaves unreadable images out

    Returns
    -------
    list of dict: ``row`` (index among all images given), ``image``, ``class`` and ``probability`` (of the most probable one),
    ``runner_up``, ``doubt`` (1 minus the difference of the two probabilities), and ``share``: of the doubt about all
    images, the part that labelling this one covers
    """
    count = _arrays.whole(count, "count", 1)
    if _given_images.is_features(images):
        _given_images.check_on_error(on_error)
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.suggest_features(np.ascontiguousarray(rows, np.float32), count)["images"]
    read, _, places = _given_images.read(self._core, images, on_error)
    return self._core.suggest(read, count, places)["images"]


def examples(self, name=""):
    """The enrolled images of a class, or of all classes: a list of dict with ``example`` (the number that
    ``remove_examples``, ``move_examples`` and ``confirm_examples`` take), ``class``, ``source``, ``time``, ``hash`` and
    ``confirmed``."""
    return self._core.examples(_class_name(name) if name else "")


def check_labels(self, *, progress=None):
    """Checks the labels of the enrolled images by leave-one-out.

    Returns
    -------
    dict: ``misplaced`` (images that look like another class, least probable first, without those of ``confirm_examples``), ``shared`` (images in two classes),
    ``confused`` (pairs of classes), ``classes`` (accuracy of each, the least certain first), ``asked`` (images held
    out), ``false_rate`` (expected share of the correctly placed images that are in ``misplaced``)
    """
    return self._core.check_labels(progress)


def features_of(self, images, *, on_error="raise"):
    """Features of images by the recognizer's encoder: float32 [n, d]. ``images``: as ``enrol`` takes them; ``on_error``:
    as ``Backbone.extract`` takes it."""
    given = _given_images.several(images)
    return _given_images.features_of_all(given, self._core.features_of, on_error, dim=self._core.feature_dim())


def test(self, images, labels=None, *, boxes=None, question="", annotator="", classes_from="", on_error="raise", progress=None):
    """Measures accuracy on labelled images that are not enrolled; enrolled ones are left out.

    Parameters
    ----------
    images : path of a folder with a subfolder for each class, of a list (CSV, JSON, Parquet) or of a file of features; or, with
        ``labels``, several images or features as ``classify`` takes them
    labels : the right class of each image; classes that the recognizer does not have count as unknown
    boxes, question, annotator, classes_from : of the images of a folder or list, as ``create`` takes them
    on_error : with ``labels``, as ``classify`` takes it; "skip" leaves unreadable images out and lists them in
        ``unreadable``

    Returns
    -------
    TestResult
    """
    if labels is None:
        if not isinstance(images, (str, os.PathLike)):
            raise UsageError("images without labels must be the path of a folder, a list or a file of features")
        lists = _arrays.texts(question=question, annotator=annotator, classes_from=classes_from)
        with as_list(images) as photos:
            return TestResult(self._core.test_at(photos, _boxes.choice(boxes), lists, progress))
    if question or annotator or classes_from:
        raise UsageError("question, annotator and classes_from need the path of a folder or a list, and no labels")
    if boxes is not None:
        raise UsageError("boxes need the path of a folder or a list; for paths with labels give protocom.crops(...)")
    names = [_class_name(str(one)) for one in ([labels] if isinstance(labels, str) else labels)]
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return TestResult(self._core.test_features(np.ascontiguousarray(rows, np.float32), names))
    read, reading, places = _given_images.read(self._core, images, on_error)
    if reading.count != len(names):
        raise Error(f"expected one label per image, found {len(names)} labels and {reading.count} images")
    return TestResult(self._core.test(read, [names[place] for place in places], places, reading.unreadable))
