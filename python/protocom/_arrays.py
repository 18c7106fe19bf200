"""What users give as features and labels, as arrays."""
import numbers
import sys
import warnings

import numpy as np

from ._errors import Error, UsageError, _OfAnotherType


def plain(array):
    """Whether the library takes its numbers as they are."""
    return array.dtype.char in "fd" and array.dtype.isnative


def rows(given, what="X", least=1):
    """Features as a float32 or float64 array [n, d], without a copy where they are one: arrays, tensors (DLPack or
    ``__array__``), data frames, lists. Whether the numbers are finite is the library's to say."""
    if type(given) is not np.ndarray or given.ndim != 2 or not plain(given):
        given = _floats(given, what)
    if given.ndim != 2:
        raise Error(
            f"Expected 2D array {what} [n, d], one row an image; found {given.ndim}D array of shape {given.shape}. "
            f"Reshape your data: one image is {what}.reshape(1, -1)."
        )
    if given.shape[0] < least:
        raise Error(f"{what} has 0 sample(s) (shape={given.shape}) while a minimum of {least} is required.")
    if given.shape[1] == 0:
        raise Error(f"{what} has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    return given


def array(given, what):
    """Any numbers as an array, without a copy where they are one."""
    if hasattr(given, "toarray") or hasattr(given, "todense"):
        raise _OfAnotherType(f"{what} is a sparse matrix, a dense array is needed: {what}.toarray()")
    if hasattr(given, "detach") and hasattr(given, "cpu"):  # a tensor, which may be one of a graph or a GPU
        given = given.detach().cpu()
    if not isinstance(given, np.ndarray) and not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    try:
        return np.asarray(given)
    except ValueError:
        raise Error(f"{what} should be an array of numbers [n, d]: its rows differ in length") from None


def _floats(given, what):
    made = array(given, what)
    if made.dtype.kind == "c":
        raise Error(f"{what} holds complex numbers. Complex data not supported")
    if made.dtype.kind in "fiub" and not plain(made):
        return made.astype(np.float32 if made.dtype.itemsize <= 2 else np.float64)
    if made.dtype.kind in "OUS":
        try:
            return made.astype(np.float64)
        except TypeError as error:
            raise _OfAnotherType(f"{what} should hold numbers: {error}") from None
        except ValueError as error:
            raise Error(f"{what} should hold numbers: {error}") from None
    if made.dtype.kind not in "fiub":
        raise Error(f"{what} should hold numbers, found {made.dtype}")
    return made


def labels(given, count, name):
    """Labels of any type as an array [n]."""
    if given is None:
        raise Error(f"{name} requires y to be passed, but the target y is None.")
    made = array(given, "y")
    if made.ndim == 2 and made.shape[1] == 1:
        _warn_of_column()
        made = made.ravel()
    if made.ndim != 1:
        raise Error(f"y should be a label an image, [n]; found an array of shape {made.shape}")
    if len(made) != count:
        raise Error(f"X has {count} rows and y {len(made)} labels: one label an image was expected")
    if made.dtype.kind == "f":
        if not np.isfinite(made).all():
            raise Error("y contains NaN or infinity: labels are whole numbers or words")
        if (made != np.floor(made)).any():
            raise Error("Unknown label type: continuous; labels are whole numbers or words")
    return made


def joined(*parts):
    """Labels of several calls as one array, which are to be of one type: numbers do not become words."""
    arrays = [np.asarray(one) for one in parts]
    there = [one for one in arrays if len(one)] or arrays[:1]
    kinds = {"word" if one.dtype.kind in "US" else "object" if one.dtype.kind == "O" else "number" for one in there}
    if len(kinds - {"object"}) > 1:
        raise Error("labels should all be of one type: all numbers or all words")
    return np.concatenate(there)


def whole(value, what, least, most=2**63 - 1):
    """A whole number of at least `least` that the library can hold."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} should be a whole number of at least {least}, found {shown(value)}")
    if value > most:
        raise UsageError(f"{what} should be a whole number of at most {most}, found {shown(value)}")
    return int(value)


def shown(value):
    """As a message quotes it: Python does not print whole numbers of thousands of digits."""
    long = isinstance(value, int) and value.bit_length() > 256
    return f"one of {value.bit_length()} bits" if long else repr(value)


def seed(value, what="seed"):
    """What random numbers start from."""
    return whole(value, what, 0, 2**64 - 1)


def number(value, what):
    """A number as a float."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} should be a number that a float can hold, found {shown(value)}") from None


def text(value, what):
    """A str that is UTF-8: the names that Python makes of other bytes in file names are not."""
    if not isinstance(value, str):
        raise UsageError(f"{what} should be a str, found {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} should be UTF-8, found {ascii(value)}") from None
    return value


def numbered(given):
    """(classes, number of each label among them)."""
    try:
        return np.unique(given, return_inverse=True)
    except TypeError:
        raise Error("labels should all be of one type: all numbers or all words") from None


def _warn_of_column():
    there = sys.modules.get("sklearn.exceptions")
    kind = there.DataConversionWarning if there else UserWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected: y.ravel() is taken.", kind, stacklevel=4)
