"""What Python's own readers raise for a damaged file, as an Error that names it."""
import contextlib

from ._errors import Error


@contextlib.contextmanager
def reading(path, expected):
    """Any exception but an Error or an OSError becomes an Error: "PATH is damaged: expected ..."."""
    try:
        yield
    except (Error, OSError):
        raise
    except Exception:  # of json, zipfile, zlib, numpy and pybind11, MemoryError and RecursionError among them
        raise Error(f"{path} is damaged: expected {expected}") from None
