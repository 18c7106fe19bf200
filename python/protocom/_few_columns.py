"""Data with few columns, such as tables of measurements, for methods that scale features to unit length."""
import math

import numpy as np

# Features of encoders have more. With few columns, the length of a row is informative, and scaling to unit length loses it:
# accuracy of plda on iris, standardised, is .85, and .97 with this column (docs/python.md).
_FEW = 16
_METHODS = ("plda", "plda-vb")


def are_few(recipe, columns):
    """Whether features have few columns, and the method is one of ``_METHODS`` with nothing but labelled images."""
    return columns < _FEW and recipe.on_labelled_images_alone(_METHODS)


def length_of(rows):
    """The root mean square length of rows [..., d], the same in any order; 1 if that is 0 or not finite."""
    squares = np.square(rows, dtype=np.float64).sum(-1).ravel()
    mean = math.fsum(squares) / max(len(squares), 1)
    return math.sqrt(mean) if 0 < mean < math.inf else 1.0  # the library refuses what is not finite


def with_length(rows, length):
    """Rows [..., d] with a column of that constant, float32 [..., d + 1]: scaled to unit length, they still show their
    original length."""
    column = np.empty((*rows.shape[:-1], 1), np.float32)
    column[..., 0] = length
    return np.concatenate([rows.astype(np.float32, copy=False), column], -1)


def episodes_with_length(support, query, mask):
    """The same for many episodes, with a constant for each: support [b, n, k, d], query [b, q, d], mask [b, n, k]."""
    there = support if mask is None else [one[own > 0] for one, own in zip(support, mask)]
    lengths = np.array([length_of(one) for one in there], np.float32).reshape(-1, 1, 1)
    return with_length(support, lengths), with_length(query, lengths[:, 0])
