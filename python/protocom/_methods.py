"""Descriptions of the library's methods."""
import functools

from . import _arrays
from ._engine import engine
from ._errors import UsageError

_BASE = "features of base classes"


def methods():
    """All methods: name -> one-line description."""
    return {one["name"]: one["about"] for one in engine.methods()}


def describe(name):
    """A method's description as a dict: mode, assumptions, needs, optional (what it uses if it is given), parameters with
    range and default."""
    name = _arrays.text(name, "name")
    found = next((one for one in engine.methods() if one["name"] == name), None)
    if found is not None and without_base(name) != name:  # as `make` has it
        found["needs"].remove(_BASE)
        found["optional"].append(_BASE)
    if found is not None:
        return found
    engine.label(name)  # raises the error for an unknown name
    raise UsageError(f"'{name}' has parameters: give the name alone")


@functools.lru_cache(maxsize=None)
def spec_of(name):
    """A method's description, or None for an unknown name."""
    return next((one for one in engine.methods() if one["name"] == name), None)


def choices_of(name, parameter):
    return next(one["choices"] for one in spec_of(name)["parameters"] if one["name"] == parameter)


def without_base(text):
    """The method for use without base classes: by default it does not centre. An explicit request to centre is refused
    later."""
    name, *given = text.split(":")
    spec = spec_of(name)
    if spec is None or any(one.startswith("transform=") for one in given):
        return text
    centres = any(one["name"] == "transform" and one["default"] == "cl2n" for one in spec["parameters"])
    return text + ":transform=l2n" if centres else text
