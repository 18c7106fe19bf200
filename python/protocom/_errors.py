"""What goes wrong, as exceptions with one sentence."""
from ._words import in_python


class Error(ValueError):
    """A bad input, file or format: what was expected, what was found, where, and what to do."""

    def __init__(self, *given, **more):
        # The library raises these with its own words: this is the one place through which all of them come.
        super().__init__(*(in_python(one) if isinstance(one, str) else one for one in given), **more)


class UsageError(Error):
    """A request that cannot be right whatever the data are: an unknown method, a negative number of shots."""


class TypeRefused(Error, TypeError):
    """An Error for what is of a type that cannot be right, which Python calls a TypeError."""


class ImportRefused(ImportError, Error):
    """An Error for what cannot be in a process beside what is there, which Python calls an ImportError."""


def not_fitted(name):
    """An Error that scikit-learn takes for its NotFittedError, where scikit-learn is in the process."""
    import sys

    there = sys.modules.get("sklearn.exceptions")
    kinds = (Error, there.NotFittedError) if there else (Error,)
    made = {"__module__": "protocom", "__reduce__": lambda self: (not_fitted, (name,))}  # processes pass it on pickled
    return type("NotFittedError", kinds, made)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )


for _kind in (Error, UsageError, TypeRefused, ImportRefused):
    _kind.__module__ = "protocom"
