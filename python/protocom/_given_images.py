"""Images that users pass: one, or several, which are read one after another."""
import itertools
import os

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError
from ._later import glob, logging
from ._parquet import is_parquet
from ._parquet_photos import photos_of

TOGETHER = 16  # images of one call of the library, which decodes them side by side


def images_in(path):
    """Sorted paths of the images in a folder and its subfolders, or of a pattern: ``images_in("holiday")``,
    ``images_in("*/1.jpg")``. For every call that takes several images."""
    path = _arrays.fspath(path)
    names = _below(path) if os.path.isdir(path) else glob.iglob(path, recursive=True)
    found = sorted(one for one in names if engine.is_image_name(one) and not os.path.isdir(one))
    if not found:
        raise Error(f"there is no image in {path}: give a folder, or a pattern such as '{os.path.join(path, '*.jpg')}'")
    return found


def _below(folder):
    return (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


def images(given):
    """(list or iterable of images, whether a single image was given); those of a folder, a pattern or Parquet are several."""
    if _is_table(given):
        return photos_of(given), False
    if _is_of_several(given):
        return images_in(given), False
    single = given is None or isinstance(given, (str, bytes, bytearray, memoryview, os.PathLike)) or hasattr(given, "convert")
    single = single or _is_file(given) or getattr(given, "ndim", None) in (0, 2, 3)
    single = single or not (hasattr(type(given), "__iter__") or hasattr(type(given), "__getitem__"))
    return [given] if single else given, single


def is_features(given):
    """Whether features are given in place of images: floats [d] or [n, d]; three dimensions are pixels."""
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    is_tensor = kind is None and hasattr(given, "detach") and not _is_file(given)
    return (kind == "f" or is_tensor) and getattr(given, "ndim", 2) <= 2


def _is_file(given):
    return hasattr(given, "read")


def _file_bytes(given):
    if getattr(given, "seekable", bool)():
        given.seek(0)  # as Pillow reads it
    found = given.read()
    if isinstance(found, str):
        raise Error(f"{getattr(given, 'name', 'an image')} is open as text: open it as bytes, open(path, 'rb')")
    return bytes(found)


def image(given):
    """As the library takes it: a path, bytes, or uint8 [h, w, 3]."""
    if given is None:
        raise Error("an image is None: expected a path, bytes, a file, a PIL image, or an array of pixels")
    if isinstance(given, (bytes, bytearray)) or (isinstance(given, memoryview) and given.ndim == 1):
        return bytes(given)
    if isinstance(given, (str, os.PathLike)):
        return _arrays.fspath(given)
    try:
        if hasattr(given, "convert"):  # a PIL image
            return _picture(given)
        if _is_file(given):
            return _file_bytes(given)
    except (OSError, SyntaxError) as error:  # Pillow reads a file when its pixels are requested
        raise Error(f"an image cannot be read: {' '.join(str(error).split())}") from error
    return _pixels(_arrays.array(given, "an image"))


def _pixels(made):
    """uint8 [h, w, 3] of grey [h, w] or [h, w, 1], RGB, or RGBA, whose colours may come first; floats are shares of white."""
    if made.dtype.kind == "f" and made.ndim in (2, 3):
        if made.size and not (made.min() >= 0 and made.max() <= 1):
            raise Error(f"an image of floats from {made.min()} to {made.max()}: expected 0 to 1, or uint8 from 0 to 255")
        made = np.rint(made * 255).astype(np.uint8)
    shape = made.shape
    made = made[..., None] if made.ndim == 2 else made
    if made.ndim == 3 and made.shape[2] not in (1, 3, 4) and made.shape[0] in (1, 3, 4):
        made = np.moveaxis(made, 0, 2)
    if made.dtype != np.uint8 or made.ndim != 3 or made.shape[2] not in (1, 3, 4) or not made.size:
        raise Error(
            f"an image must be a path, bytes of a file, a file, a PIL image, or pixels as uint8 or floats from 0 to 1, "
            f"[height, width], [height, width, 3] or [height, width, 4]; found {made.dtype} {shape}"
        )
    if made.shape[2] == 1:
        made = np.repeat(made, 3, axis=2)
    return np.ascontiguousarray(_over_white(made) if made.shape[2] == 4 else made)


def _over_white(pixels):
    alpha = pixels[..., 3:].astype(np.int32)
    return ((pixels[..., :3].astype(np.int32) * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _picture(given):
    """The pixels of a PIL image, equal to those decoded from its file: 16 bits are rounded to 8, transparency becomes white."""
    mode = getattr(given, "mode", "RGB")
    if mode.startswith("I"):
        grey = np.asarray(given).astype(np.int64)
        if grey.size and (grey.min() < 0 or grey.max() > 65535):
            raise Error(f"a PIL image of mode {mode} with values from {grey.min()} to {grey.max()}: expected 0 to 65535 (16 bits)")
        return np.repeat(((grey * 255 + 32895) >> 16).astype(np.uint8)[..., None], 3, axis=2)
    if mode == "F":
        raise Error("a PIL image of mode F has no defined range of brightness: give uint8 [height, width, 3]")
    if mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in getattr(given, "info", {}):
        return _over_white(np.asarray(given.convert("RGBA")))
    return np.asarray(given.convert("RGB"))


def several(given):
    """Iterates over the images of a call that takes several; a path may be a folder, a pattern ("holiday/*.jpg") or Parquet."""
    if _is_table(given):
        return photos_of(given)
    if isinstance(given, (str, os.PathLike)) and _is_of_several(given):
        return images_in(given)
    return itertools.chain.from_iterable(images_in(one) if _is_of_several(one) else [one] for one in images(given)[0])


def _is_table(given):
    return isinstance(given, (str, os.PathLike)) and is_parquet(given)


def _is_of_several(given):
    if not isinstance(given, (str, os.PathLike)):
        return False
    path = _arrays.fspath(given)
    return os.path.isdir(path) or (isinstance(path, str) and glob.has_magic(path) and not os.path.exists(path))


def check_on_error(value):
    if value not in ("raise", "skip"):
        raise UsageError(f"on_error must be 'raise' or 'skip', found {_arrays.shown(value)}")


class Reading:
    """Iterates over pairs (result of ``read`` for a list of images, their indices), with at most ``together`` images in
    memory. "skip": unreadable images are left out and logged.

    Attributes
    ----------
    count : int, images so far
    unreadable : list of str, an error message for each image left out
    """

    def __init__(self, given, read, on_error="raise", together=TOGETHER):
        check_on_error(on_error)
        self._given, self._read, self._on_error, self._together = given, read, on_error, together
        self.count, self.unreadable = 0, []

    def __iter__(self):
        left = iter(self._given)
        while True:
            some = list(itertools.islice(left, self._together))
            if not some:
                return
            first, self.count = self.count, self.count + len(some)
            yield from self._of_some(some, first)

    def _of_some(self, some, first):
        try:
            return [(self._read([image(one) for one in some]), range(first, first + len(some)))]
        except Error:  # find out which one
            return list(self._one_by_one(some, first))

    def _one_by_one(self, some, first):
        for i, one in enumerate(some, first):
            try:
                yield self._read([image(one)]), range(i, i + 1)
            except Error as error:
                error = _placed(error, i, one)
                if self._on_error == "raise":
                    raise error from None
                logging.getLogger("protocom").warning("%s", error)
                self.unreadable.append(str(error))


def read(core, images, on_error):
    """(decoded images as a recognizer keeps them, the Reading, indices of these images)."""
    kept, places = engine.ReadImages(), []
    reading = Reading(several(images), core.read, on_error)
    for found, where in reading:
        kept.add(found)
        places += where
    if reading.unreadable and not places:
        raise Error(f"none of the images can be read: {reading.unreadable[0]}")
    return kept, reading, places


def features_of(given, extract, on_error="raise"):
    """(features [n, d], indices [n] of their images, number of images); ``extract`` makes features of a list."""
    reading, rows, places = Reading(given, extract, on_error), [], []
    for found, where in reading:
        rows.append(found)
        places += where
    if not reading.count:
        raise Error("expected at least one image, found none")
    return np.concatenate(rows) if rows else None, places, reading.count


def features_of_all(given, extract, on_error="raise", *, together=TOGETHER, dim=None, tell=None):
    """float32 [n, d] of all images; a skipped unreadable image has a row of NaN [dim]. ``tell`` is called with the number
    done."""
    reading, rows = Reading(given, extract, on_error, together), []
    for found, where in reading:
        _fill(rows, where.start, dim)
        rows.append(found)
        if tell is not None:
            tell(reading.count)
    if not reading.count:
        raise Error("expected at least one image, found none")
    _fill(rows, reading.count, dim)
    return np.concatenate(rows)


def _fill(rows, count, dim):
    missing = count - sum(map(len, rows))
    if missing:
        rows.append(np.full((missing, dim), np.nan, np.float32))


def _placed(error, index, given):
    """The error, with the image's number in ``index`` and its path (or None) in ``path``."""
    path = _arrays.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    words = str(error)
    if path is None:
        words = f"image {index}: {words[len('image 0: '):] if words.startswith('image 0: ') else words}"
    made = type(error)(words)
    made.index, made.path = index, path
    return made
