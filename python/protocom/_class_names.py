"""Names of classes as users give them."""
from . import _arrays


def class_name(given):
    """A name as the library takes it."""
    return _arrays.text(given, "a class's name")
