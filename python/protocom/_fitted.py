"""Methods fitted on base classes."""
import os

import numpy as np

from . import _arrays, _html
from ._engine import engine
from ._errors import UsageError
from ._features import FeatureSet, feature_set
from ._knowledge import knowledge_of
from ._later import tempfile
from ._read_files import read_from


class Fitted:
    """A method fitted on base classes, by ``protocom.fit(...)`` or from a file of ``protocom fit``: ``Fitted(path)``."""

    _is_space = False

    def __init__(self, path):
        self._core = engine.Fitted.read(_arrays.path(path, "what a method was fitted to", "a Fitted or the path of its file"))

    @classmethod
    def _of(cls, core, is_space=False):
        made = cls.__new__(cls)
        made._core = core
        made._is_space = is_space
        return made

    @property
    def method(self):
        """The method with its parameters, as ``make`` takes it."""
        return self._core.method

    @property
    def n_features(self):
        """d, the feature dimensions."""
        return self._core.feature_dim

    @property
    def classes(self):
        """Names of the base classes."""
        return list(self._core.trained_on)

    @property
    def findings(self):
        """What fitting found, in sentences."""
        return list(self._core.findings)

    def save(self, path):
        """Writes a file for ``--fitted`` and ``--space`` of the command line."""
        self._core.save(_arrays.fspath(path))

    def as_space(self):
        """Only the space, to be adapted to any classes."""
        return Fitted._of(self._core.space(), True)

    def _knows_attributes(self):
        """Whether it was fitted with knowledge and follows it."""
        return bool(self._core.attributes)

    def __deepcopy__(self, memo):
        return self  # immutable

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fitted.npz")
            self.save(path)
            with open(path, "rb") as file:
                return _fitted_of, (file.read(), self._is_space)

    def _repr_html_(self):
        known = {"method": self.method, "base classes": len(self.classes), "features": self.n_features}
        return _html.facts({**known, "findings": " ".join(self.findings)}, "Fitted")

    def __repr__(self):
        return f"Fitted({self.method!r}, {len(self.classes)} base classes, d={self.n_features})"


def _fitted_of(data, is_space=False):
    made = read_from(Fitted, data)
    return made.as_space() if is_space else made


def fit(method="plda", X=None, y=None, *, val=None, knowledge=None, seed=1, progress=None):
    """Fits a method on base classes: many images of classes other than those to be classified.

    Parameters
    ----------
    method : str, as ``make`` takes it
    X : array [m, d], or a FeatureSet or the path of one, of which the base and val classes are used
    y : labels [m], of any type
    val : (X, y) of further classes, for choosing settings, optional
    knowledge : Knowledge, path or dict, optional
    seed : int
    progress : callable(what, done, total, detail), optional

    Returns
    -------
    Fitted
    """
    if X is None:
        raise UsageError("X is missing: protocom.fit needs labelled features of base classes, fit(method, X, y), or a FeatureSet")
    if isinstance(X, (FeatureSet, str, os.PathLike)):
        if val is not None:
            raise UsageError("val is for arrays: a FeatureSet has val classes of its own")
        features = feature_set(X, y, None)
    else:
        features = _base_and_val(X, y, val)
    method, seed = _arrays.text(method, "method"), _arrays.seed(seed)
    return Fitted._of(engine.fit(method, features._core, knowledge_of(knowledge), seed, progress))


def _base_and_val(X, y, val):
    rows = _arrays.rows(X)
    labels = _arrays.labels(y, len(rows), "fit")
    split = {one: "base" for one in labels}
    if val is not None:
        if not isinstance(val, (tuple, list)) or len(val) != 2:
            raise UsageError("val must be (X, y): features and labels of further classes")
        more = _arrays.rows(val[0], "X of val")
        own = _arrays.labels(val[1], len(more), "fit")
        for one in own:
            if split.setdefault(one, "val") == "base":
                raise UsageError(f"classes of base and of val must be disjoint: {str(one)!r} is in both")
        if more.shape[1] != rows.shape[1]:
            raise UsageError(f"X has {rows.shape[1]} features, X of val {more.shape[1]}: extract both with the same encoder")
        rows, labels = np.concatenate([rows, more]), _arrays.joined(labels, own)
    return FeatureSet(rows, labels, split)
