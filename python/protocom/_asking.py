"""What a recognizer is asked: methods of Recognizer that change nothing in its file."""
import os

import numpy as np

from . import _arrays, _boxes, _given_images
from ._answer import Answer
from ._class_names import class_name as _class_name
from ._engine import engine
from ._errors import Error, UsageError
from ._tests import TestResult


def classify(self, images, *, on_error="raise", boxes=None):
    """An Answer for an image, a list of them for several.

    Images are paths, files open as bytes, their bytes, PIL images, pixels (uint8, or floats from 0 to 1: grey [h, w],
    RGB [h, w, 3], RGBA [h, w, 4], or colours first), or features float32 [d] or [n, d]. Several are a list,
    ``protocom.images_in("holiday")``, or anything that gives one after the other: a few are held at a time.

    ``on_error``: of an image that cannot be read "raise" raises an Error with its ``index`` and ``path`` (None unless it
    is a file); "skip" logs it, and its answer is None.

    ``boxes``: of images that are paths of photos or folders, a path of a file or folder of boxes, or Boxes: an answer
    for each box, which its ``box`` names.
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


def classify_series(self, images, *, by=None, gap=60.0):
    """One answer for the images of a burst, a video or a visit to a camera trap, of the mean of their features.

    Parameters
    ----------
    images : images of one series, as ``classify`` takes several; with ``by`` paths of photos, or of a folder
    by : "time": photos taken within ``gap`` seconds of one another, by EXIF, in one folder; "folder": those of a folder

    Returns
    -------
    Answer; with ``by`` a list of (paths, Answer), a pair for each series
    """
    if by is None:
        rows = np.atleast_2d(_arrays.array(images, "features")) if _given_images.is_features(images) else self.features_of(images)
        if len(rows) == 0:
            raise Error("a series needs an image")
        return self.classify(np.asarray(rows, np.float64).mean(0).astype(np.float32))
    paths = [images] if isinstance(images, (str, os.PathLike)) else list(images)
    if not all(isinstance(one, (str, os.PathLike)) for one in paths):
        raise UsageError("with by, images must be paths of photos or folders")
    found = [file for one in paths for file in (_given_images.images_in(one) if os.path.isdir(one) else [one])]
    groups = engine.group_photos([os.fspath(one) for one in found], _arrays.text(by, "by"), _arrays.number(gap, "gap"))
    return [([os.fspath(one) for one in group], self.classify_series(group)) for group in groups]


def explain(self, image, class_name=None):
    """Which part of an image makes its answer: each of 7 x 7 patches of the square that the encoder sees is covered in
    turn, in one batch (Zeiler and Fergus 2014).

    Parameters
    ----------
    image : as ``classify`` takes one, but no features
    class_name : whose part is looked for; left out, the most probable class

    Returns
    -------
    dict: ``class``, its ``probability`` for the whole image, and ``effects`` float64 [7, 7], rows top to bottom: what
    the class's log odds lose when the patch is covered; above 0 the patch speaks for the class
    """
    if _given_images.is_features(image):
        raise UsageError("explain() covers parts of an image: give the image, not its features")
    given, single = _given_images.images(image)
    if not single:
        raise UsageError("explain() takes one image")
    found = self._core.explain([_given_images.image(given[0])], class_name or "")
    found["effects"] = np.array(found["effects"])
    return found


def suggest(self, images, count=20):
    """Which unlabelled images to label next, the most useful first; those that are enrolled are left out.

    Parameters
    ----------
    images : as ``classify`` takes several
    count : int

    Returns
    -------
    list of dict: ``row`` (place among the images), ``image``, ``class`` and ``probability`` (the most probable one),
    ``runner_up``, ``doubt`` (1 less the margin of the two) and ``share`` of the doubt about all images that it takes
    """
    count = _arrays.whole(count, "count", 1)
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.suggest_features(np.ascontiguousarray(rows, np.float32), count)["images"]
    return self._core.suggest(_given_images.read(self._core, images, "raise")[0], count)["images"]


def check_labels(self, *, progress=None):
    """What the enrolled images say of their labels, by leaving each out.

    Returns
    -------
    dict: ``misplaced`` (images that look like another class, least probable first), ``shared`` (in two classes),
    ``confused`` (pairs of classes), ``classes`` (how well each is recognised, the worst first), ``asked``, ``false_rate``
    """
    return self._core.check_labels(progress)


def features_of(self, images, *, on_error="raise"):
    """Features of images (as ``enrol`` takes them) by its own encoder: float32 [n, d]. ``on_error``: as
    ``Backbone.extract`` takes it."""
    given = _given_images.several(images)
    return _given_images.features_of_all(given, self._core.features_of, on_error, dim=self._core.feature_dim())


def test(self, images, labels=None, *, boxes=None, on_error="raise", progress=None):
    """How good it is on labelled images that are not enrolled; those whose content is enrolled are left out.

    Parameters
    ----------
    images : the path of a folder with a subfolder for each class, of a list (CSV, JSON) or of a file of features; or with
        ``labels`` images and features as ``classify`` takes them, one after the other
    labels : the right class of each image; classes that it does not have count as unknown
    boxes : of the images of a folder or list, as ``create`` takes them
    on_error : of images with ``labels``, as ``classify`` takes it; "skip" leaves them out, ``unreadable`` says which

    Returns
    -------
    TestResult
    """
    if labels is None:
        if not isinstance(images, (str, os.PathLike)):
            raise UsageError("images without labels must be the path of a folder, a list or a file of features")
        return TestResult(self._core.test_at(os.fspath(images), _boxes.choice(boxes), progress))
    if boxes is not None:
        raise UsageError("boxes need the path of a folder or a list; for paths with labels give protocom.crops(...)")
    names = [_class_name(str(one)) for one in ([labels] if isinstance(labels, str) else labels)]
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return TestResult(self._core.test_features(np.ascontiguousarray(rows, np.float32), names))
    read, reading, places = _given_images.read(self._core, images, on_error)
    if reading.count != len(names):
        raise Error(f"{len(names)} labels for {reading.count} images")
    return TestResult(self._core.test(read, [names[place] for place in places], places, reading.unreadable))
