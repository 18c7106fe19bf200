"""scikit-learn's contract for estimators, without scikit-learn."""
import copy
import inspect
import numbers
import sys
import warnings

import numpy as np

from . import _html
from ._errors import Error, UsageError, TypeRefused


def parameters_of(kind):
    """The parameters of an estimator class: name -> default."""
    given = inspect.signature(kind.__init__).parameters
    return {name: given[name].default for name in sorted(given) if name != "self"}


def changed_parameters(estimator):
    """Parameters that differ from their defaults."""
    defaults = parameters_of(type(estimator))
    values = {name: getattr(estimator, name) for name in defaults}
    return {name: value for name, value in values.items() if not _same(value, defaults[name])}


def _same(value, default):
    plain = type(value) is type(default) and isinstance(value, (str, int, float))
    return value is default or (plain and value == default)


def shown(estimator):
    """Its constructor call: ``PLDA(transductive=True)``."""
    given = [f"{name}={value!r}" for name, value in changed_parameters(estimator).items()]
    return f"{type(estimator).__name__}({', '.join(given)})"


def table_of(estimator, facts):
    """HTML of its parameters, and of `facts` by name."""
    parameters = {name: _short(value) for name, value in changed_parameters(estimator).items()}
    return _html.facts({**parameters, **facts}, type(estimator).__name__)


def _short(value, most=80):
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


# -- values of parameters, in the words of scikit-learn's InvalidParameterError


def check_flag(estimator, name):
    """A parameter that is True or False."""
    value = getattr(estimator, name)
    if not isinstance(value, (bool, np.bool_)):
        _refuse(estimator, name, "an instance of 'bool'", value)


def check_choice(estimator, name, allowed):
    """A parameter that is one of several words."""
    value = getattr(estimator, name)
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(one) for one in sorted(allowed))
        _refuse(estimator, name, f"a str among {{{words}}}", value)


def check_scale(estimator, name):
    """A parameter that is None or a number of at least 0."""
    value = getattr(estimator, name)
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value < float("inf")):
        _refuse(estimator, name, "a float in the range [0.0, inf) or None", value)


def _refuse(estimator, name, expected, value):
    kind = type(estimator).__name__
    raise UsageError(f"The {name!r} parameter of {kind} must be {expected}. Got {_short(value)} instead.")


def seed_of(random_state):
    """An integer seed from a ``random_state`` of scikit-learn."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return random_state


# -- names of features


def names_of(X):
    """Names of the columns of a data frame (pandas, polars, pyarrow), or None."""
    names = getattr(X, "column_names", None)  # pyarrow, whose `columns` are the columns themselves
    if names is None:
        names = getattr(X, "columns", None)
    if names is None:
        return None
    names = list(names)
    words = [isinstance(one, str) for one in names]
    if any(words) and not all(words):
        kinds = sorted({type(one).__name__ for one in names})
        raise TypeRefused(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you "
            "must convert them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return np.asarray(names, object) if names and all(words) else None


def check_names(estimator, own, found):
    """Compares the column names of queries with those of the labelled rows; None: no names."""
    name = type(estimator).__name__
    if own is None and found is None:
        return
    if own is None:
        warnings.warn(f"X has feature names, but {name} was fitted without feature names", UserWarning, stacklevel=4)
    elif found is None:
        warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning, stacklevel=4
        )
    else:
        _compare_names(list(own), list(found))


def _compare_names(own, found):
    if own == found:
        return
    unseen, missing = sorted(set(found) - set(own)), sorted(set(own) - set(found))
    text = "The feature names should match those that were passed during fit.\n"
    parts = {"Feature names unseen at fit time": unseen, "Feature names seen at fit time, yet now missing": missing}
    for what, names in parts.items():
        if names:
            text += f"{what}:\n" + "".join(f"- {one}\n" for one in names[:5]) + ("- ...\n" if len(names) > 5 else "")
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    raise Error(text)


# -- tags and routing, used by scikit-learn alone


def tags():
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags(),
        input_tags=InputTags(),
    )


# Arguments besides X and y.
_ROUTED = {"fit": ["classes", "sample_weight"], "partial_fit": ["classes", "sample_weight"], "score": ["sample_weight"]}
UNCHANGED = "$UNCHANGED$"  # scikit-learn's word for it


def routing_of(estimator):
    """The MetadataRequest, with what was requested by ``set_..._request``."""
    from sklearn.utils.metadata_routing import MetadataRequest

    asked = estimator.__dict__.get("_metadata_request")
    if asked is not None:
        return copy.deepcopy(asked)
    made = MetadataRequest(owner=estimator)
    for method, names in _ROUTED.items():
        for name in names:
            getattr(made, method).add_request(param=name, alias=None)
    return made


def request(estimator, method, **values):
    """Stores a request of ``set_..._request`` where scikit-learn's clone finds it."""
    there = sys.modules.get("sklearn")
    if there is None or not there.get_config().get("enable_metadata_routing", False):
        raise RuntimeError(
            "This method is only available when metadata routing is enabled. You can enable it using "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    asked = routing_of(estimator)
    for name, value in values.items():
        if value != UNCHANGED:
            getattr(asked, method).add_request(param=name, alias=value)
    estimator._metadata_request = asked
    return estimator
