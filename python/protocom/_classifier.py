"""Classifiers with scikit-learn's interface, without scikit-learn."""
import copy

import numpy as np

from . import _arrays, _easyfsl_presets, _few_columns, _sklearn
from ._engine import engine
from ._errors import Error, UsageError, not_fitted
from ._later import logging
from ._methods import without_base
from ._recipe import Recipe


class Classifier:
    """A few-shot method: learns classes from labelled features and classifies other features (queries).

    Parameters
    ----------
    method : str
        A name with parameters, ``"tim:steps=100"``; ``protocom.methods()`` lists the names. ``"easyfsl:tim"`` has
        easyfsl's settings (``protocom.easyfsl.presets``).
    fitted : Fitted, path, or list of them, optional
        A method fitted by ``protocom.fit`` or ``protocom fit`` on base classes of the same kind as these.
    space : Fitted or path, optional
        A method fitted on any other classes; its space is adapted to these.
    knowledge : Knowledge, path or dict, optional
        Knowledge of the classes, by ``str(label)``.
    model : path, optional
        A completion model of ``protocom complete``, for the paper's methods.
    base : (X, y), optional
        Features of base classes, for methods that use them. Without them, methods that centre features by default
        (``transform=cl2n``) only scale them to unit length (``transform=l2n``).
    seed : int
        For methods that use random numbers.
    random_state : int, RandomState or Generator, optional
        Replaces ``seed``, as in scikit-learn.

    Attributes
    ----------
    classes_ : array [c], the labels, sorted
    n_features_in_ : int, d
    feature_names_in_ : array [d] of str, if X was a data frame
    method_ : str, the method with the parameters that were used

    Notes
    -----
    ``protocom.set_threads`` sets the number of threads; ``n_jobs`` does not exist.
    """

    _estimator_type = "classifier"

    def __init__(self, method="plda", *, fitted=None, space=None, knowledge=None, model=None, base=None, seed=0,
                 random_state=None):
        self.method = method
        self.fitted = fitted
        self.space = space
        self.knowledge = knowledge
        self.model = model
        self.base = base
        self.seed = seed
        self.random_state = random_state

    # -- overridden by subclasses

    def _text(self):
        text = _easyfsl_presets.text_of(_arrays.text(self.method, "method"))
        return text if self.base is not None else without_base(text)

    def _recipe_now(self):
        """The parameters, checked."""
        state = _sklearn.seed_of(self.random_state)
        seed = _arrays.seed(self.seed if state is None else state, "seed" if state is None else "random_state")
        return Recipe(
            self._text(), fitted=self.fitted, space=self.space, knowledge=self.knowledge, model=self.model,
            base=self.base, seed=seed,
        )

    # -- fitting

    def fit(self, X, y=None, sample_weight=None, *, classes=None):
        """Learns classes from labelled images.

        Parameters
        ----------
        X : array [m, d], features; a data frame, or a column of lists or arrays
        y : labels [m] of any type
        sample_weight : whole numbers [m], optional
            How many times each image counts; 0 omits it.
        classes : labels, optional
            All classes, if some have no image and are only described by ``knowledge``.
        """
        self._forget()
        return self.partial_fit(X, y, sample_weight, classes=classes)

    def partial_fit(self, X, y=None, sample_weight=None, *, classes=None):
        """Adds labelled images, also of new classes, to those of earlier calls. X [m, d], y [m], sample_weight [m].

        More images of known classes are learned together, when something is predicted next.
        """
        recipe = self._recipe_now()
        rows = _arrays.rows(X, least=0 if classes is not None else 1)
        names = self._checked_names(X, rows)
        given = _arrays.labels(y, len(rows), type(self).__name__)
        rows = np.asarray(rows, np.float32)
        engine.check_features(rows, "X")  # here, where rows have the user's order
        if sample_weight is not None:
            counts = _arrays.counts(sample_weight, len(rows), "sample_weight")
            rows, given = np.repeat(rows, counts, 0), np.repeat(given, counts)
            if not len(rows) and classes is None:
                raise Error("sample_weight is zero for every row: at least one image must count")
        former = ()
        if self._is_fitted():
            self._check_has_images()
            rows, given = np.concatenate([self._X, rows]), _arrays.joined(self._y, given)
            former = self.classes_
        order = _arrays.order_of(rows)
        rows, given = rows[order], given[order]  # kept, so copies of their own
        all_classes, numbers = _arrays.numbered(_arrays.joined(given, former, () if classes is None else classes))
        length = _few_columns.length_of(rows) if _few_columns.are_few(recipe, rows.shape[1]) else None
        if recipe.leaves_out_knowledge():
            logging.getLogger("protocom").warning(
                "knowledge is ignored: it needs fitted=protocom.fit(..., knowledge=...)"
            )
        if len(former) == len(all_classes) and recipe.has_parts_of(self._recipe):
            self.__dict__.pop("_task", None)  # _ready builds it at the next prediction; its errors are checked above
        else:
            self._task = _task_of(recipe, _prepared(rows, length), numbers[: len(given)].astype(np.int64), all_classes)
        self._length = length
        self._recipe = recipe.kept()
        self._X, self._y, self._images = rows, given, len(given)
        self.classes_ = all_classes
        self.n_features_in_ = rows.shape[1]
        if names is not None:
            self.feature_names_in_ = names
        return self

    def _checked_names(self, X, rows):
        """Names of the columns of the first X; checks names and width of later ones."""
        names = _sklearn.names_of(X)
        names = names if names is None or len(names) == rows.shape[1] else None  # a column of lists has one name
        if not self._is_fitted():
            return names
        _sklearn.check_names(self, self.__dict__.get("feature_names_in_"), names)
        if rows.shape[1] != self.n_features_in_:
            raise Error(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                f"features as input"
            )
        return None

    def _forget(self):
        for name in ("_X", "_y", "_images", "_placed", "_task", "_length", "_recipe", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    @property
    def method_(self):
        """The method with the parameters that were used, as ``make`` takes it."""
        if not self._is_fitted():
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'method_': it is not fitted yet")
        return self._recipe.label()

    # -- asking

    def predict_proba(self, X):
        """Probability of each class for each query: X [q, d] -> float32 [q, c], in the order of ``classes_``."""
        state = self.__dict__
        is_quick = "_task" in state and state["_length"] is None and "feature_names_in_" not in state
        found = state["_task"].quick_probabilities(X) if is_quick else None
        if found is None:
            task, rows, order = self._asked(X)
            found = task.probabilities(rows)[order]
        if state["_recipe"].penalises_classes:
            _warn_of_one_class(found)
        return found

    def predict_log_proba(self, X):
        """Logarithms of the probabilities: X [q, d] -> float32 [q, c]; finite where those are rounded to 0."""
        probabilities = self.predict_proba(X)
        rounded = probabilities < np.finfo(np.float32).tiny
        if not rounded.any():
            return np.log(probabilities)
        logits = self.logits(X)
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return np.log(probabilities, out=logits, where=~rounded)

    def predict(self, X):
        """The most probable class of each query: X [q, d] -> labels [q]."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def logits(self, X):
        """Logits; their softmax is the probabilities: X [q, d] -> float32 [q, c]."""
        return self._scores(X)[0]

    def decision_function(self, X):
        """The logits as scikit-learn has them: X [q, d] -> float32 [q, c]; of two classes their difference, [q]."""
        logits = self.logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def familiarity(self, X):
        """Log odds that a query belongs to one of the classes, not to an unseen one: X [q, d] -> float32 [q].

        Methods other than PLDA return the highest logit.
        """
        logits, unseen = self._scores(X)
        if unseen is None:
            return logits.max(1)
        return np.logaddexp.reduce(logits, axis=1) - unseen

    def score_samples(self, X):
        """scikit-learn's name of ``familiarity``. X [q, d] -> float32 [q]."""
        return self.familiarity(X)

    def score(self, X, y, sample_weight=None):
        """Accuracy in [0, 1]: X [q, d], y [q] -> float."""
        found = self.predict(X)
        right = found == _arrays.labels(y, len(found), type(self).__name__)
        return float(np.average(right, weights=sample_weight))

    def predict_proba_batch(self, support, query, support_mask=None, seeds=()):
        """Probabilities of many episodes in one call, without ``fit``.

        Parameters
        ----------
        support : array [b, n, k, d]
        query : array [b, q, d]
        support_mask : array [b, n, k], optional; 1: an image, 0: padding
        seeds : [b], optional, for methods that use random numbers

        Returns
        -------
        float32 [b, q, n]
        """
        support, query = (_arrays.array(one, what) for one, what in ((support, "support"), (query, "query")))
        if support.ndim != 4 or query.ndim != 3 or support.shape[0] != query.shape[0]:
            raise Error(
                f"support must be [b, n, k, d] and query [b, q, d], found {support.shape} and {query.shape}"
            )
        mask = None if support_mask is None else np.asarray(support_mask, np.float32)
        support, query = (one.astype(np.float32, copy=False) for one in (support, query))
        recipe = self._recipe_now()
        if _few_columns.are_few(recipe, support.shape[-1]):
            support, query = _few_columns.episodes_with_length(support, query, mask)
        logits = recipe.parts().batch_logits(support, query, mask, [_arrays.seed(one, "seeds") for one in seeds])
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    def _asked(self, X):
        """(task, rows that it is asked about, index that puts its answers into the order of X). Of a method that classifies
        queries together, rows are sorted, so that answers do not change with the order of X, not even in the last digit."""
        self._check_fitted()
        rows = _arrays.rows(X)
        self._checked_names(X, rows)
        task, rows = self._ready(), _prepared(rows, self._length)
        if not task.sees_all_queries:
            return task, rows, slice(None)
        order = _arrays.order_of(rows)
        return task, rows[order], np.argsort(order)

    def _scores(self, X):
        """Logits [q, c], and those of a class never seen, [q] or None."""
        task, rows, order = self._asked(X)
        logits, unseen = task.scores(rows)
        return logits[order], None if unseen is None else unseen[order]

    def _ready(self):
        if "_task" in self.__dict__:
            return self._task
        if "_placed" in self.__dict__:  # it was pickled
            self._task = engine.Task.of_placed(*self._placed, *self._recipe.base)
        else:
            numbers = np.searchsorted(self.classes_, self._y).astype(np.int64)
            self._task = _task_of(self._recipe, _prepared(self._X, self._length), numbers, self.classes_)
        return self._task

    def _check_has_images(self):
        if "_X" not in self.__dict__:
            raise Error(
                f"this {type(self).__name__} was pickled, which keeps its model and not the images it was fitted on: call "
                f"fit with all images, or copy it by copy.deepcopy, which keeps them"
            )

    def _is_fitted(self):
        return "classes_" in self.__dict__

    def _check_fitted(self):
        if not self._is_fitted():
            raise not_fitted(type(self).__name__)

    # -- scikit-learn's contract

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: getattr(self, name) for name in _sklearn.parameters_of(type(self))}

    def set_params(self, **parameters):
        """Sets parameters by name, which take effect at the next ``fit`` or ``partial_fit``."""
        names = list(_sklearn.parameters_of(type(self)))
        for name, value in parameters.items():
            if name not in names:
                raise UsageError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}.")
            setattr(self, name, value)
        return self

    def get_metadata_routing(self):
        """Arguments of ``fit``, ``partial_fit`` and ``score`` besides X and y, for scikit-learn's metadata routing."""
        return _sklearn.routing_of(self)

    def set_fit_request(self, *, classes=_sklearn.UNCHANGED, sample_weight=_sklearn.UNCHANGED):
        """Whether meta-estimators of scikit-learn pass ``classes`` and ``sample_weight`` to ``fit``."""
        return _sklearn.request(self, "fit", classes=classes, sample_weight=sample_weight)

    def set_partial_fit_request(self, *, classes=_sklearn.UNCHANGED, sample_weight=_sklearn.UNCHANGED):
        """Whether they pass them to ``partial_fit``."""
        return _sklearn.request(self, "partial_fit", classes=classes, sample_weight=sample_weight)

    def set_score_request(self, *, sample_weight=_sklearn.UNCHANGED):
        """Whether they pass ``sample_weight`` to ``score``."""
        return _sklearn.request(self, "score", sample_weight=sample_weight)

    def __sklearn_is_fitted__(self):
        return self._is_fitted()

    def __sklearn_tags__(self):
        return _sklearn.tags()

    def __getstate__(self):
        """A pickle holds the model, and labelled images only if the method needs them to predict."""
        if self._is_fitted() and "_placed" not in self.__dict__:
            self._ready()
        state = {key: value for key, value in self.__dict__.items() if key != "_task"}
        placed = self._task.placed() if "_task" in self.__dict__ else None
        if placed is not None:
            state["_placed"] = placed
            state.pop("_X", None)
            state.pop("_y", None)
        return state

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        for key, value in self.__dict__.items():
            made.__dict__[key] = value if key == "_task" else copy.deepcopy(value, memo)  # a task does not change
        return made

    def __repr__(self):
        return _sklearn.shown(self)

    def _repr_html_(self):
        facts = {}
        if self._is_fitted():
            facts = {"classes": len(self.classes_), "images": self._images, "features": self.n_features_in_}
        return _sklearn.table_of(self, facts)


def _warn_of_one_class(probabilities):
    """`probabilities` [q, c] of a method that penalises each class that is used."""
    count, best = len(probabilities), probabilities.argmax(1)
    if count >= 2 * probabilities.shape[1] > 2 and (best == best[0]).all():
        logging.getLogger("protocom").warning(
            "paddle put all %d queries into one class: its penalty for each class outweighs how far apart these features "
            "lie; 'paddle:weight=0.5' penalises less", count,
        )


def _prepared(rows, length):
    """Rows as the method takes them; ``length``: value of the added column, or None (see _few_columns)."""
    return rows if length is None else _few_columns.with_length(rows, length)


def _task_of(recipe, rows, labels, classes):
    names = [_arrays.text(str(one), "a label") for one in classes]
    if not len(rows):
        return engine.Task(recipe.parts(), None, None, names, rows.shape[1])
    return engine.Task(recipe.parts(), rows, labels, names, 0)


def make(method, **parts):
    """A classifier by a method's name and parameters: ``make("tim:steps=100", base=(X, y))``; see Classifier."""
    engine.label(_easyfsl_presets.text_of(_arrays.text(method, "method")))
    return Classifier(method, **parts)
