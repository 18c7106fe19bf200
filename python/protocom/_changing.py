"""Methods of Recognizer that change its file."""

import numpy as np

from . import _arrays, _boxes, _given_images
from ._class_names import class_name as _class_name
from ._encoders import texts_of
from ._errors import Error
from ._parquet_photos import as_list


def enrol(self, name, images=(), *, attributes=(), descriptions=(), boxes=None, on_error="raise"):
    """Adds images to a class; a new class is created. ``undo`` reverts the call as one change.

    Parameters
    ----------
    name : str, the class
    images : as ``classify`` takes them; a path may also be a folder (with subfolders) or a pattern ("holiday/*.jpg")
    attributes : names of the class's attributes in the recognizer's knowledge
    descriptions : one or several texts that say what the class looks like, with or without images; needs the
        ``text_encoder`` of ``open`` or ``create``
    boxes : as ``classify`` takes them
    on_error : as ``classify`` takes it; "skip" leaves unreadable images out and lists them in ``unreadable``. If all are
        unreadable, an Error is raised

    Returns
    -------
    dict: ``classes`` (class, new, added, images), ``unreadable``, ``skipped``
    """
    request = {"name": _class_name(name), "attributes": texts_of(attributes, "an attribute"),
               "descriptions": texts_of(descriptions), "text_encoder": None}
    if request["descriptions"]:
        request["text_encoder"] = self._text_core()
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.enrol_features(request, np.ascontiguousarray(rows, np.float32))
    read, reading, _ = _given_images.read(self._core, images if boxes is None else _boxes.crops(images, boxes), on_error)
    done = self._core.enrol(request, read)
    done["unreadable"] += reading.unreadable
    return done


def enrol_folder(self, folder, attributes=None, *, boxes=None, question="", annotator="", classes_from="", progress=None):
    """Enrols a class for each subfolder, or for each label of a list or of Parquet. ``attributes``: a CSV class,attribute; the others: as ``create`` takes them.
    Returns what ``enrol`` returns, with ``expected``: the expected accuracy, in a sentence."""
    lists = _arrays.texts(question=question, annotator=annotator, classes_from=classes_from)
    with as_list(folder) as images:
        return self._core.enrol_folder(images, _arrays.fspath(attributes or ""), _boxes.choice(boxes), lists, progress)


def add_unlabelled(self, images, *, on_error="raise"):
    """Adds unlabelled images of enrolled classes, or of classes to be enrolled, which improve accuracy; up to 5,000 in
    all; not with ``fitted`` or ``model``. ``images``, ``on_error``: as ``enrol`` takes them. Returns the number of new
    ones."""
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.add_unlabelled_features(np.ascontiguousarray(rows, np.float32))
    self._core.check_learns_from_unlabelled()
    return self._core.add_unlabelled(_given_images.read(self._core, images, on_error)[0])


def remove_unlabelled(self):
    """Removes all unlabelled images; returns how many there were."""
    return self._core.remove_unlabelled()


def calibrate(self, others=(), *, similar=False, false_accept=None, on_error="raise", progress=None):
    """Calibrates probabilities and the threshold of "none of these". By default it refuses only images of quite
    different kinds, and at most 5 % of images of the classes.

    Parameters
    ----------
    others : unknown images (as ``enrol`` takes them, with ``on_error``) or their features; default: held-out classes
    similar : bool, refuse similar kinds too, at the threshold where both error rates are estimated to be equal
    false_accept : float, share of unknown images that may pass
    on_error : as ``enrol`` takes it, for ``others``
    progress : callable(what, done, total, detail)

    Returns
    -------
    dict, the calibration
    """
    share = None if false_accept is None else _arrays.number(false_accept, "false_accept")
    return self._core.calibrate(_features_of_others(self, others, on_error), _arrays.truth(similar, "similar"), share, progress)


def _features_of_others(self, others, on_error):
    if _given_images.is_features(others):
        return np.ascontiguousarray(np.atleast_2d(_arrays.array(others, "features")), np.float32)
    reading = _given_images.Reading(_given_images.several(others), self._core.features_of, on_error)
    rows = [found for found, _ in reading]
    if reading.unreadable and not rows:
        raise Error(f"none of the images can be read: {reading.unreadable[0]}")
    return np.concatenate(rows) if rows else None


def rename(self, name, to):
    """Renames a class."""
    self._core.rename(_class_name(name), _class_name(to))


def merge(self, name, into):
    """Moves the images of a class to another one, and removes it."""
    self._core.merge(_class_name(name), _class_name(into))


def remove(self, name):
    """Removes a class."""
    self._core.remove(_class_name(name))


def remove_examples(self, examples):
    """Removes enrolled images, by their numbers (`examples`)."""
    self._core.remove_examples([int(one) for one in examples])


def confirm_examples(self, examples):
    """Keeps that enrolled images, by their numbers (`examples`), are in their right class: `check_labels` no longer
    names them."""
    self._core.confirm_examples([int(one) for one in examples])


def move_examples(self, examples, to):
    """Moves enrolled images, by their numbers (`examples`), to another class; returns how many it did not hold already.
    Those have new numbers then."""
    return self._core.move_examples([int(one) for one in examples], _class_name(to))


def undo(self):
    """Reverts the last change; returns what it was."""
    return self._core.undo()


def redo(self):
    """Repeats the change that `undo` reverted last; impossible after a new change. Returns what it was."""
    return self._core.redo()
