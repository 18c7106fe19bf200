"""Names of classes that users pass."""
from . import _arrays


def class_name(given):
    """A name as the library takes it."""
    return _arrays.text(given, "a class's name")
