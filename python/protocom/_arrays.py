"""Arrays of the features and labels that users pass."""
import numbers
import os
import sys
import warnings

import numpy as np

from ._errors import Error, UsageError, TypeRefused

_PROCESSOR = (1, 3, 11, 13)  # DLPack's kinds of memory that the processor reads: kDLCPU, pinned, managed


def plain(array):
    """Whether the library can use the array without conversion."""
    return array.dtype.char in "fd" and array.dtype.isnative


def rows(given, what="X", least=1):
    """Features as a float32 or float64 array [n, d], if possible without a copy: of arrays, tensors (DLPack or
    ``__array__``), data frames, lists, or a column of lists or arrays (pandas, polars, pyarrow). The library checks
    that the numbers are finite."""
    if type(given) is not np.ndarray or given.ndim != 2 or not plain(given):
        given = _floats(given, what)
    if given.ndim > 2:
        raise Error(
            f"Found array with dim {given.ndim}, while dim 2 is required: {what} of shape {given.shape} must be features [n, d], "
            f"which protocom.Backbone(...).extract(...) makes of images"
        )
    if given.ndim != 2:
        raise Error(
            f"Expected 2D array, got {_dimensions(given)} array instead: {what} of shape {given.shape}. Reshape your "
            f"data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            f"contains a single sample."
        )
    if given.shape[0] < least:
        raise Error(f"{what} has 0 sample(s) (shape={given.shape}) while a minimum of {least} is required.")
    if given.shape[1] == 0:
        raise Error(f"{what} has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    return given


def array(given, what):
    """Any numbers as an array, without a copy of arrays, tensors on the CPU and other objects that share their memory
    (DLPack). What lies on a GPU is copied to the CPU if its library does that."""
    if hasattr(given, "toarray") or hasattr(given, "todense"):
        raise TypeRefused(f"{what} is a sparse matrix, a dense array is needed: {what}.toarray()")
    if hasattr(given, "detach") and hasattr(given, "cpu"):  # a tensor, which may be one of a graph or a GPU
        given = given.detach().cpu()
        given = given.float() if str(given.dtype).endswith("bfloat16") else given  # which NumPy has not
    if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__") and (_is_elsewhere(given) or not hasattr(given, "__array__")):
        return _of_dlpack(given, what)
    try:
        return np.asarray(given)
    except ValueError:
        raise Error(
            f"{what} must be an array of numbers [n, d]: its rows differ in length (an inhomogeneous shape)"
        ) from None


def _is_elsewhere(given):
    """Whether it lies where the processor cannot read it."""
    return hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] not in _PROCESSOR


def _of_dlpack(given, what):
    if not _is_elsewhere(given):
        return np.from_dlpack(given)
    ways = [lambda: np.from_dlpack(given, device="cpu")]  # asks for a copy, from NumPy 2.1 on
    if hasattr(given, "__array__"):
        ways.append(lambda: np.asarray(given))
    for way in ways:
        try:
            return way()
        except (BufferError, RuntimeError, TypeError):  # the library, or an older NumPy, does not copy
            continue
    kind, number = given.__dlpack_device__()
    raise TypeRefused(f"{what} is on a device (DLPack's kind {int(kind)}, number {number}): copy it to the CPU first")


def _dimensions(made):
    return "scalar" if made.ndim == 0 else f"{made.ndim}D"


def _stacked(made, what):
    """A column of lists or arrays as a matrix [n, d]; anything else as it is."""
    column = made[:, 0] if made.ndim == 2 and made.shape[1] == 1 else made
    if made.dtype.kind != "O" or column.ndim != 1 or not len(column) or not _is_row(column[0]):
        return made
    cells = [np.asarray(one) for one in column]
    for i, one in enumerate(cells):
        if one.shape != cells[0].shape:
            raise Error(
                f"{what} must have rows of one length: row 0 has shape {cells[0].shape}, "
                f"row {i} has shape {one.shape}"
            )
    return np.stack(cells)


def _is_row(cell):
    return isinstance(cell, (list, tuple)) or getattr(cell, "ndim", 0) > 0


def _floats(given, what):
    made = _stacked(array(given, what), what)
    if made.dtype.kind == "c":
        raise Error(f"{what} holds complex numbers. Complex data not supported")
    if made.dtype.kind in "fiub" and not plain(made):
        return made.astype(np.float32 if made.dtype.itemsize <= 2 else np.float64)
    if made.dtype.kind in "OUS":
        try:
            return made.astype(np.float64)
        except TypeError as error:
            raise TypeRefused(f"{what} must hold numbers: {str(error)[:200]}") from None
        except ValueError as error:
            raise Error(f"{what} must hold numbers: {str(error)[:200]}") from None
    if made.dtype.kind not in "fiub":
        raise Error(f"{what} must hold numbers, found {made.dtype}")
    return made


