"""Images as users give them: one, or several, which are read as they are used."""
import glob
import itertools
import logging
import os

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError

TOGETHER = 16  # images of one call of the library, which decodes them side by side
_log = logging.getLogger("protocom")


def images_in(path):
    """Paths of the images in a folder and below it, or of a pattern: ``images_in("holiday")``, ``images_in("*/1.jpg")``;
    sorted. Calls that take several images take them."""
    path = os.fspath(path)
    names = _below(path) if os.path.isdir(path) else glob.iglob(path, recursive=True)
    found = sorted(one for one in names if engine.is_image_name(one) and not os.path.isdir(one))
    if not found:
        raise Error(f"there is no image in {path}: give a folder, or a pattern such as '{os.path.join(path, '*.jpg')}'")
    return found


def _below(folder):
    return (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


def images(given):
    """(images, one by one; whether it was one alone)."""
    if isinstance(given, (str, os.PathLike)) and os.path.isdir(given):
        raise Error(f"{os.fspath(given)} is a folder: protocom.images_in(...) gives its images")
    single = isinstance(given, (str, bytes, os.PathLike)) or hasattr(given, "convert")
    single = single or (getattr(given, "ndim", None) == 3 and getattr(given, "dtype", None) == np.uint8)
    return [given] if single else given, single


def image(given):
    """As the library takes it: a path, bytes, or uint8 [h, w, 3]."""
    if isinstance(given, bytes):
        return given
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    if hasattr(given, "convert"):  # a PIL image
        return _picture(given)
    made = _arrays.array(given, "an image")
    if made.dtype != np.uint8 or made.ndim != 3 or made.shape[2] != 3:
        raise Error(
            f"an image should be a path, bytes of a file, a PIL image, or uint8 [height, width, 3] in RGB; "
            f"found {made.dtype} {made.shape}"
        )
    return made


def _picture(given):
    """The pixels of a PIL image, which are those of its file: of 16 bits the upper 8, rounded, and what is clear over white."""
    mode = getattr(given, "mode", "RGB")
    if mode.startswith("I"):
        grey = np.asarray(given).astype(np.int64)
        if grey.size and (grey.min() < 0 or grey.max() > 65535):
            raise Error(f"a PIL image of mode {mode} with values from {grey.min()} to {grey.max()}: expected 0 to 65535 (16 bits)")
        return np.repeat(((grey * 255 + 32895) >> 16).astype(np.uint8)[..., None], 3, axis=2)
    if mode == "F":
        raise Error("a PIL image of mode F: nothing says which value is white; give uint8 [height, width, 3]")
    if mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in getattr(given, "info", {}):
        pixels = np.asarray(given.convert("RGBA")).astype(np.int32)
        alpha = pixels[..., 3:]
        return ((pixels[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    return np.asarray(given.convert("RGB"))


def listed(given):
    """All of them, as the library takes them."""
    return [image(one) for one in images(given)[0]]


def check_on_error(value):
    if value not in ("raise", "skip"):
        raise UsageError(f"on_error should be 'raise' or 'skip', found {value!r}")


def features_of(given, extract, on_error="raise"):
    """(features [n, d], places [n] of their images, number of images). ``extract`` makes features of a list; no more than
    TOGETHER images are held. "skip": what cannot be read is left out and logged."""
    check_on_error(on_error)
    rows, places, count, left = [], [], 0, iter(given)
    while True:
        some = list(itertools.islice(left, TOGETHER))
        if not some:
            break
        found, kept = _features_of_some(some, count, extract, on_error)
        if kept:
            rows.append(found)
            places += kept
        count += len(some)
    if not count:
        raise Error("there is no image")
    return np.concatenate(rows) if rows else None, places, count


def _features_of_some(some, first, extract, on_error):
    try:
        return extract([image(one) for one in some]), list(range(first, first + len(some)))
    except Error:  # which one it was
        return _one_by_one(some, first, extract, on_error)


def _one_by_one(some, first, extract, on_error):
    rows, places = [], []
    for i, one in enumerate(some, first):
        try:
            rows.append(extract([image(one)]))
            places.append(i)
        except Error as error:
            error = _placed(error, i, one)
            if on_error == "raise":
                raise error from None
            _log.warning("%s", error)
    return np.concatenate(rows) if rows else None, places


def _placed(error, index, given):
    """The error with the number of the image in ``index`` and its path, or None, in ``path``."""
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    words = str(error)
    if path is None:
        words = f"image {index}: {words[len('image 0: '):] if words.startswith('image 0: ') else words}"
    made = type(error)(words)
    made.index, made.path = index, path
    return made
