"""Exceptions, each with one sentence."""
from ._words import in_python


class Error(ValueError):
    """An invalid input, file or format. The message states what was expected, what was found, where, and the remedy.

    Attributes
    ----------
    index : int, the number of the image that cannot be read, among those given; None: the error is not about an image
    path : str, its file; None if it is not a file
    """

    index = None
    path = None

    def __init__(self, *given, **more):
        # The library's messages name options of the command line; all of them pass through here.
        super().__init__(*(in_python(one) if isinstance(one, str) else one for one in given), **more)


class UsageError(Error):
    """A request that is invalid for any data: an unknown method, a negative number of shots."""


class TypeRefused(Error, TypeError):
    """An Error for a value of a wrong type, which is also a TypeError."""


class ImportRefused(ImportError, Error):
    """An Error for a library that cannot be loaded beside those in the process, which is also an ImportError."""


def not_fitted(name):
    """An Error that is also scikit-learn's NotFittedError, if scikit-learn has been imported."""
    import sys

    there = sys.modules.get("sklearn.exceptions")
    kinds = (Error, there.NotFittedError) if there else (Error,)
    made = {"__module__": "protocom", "__reduce__": lambda self: (not_fitted, (name,))}  # processes pass it on pickled
    return type("NotFittedError", kinds, made)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )


for _kind in (Error, UsageError, TypeRefused, ImportRefused):
    _kind.__module__ = "protocom"
