"""What goes wrong, as exceptions with one sentence."""


class Error(ValueError):
    """A bad input, file or format: what was expected, what was found, where, and what to do."""


class UsageError(Error):
    """A request that cannot be right whatever the data are: an unknown method, a negative number of shots."""


class _OfAnotherType(Error, TypeError):
    """An Error for what is of a type that cannot be right, which Python calls a TypeError."""


class ImportRefused(ImportError, Error):
    """An Error for what cannot be in a process beside what is there, which Python calls an ImportError."""


def not_fitted(name):
    """An Error that scikit-learn takes for its NotFittedError, where scikit-learn is in the process."""
    import sys

    there = sys.modules.get("sklearn.exceptions")
    kinds = (Error, there.NotFittedError) if there else (Error,)
    kind = type("NotFittedError", kinds, {"__module__": "protocom"})
    return kind(f"This {name} instance is not fitted yet: call 'fit' with labelled features first.")


Error.__module__ = UsageError.__module__ = ImportRefused.__module__ = "protocom"
