"""Classifiers in scikit-learn's manner, without scikit-learn."""
import inspect

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError, not_fitted
from ._knowledge import base_of, fitted_of, knowledge_of, model_of


class Classifier:
    """A few-shot method: labelled features of new classes in, probabilities of queries out.

    Parameters
    ----------
    method : str
        A name with parameters, ``"tim:steps=100"``; ``protocom.methods()`` lists them.
    fitted : Fitted, path, or list of them, optional
        What ``protocom.fit`` or ``protocom fit`` made on base classes like these.
    space : Fitted or path, optional
        The same on any other classes, whose space adapts to these.
    knowledge : Knowledge, path or dict, optional
        What is known of the classes; names are ``str`` of the labels.
    model : path, optional
        A completion model of ``protocom complete``, for the paper's methods.
    base : (X, y), optional
        Features of base classes, for methods that look at them.
    seed : int
        For methods that draw.

    Attributes
    ----------
    classes_ : array [c], the labels, sorted
    n_features_in_ : int, d
    """

    _estimator_type = "classifier"

    def __init__(self, method="plda", *, fitted=None, space=None, knowledge=None, model=None, base=None, seed=0):
        self.method = method
        self.fitted = fitted
        self.space = space
        self.knowledge = knowledge
        self.model = model
        self.base = base
        self.seed = seed

    # -- what subclasses say of themselves

    def _text(self):
        return self.method

    def _parts(self):
        features, labels = base_of(getattr(self, "base", None))
        return engine.Parts(
            _arrays.text(self._text(), "method"), fitted_of(self.fitted, self.space), knowledge_of(self.knowledge),
            model_of(getattr(self, "model", None)), features, labels, _arrays.seed(getattr(self, "seed", 0)),
        )

    # -- fitting

    def fit(self, X, y=None, *, classes=None):
        """Learns the classes of labelled images.

        Parameters
        ----------
        X : array [m, d], features
        y : labels [m] of any type
        classes : labels, optional
            All classes, where some have no image and are known by their attributes alone (``knowledge``).
        """
        self._forget()
        return self.partial_fit(X, y, classes=classes)

    def partial_fit(self, X, y=None, *, classes=None):
        """Adds labelled images, also of new classes, to those of former calls. X [m, d], y [m]."""
        name = type(self).__name__
        rows = _arrays.rows(X, least=0 if classes is not None else 1)
        self._check_width(X, rows, first=not self._is_fitted())
        given = _arrays.labels(y, len(rows), name)
        rows = np.array(rows, np.float32, order="C")  # kept, so a copy of its own
        former = ()
        if self._is_fitted():
            rows, given = np.concatenate([self._X, rows]), _arrays.joined(self._y, given)
            former = self.classes_
        all_classes, numbers = _arrays.numbered(_arrays.joined(given, former, () if classes is None else classes))
        self._task = self._task_of(rows, numbers[: len(given)].astype(np.int64), all_classes)
        self._X, self._y = rows, given
        self.classes_ = all_classes
        self.n_features_in_ = rows.shape[1]
        return self

    def _task_of(self, rows, labels, classes):
        names = [_arrays.text(str(one), "a label") for one in classes]
        if not len(rows):
            return engine.Task(self._parts(), None, None, names, rows.shape[1])
        return engine.Task(self._parts(), rows, labels, names, 0)

    def _check_width(self, X, rows, first):
        names = getattr(X, "columns", None)
        if first:
            self.__dict__.pop("feature_names_in_", None)
            if names is not None and all(isinstance(one, str) for one in names):
                self.feature_names_in_ = np.asarray(names, object)
            return
        if "feature_names_in_" in self.__dict__ and names is not None:
            _check_names(list(self.feature_names_in_), list(names))
        if rows.shape[1] != self.n_features_in_:
            raise Error(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                f"features as input"
            )

    def _forget(self):
        for name in ("_X", "_y", "_task", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    # -- asking

    def predict_proba(self, X):
        """Probability of each class for each query: X [q, d] -> float32 [q, c], in the order of ``classes_``."""
        task = self.__dict__.get("_task")
        found = None if task is None else task.quick_probabilities(X)
        if found is not None:
            return found
        task, X = self._asked(X)
        return task.probabilities(X)

    def predict(self, X):
        """The most probable class of each query: X [q, d] -> labels [q]."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def logits(self, X):
        """What the probabilities are the softmax of: X [q, d] -> float32 [q, c]."""
        task, X = self._asked(X)
        return task.scores(X)[0]

    def familiarity(self, X):
        """Log odds that a query is of one of the classes rather than of one never seen: X [q, d] -> float32 [q].

        Of methods that know them (PLDA); others give the highest logit.
        """
        task, X = self._asked(X)
        logits, unseen = task.scores(X)
        if unseen is None:
            return logits.max(1)
        return np.logaddexp.reduce(logits, axis=1) - unseen

    def score(self, X, y, sample_weight=None):
        """Share of queries that are classified right: X [q, d], y [q] -> float."""
        right = self.predict(X) == np.asarray(y)
        return float(np.average(right, weights=sample_weight))

    def predict_proba_batch(self, support, query, support_mask=None, seeds=()):
        """Probabilities of many episodes in one call, which need no ``fit``.

        Parameters
        ----------
        support : array [b, n, k, d]
        query : array [b, q, d]
        support_mask : array [b, n, k], optional; 1 where there is an image
        seeds : [b], optional, for methods that draw

        Returns
        -------
        float32 [b, q, n]
        """
        support, query = (_arrays.array(one, what) for one, what in ((support, "support"), (query, "query")))
        if support.ndim != 4 or query.ndim != 3 or support.shape[0] != query.shape[0]:
            raise Error(
                f"support should be [b, n, k, d] and query [b, q, d], found {support.shape} and {query.shape}"
            )
        mask = None if support_mask is None else np.asarray(support_mask, np.float32)
        logits = self._parts().batch_logits(
            support.astype(np.float32, copy=False), query.astype(np.float32, copy=False), mask,
            [_arrays.seed(one, "seeds") for one in seeds],
        )
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    def _asked(self, X):
        if not self._is_fitted():
            raise not_fitted(type(self).__name__)
        rows = _arrays.rows(X)
        self._check_width(X, rows, first=False)
        return self._ready(), rows

    def _ready(self):
        if "_task" not in self.__dict__:  # it was pickled or copied
            numbers = np.searchsorted(self.classes_, self._y).astype(np.int64)
            self._task = self._task_of(self._X, numbers, self.classes_)
        return self._task

    def _is_fitted(self):
        return "classes_" in self.__dict__

    # -- scikit-learn's contract

    @classmethod
    def _names(cls):
        parameters = inspect.signature(cls.__init__).parameters
        return sorted(name for name in parameters if name != "self")

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters):
        """Sets parameters by name; they count from the next ``fit`` on."""
        for name, value in parameters.items():
            if name not in self._names():
                raise UsageError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {self._names()!r}."
                )
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self):
        return self._is_fitted()

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(),
        )

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key != "_task"}

    def __repr__(self):
        plain = {name: one.default for name, one in inspect.signature(type(self).__init__).parameters.items()}
        given = [f"{name}={getattr(self, name)!r}" for name in self._names() if not _same(getattr(self, name), plain[name])]
        return f"{type(self).__name__}({', '.join(given)})"


def _check_names(own, found):
    """In scikit-learn's words, which its users search for."""
    if own == found:
        return
    unseen, missing = sorted(set(found) - set(own)), sorted(set(own) - set(found))
    text = "The feature names should match those that were passed during fit.\n"
    for names, what in ((unseen, "Feature names unseen at fit time"), (missing, "Feature names seen at fit time, yet now missing")):
        if names:
            text += f"{what}:\n" + "".join(f"- {one}\n" for one in names[:5]) + ("- ...\n" if len(names) > 5 else "")
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    raise Error(text)


def _same(value, default):
    return value is default or (type(value) is type(default) and isinstance(value, (str, int, float)) and value == default)


class PLDA(Classifier):
    """The Bayesian model of classes (docs/methods/plda.md): needs nothing but labelled features of the classes.

    Parameters
    ----------
    fitted : Fitted or path, optional
        Fitted on base classes like these: better, most of all with one image per class.
    space : Fitted or path, optional
        Fitted on any other classes with the same encoder; adapts to these.
    knowledge : Knowledge, path or dict, optional
        Attributes of the classes, where ``fitted`` knows of attributes.
    transductive : bool
        Queries of one call help one another (``plda-vb``).
    prior : str
        "fitted", or "none" to leave knowledge out.
    proportions : str
        Of the classes among the queries, where transductive: "estimate" or "balanced".
    scale : float
        Of the scores in the softmax; 0: the one that makes probabilities right.

    Examples
    --------
    >>> import numpy, protocom
    >>> X = numpy.array([[0, 1, 2], [0, 1, 3], [2, 1, 0], [3, 1, 0]], numpy.float32)
    >>> protocom.PLDA().fit(X, ["up", "up", "down", "down"]).predict(X[:1])
    array(['up'], dtype='<U4')
    """

    def __init__(self, *, fitted=None, space=None, knowledge=None, transductive=False, prior="fitted",
                 proportions="estimate", scale=0.0):
        self.fitted = fitted
        self.space = space
        self.knowledge = knowledge
        self.transductive = transductive
        self.prior = prior
        self.proportions = proportions
        self.scale = scale

    def _text(self):
        text = "plda-vb" if self.transductive else "plda"
        if self.prior != "fitted":
            text += f":prior={self.prior}"
        if self.transductive and self.proportions != "estimate":
            text += f":proportions={self.proportions}"
        if self.scale:
            text += f":scale={float(self.scale):.17g}"
        return text


def methods():
    """All methods: name -> one line of help."""
    return {one["name"]: one["about"] for one in engine.methods()}


def describe(name):
    """Everything that is known of a method, as a dict: mode, assumptions, needs, parameters with range and default."""
    for one in engine.methods():
        if one["name"] == name:
            return one
    engine.label(name)  # says what is wrong with it
    raise UsageError(f"'{name}' has parameters: give the name alone")


def make(method, **parts):
    """A classifier from a method's text: ``make("tim:steps=100", base=(X, y))``; see Classifier for the parts."""
    engine.label(_arrays.text(method, "method"))
    return Classifier(method, **parts)
