"""What changes a recognizer: methods of Recognizer that write its file."""
import os

import numpy as np

from . import _arrays, _boxes, _given_images
from ._class_names import class_name as _class_name
from ._encoders import texts_of
from ._errors import Error


def enrol(self, name, images=(), *, attributes=(), descriptions=(), boxes=None, on_error="raise"):
    """Adds images to a class, which is made where it is not there yet. It is one change, which ``undo`` takes back.

    ``images``, ``boxes``: as ``classify`` takes them; a path may also be that of a folder, whose images and those
    below it are taken, or a pattern ("holiday/*.jpg").

    ``on_error``: as ``classify`` takes it; where it is "skip", images that cannot be read are left out, and
    ``unreadable`` says which. Where none can be read, it is an Error.

    ``descriptions``: a text or several that say what the class looks like, in place of images or beside them; needs
    the ``text_encoder`` that the recognizer was opened or made with.

    Returns a dict: ``classes`` (class, new, added, images), ``unreadable``, ``skipped``.
    """
    said = {"name": _class_name(name), "attributes": texts_of(attributes, "an attribute"),
            "descriptions": texts_of(descriptions), "text_encoder": None}
    if said["descriptions"]:
        said["text_encoder"] = self._text_core()
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.enrol_features(said, np.ascontiguousarray(rows, np.float32))
    read, reading, _ = _given_images.read(self._core, images if boxes is None else _boxes.crops(images, boxes), on_error)
    done = self._core.enrol(said, read)
    done["unreadable"] += reading.unreadable
    return done


def enrol_folder(self, folder, attributes=None, *, boxes=None, progress=None):
    """A class for each subfolder; ``attributes``: CSV of theirs; ``boxes``: of the images, as ``create`` takes them. As
    ``enrol``, and ``expected``: what accuracy to expect, in a sentence."""
    return self._core.enrol_folder(os.fspath(folder), os.fspath(attributes or ""), _boxes.choice(boxes), progress)


def add_unlabelled(self, images, *, on_error="raise"):
    """Adds unlabelled images of the classes to come, from which recognition learns, up to 5,000 of them; not with
    ``fitted`` or ``model``. ``images``, ``on_error``: as ``enrol`` takes them. Returns how many were not there yet."""
    if _given_images.is_features(images):
        rows = np.atleast_2d(_arrays.array(images, "features"))
        return self._core.add_unlabelled_features(np.ascontiguousarray(rows, np.float32))
    self._core.check_learns_from_unlabelled()
    return self._core.add_unlabelled(_given_images.read(self._core, images, on_error)[0])


def remove_unlabelled(self):
    """Removes all of them; returns how many there were."""
    return self._core.remove_unlabelled()


def calibrate(self, others=(), *, similar=False, false_accept=None, on_error="raise", progress=None):
    """Calibrates probabilities and the threshold of "none of these". Something else altogether is refused, and at
    most 5 % of own images. ``similar``: similar kinds are too, by leaving each class out in turn; as many of them pass
    as own images are refused. ``others``: images (as ``enrol`` takes them, with ``on_error``) or features of none of
    the classes in their place. ``false_accept``: the share of them that may pass. Returns a dict."""
    return self._core.calibrate(_features_of_others(self, others, on_error), similar, false_accept, progress)


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


def undo(self):
    """Takes the last change back; returns what it was."""
    return self._core.undo()


def redo(self):
    """Does again what `undo` took back last, until there is a new change; returns what it was."""
    return self._core.redo()