def labels(given, count, name):
    """Labels of any type as an array [n]."""
    if given is None:
        raise Error(f"{name} requires y to be passed, but the target y is None.")
    made = array(given, "y")
    if made.dtype.kind in "US" and isinstance(given, (list, tuple)):  # NumPy makes words of numbers beside words
        _check_one_type(given)
    if made.ndim == 2 and made.shape[1] == 1:
        _warn_of_column()
        made = made.ravel()
    if made.ndim != 1:
        raise Error(f"y should be a 1d array, got an array of shape {made.shape} instead.")
    if len(made) != count:
        raise Error(f"Found input variables with inconsistent numbers of samples: [{count}, {len(made)}]")
    if made.dtype.kind == "f":
        if not np.isfinite(made).all():
            raise Error("Input y contains NaN or infinity: labels are whole numbers or words")
        if (made != np.floor(made)).any():
            raise Error("Unknown label type: continuous; labels are whole numbers or words")
    return made


def counts(given, count, what):
    """How many times each of `count` rows counts: int64 [count]. A single number applies to all rows."""
    made = array(given, what)
    made = np.full(count, made) if made.ndim == 0 else made
    if made.shape != (count,) or made.dtype.kind not in "fiub":
        raise Error(f"{what} must be a number for each of the {count} rows, found {made.dtype} {made.shape}")
    if not ((made >= 0) & (made == np.floor(made)) & (made <= 1e6)).all():
        raise Error(f"{what} must be whole numbers from 0 to 1,000,000, how often an image counts: scale fractions to whole numbers")
    return made.astype(np.int64)


def order_of(rows):
    """Numbers of the rows [n, d] in an order that does not depend on theirs: sums of single precision agree to the last
    digit then, however the rows are ordered and whether one counts twice or is there twice. Rows that are not finite keep
    their order: the error that follows states the number of the row."""
    if not np.isfinite(rows).all():
        return np.arange(len(rows))
    whole = np.ascontiguousarray(rows, np.float32)
    return np.argsort(whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize)))[:, 0], kind="stable")


def joined(*parts):
    """Labels of several calls as one array of one type; throws Error instead of converting numbers to words."""
    arrays = [np.asarray(one) for one in parts]
    there = [one for one in arrays if len(one)] or arrays[:1]
    kinds = {"word" if one.dtype.kind in "US" else "object" if one.dtype.kind == "O" else "number" for one in there}
    if len(kinds - {"object"}) > 1:
        raise _not_of_one_type(one.flat[0] for one in there)
    return np.concatenate(there)


def _check_one_type(given):
    if len({isinstance(one, (str, bytes)) for one in given}) > 1:
        raise _not_of_one_type(given)


def _not_of_one_type(given):
    found = ", ".join(sorted({type(one).__name__ for one in given}))
    return Error(f"Unknown label type: unknown; labels must all be of one type, all numbers or all words, found {found}")


def whole(value, what, least, most=2**63 - 1):
    """A whole number of at least `least` that the library can hold."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} must be a whole number of at least {least}, found {shown(value)}")
    if value > most:
        raise UsageError(f"{what} must be a whole number of at most {most}, found {shown(value)}")
    return int(value)


def shown(value):
    """A value as quoted in messages, in a line: Python does not print integers of thousands of digits, and of most objects
    it prints where they lie in memory."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"one of {value.bit_length()} bits"
    words = " ".join(repr(value).split())
    if " at 0x" in words:
        return f"an object of the type {type(value).__name__}"
    return words if len(words) <= 200 else f"{words[:200]}..."


def seed(value, what="seed"):
    """A seed of random numbers."""
    return whole(value, what, 0, 2**64 - 1)


def number(value, what):
    """A number as a float."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be a number that a float can hold, found {shown(value)}") from None


def truth(value, what):
    """A bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise UsageError(f"{what} must be True or False, found {shown(value)}")
    return bool(value)


def texts(**values):
    """The values as a tuple, each as `text` takes it."""
    return tuple(text(value, name) for name, value in values.items())


def text(value, what):
    """A str that is UTF-8: the names that Python makes of other bytes in file names are not."""
    if not isinstance(value, str):
        raise UsageError(f"{what} must be a str, found {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} must be UTF-8, found {ascii(value)}") from None
    return value


def path(given, what, expected="a path"):
    """The str of a path."""
    if not isinstance(given, (str, os.PathLike)):
        raise TypeRefused(f"{what} must be {expected}, found {type(given).__name__}")
    return fspath(given)


def fspath(given):
    """os.fspath of what a file can be called."""
    found = os.fspath(given)
    try:
        as_bytes = os.fsencode(found)
    except UnicodeEncodeError:  # half of a letter of UTF-16
        as_bytes = b"\0"
    if b"\0" in as_bytes:
        raise UsageError(f"a path must be text without NUL, found {ascii(found)[:200]}")
    return found


def numbered(given):
    """(classes, number of each label among them)."""
    try:
        return np.unique(given, return_inverse=True)
    except TypeError:
        raise _not_of_one_type(given) from None


def _warn_of_column():
    there = sys.modules.get("sklearn.exceptions")
    kind = there.DataConversionWarning if there else UserWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected: y.ravel() is taken.", kind, stacklevel=4)
