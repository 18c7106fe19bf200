"""Boxes in photos, each treated as a separate photo."""
import os

from . import _arrays
from ._engine import engine


def _paths(given):
    return [_arrays.fspath(one) for one in ([given] if isinstance(given, (str, os.PathLike)) else given)]


class Boxes:
    """A selection of the boxes of a file, for ``boxes=`` in place of the file's path.

    Parameters
    ----------
    file : path of MegaDetector's or COCO's JSON, a CSV image,x,y,width,height[,class], AddaxAI's CSV, Pascal
        VOC's XML or a folder of it, or a folder of YOLO's labels
    min_confidence : float, least confidence of boxes that have one
    kinds : kinds of boxes to use ("animal"); empty: all
    margin : float, margin on each side of a box as a fraction of its longer side, 0 to 1; use the same one to enrol and to classify
    """

    def __init__(self, file, *, min_confidence=0.2, kinds=(), margin=0.1):
        self.file, self.min_confidence, self.margin = _arrays.fspath(file), float(min_confidence), float(margin)
        self.kinds = [_arrays.text(str(one), "kinds") for one in ([kinds] if isinstance(kinds, str) else kinds)]

    def __repr__(self):
        return f"Boxes({self.file!r}, min_confidence={self.min_confidence}, kinds={self.kinds}, margin={self.margin})"


def choice(boxes):
    """A value of ``boxes=`` as the library takes it: (file, least confidence, kinds, margin)."""
    if boxes is None:
        return "", 0.2, [], 0.1
    made = boxes if isinstance(boxes, Boxes) else Boxes(_arrays.path(boxes, "boxes", "a protocom.Boxes or the path of its file"))
    return made.file, made.min_confidence, made.kinds, made.margin


class Crop(str):
    """A box in a photo, accepted wherever images are: the photo's path and "#xywh=percent:10,20,30,40".

    Attributes
    ----------
    photo : str, the path of the photo
    kind : str, kind of the box, as named in the file
    confidence : float, 0 to 1
    """

    def __new__(cls, name, photo, kind, confidence):
        made = super().__new__(cls, name)
        made.photo, made.kind, made.confidence = photo, kind, confidence
        return made

    def __getnewargs__(self):
        return str(self), self.photo, self.kind, self.confidence


def crops(images, boxes):
    """The boxes of photos: a list of Crop, in the order of the photos. Photos without a box are left out and logged.

    Parameters
    ----------
    images : paths of photos or folders (with subfolders)
    boxes : path of a file or folder of boxes, or Boxes
    """
    return [Crop(*one) for one in engine.crops(_paths(images), *choice(boxes))]
