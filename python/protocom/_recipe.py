"""The parts of a classifier, given as paths or objects."""
import os

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError
from ._fitted import Fitted
from ._knowledge import as_knowledge
from ._read_files import bytes_of, read_from


class _Model:
    """A completion model, which is pickled as its file."""

    def __init__(self, path):
        self._path = os.path.abspath(_arrays.fspath(path))
        self._core = engine.CompletionModel(self._path)
        self._data = None

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return read_from, (_Model, bytes_of(self))


def fitted_of(given, space=None):
    """The library's objects for a Fitted, a path, or a list of either, and for a space."""
    return [one._core for one in _all_fitted(given, space)]


def _all_fitted(given, space):
    if given is not None and space is not None:
        raise UsageError("give 'fitted' for base classes like these or 'space' for any others, not both")
    several = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    found = [_as(Fitted, one) for one in several]
    return found if space is None else [*found, _as(Fitted, space).as_space()]


def _as(kind, given):
    return given if given is None or isinstance(given, kind) else kind(given)


def model_of(given):
    """The library's object for None or a path of ``protocom complete``."""
    made = _as(_Model, given)
    return None if made is None else made._core


def base_of(given):
    """(X, y numbered) of base classes, or (None, None)."""
    if given is None:
        return None, None
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise Error("base must be (X, y): features of base classes and their labels")
    features = _arrays.rows(given[0], "X of base")
    return features, _arrays.numbered(_arrays.labels(given[1], len(features), "base"))[1].astype(np.int64)


class Recipe:
    """The parts of a classifier. It holds objects in place of paths, so that a copy of the classifier gives the same answers
    even if parameters or files have changed."""

    penalises_classes = False  # also of pickles of before

    def __init__(self, method, *, fitted=None, space=None, knowledge=None, model=None, base=None, seed=0):
        self._method = method
        self.penalises_classes = method.split(":")[0] == "paddle"
        self._fitted = _all_fitted(fitted, space)
        self._knowledge = as_knowledge(knowledge)
        self._model = _as(_Model, model)
        self._base = base_of(base)
        self._seed = seed

    def kept(self):
        """The same with copies of the user's arrays, which may change."""
        if self._base[0] is not None:
            self._base = (np.array(self._base[0], np.float32), self._base[1])
        return self

    @property
    def base(self):
        """(X, y numbered) of base classes, or (None, None)."""
        return self._base

    def has_parts_of(self, other):
        """Whether both surely are the same: parts made of paths, dictionaries and arrays count as different."""
        if (self._method, self._seed) != (other._method, other._seed) or self._base[0] is not None or other._base[0] is not None:
            return False
        own, others = ([*one._fitted, one._knowledge, one._model] for one in (self, other))
        return len(own) == len(others) and all(a is b for a, b in zip(own, others))

    def on_labelled_images_alone(self, methods):
        """Whether it is one of these methods and has only labelled images."""
        name = self._method.split(":")[0]
        return name in methods and not self._fitted and self._knowledge is None and self._model is None

    def leaves_out_knowledge(self):
        """Whether it has knowledge that its method ignores: plda uses knowledge only if fitted with knowledge."""
        name, *options = self._method.split(":")
        if self._knowledge is None or name not in ("plda", "plda-vb") or "prior=text" in options:
            return False
        return not any(one._knows_attributes() for one in self._fitted)

    def parts(self):
        """The same as the library takes it."""
        knowledge, model = (None if one is None else one._core for one in (self._knowledge, self._model))
        fitted = [one._core for one in self._fitted]
        return engine.Parts(self._method, fitted, knowledge, model, *self._base, self._seed)

    def label(self):
        """The method with the parameters that differ from their defaults."""
        return self.parts().label()
