"""Episodes, and the accuracy of methods on them."""
import numbers

from . import _arrays, _easyfsl_presets, _episode_arrays, _html, _own_method, _own_run
from ._engine import engine
from ._errors import TypeRefused, UsageError
from ._features import FeatureSet, feature_set
from ._knowledge import knowledge_of
from ._methods import without_base
from ._recipe import fitted_of, model_of
from ._results import Results


class Episodes:
    """Episodes of one setting; ``episodes()`` draws them, ``Episodes.read`` reads a file.

    ``e[i]`` is a dict of ``classes`` [n], ``support`` [n][k], ``query`` [n][q] and ``pool``: indices of classes, and rows
    of the features. ``e[:10]`` are Episodes.
    """

    def __init__(self, core, features):
        self._core = core
        self._features = features

    @classmethod
    def read(cls, path, features):
        """Reads what ``save`` or ``protocom evaluate --save-episodes`` wrote."""
        given = feature_set(features, None, None)
        if _is_npz(path):
            return cls(_episode_arrays.read(path, given, lambda *parts: engine.Episodes.of(given._core, *parts)), given)
        return cls(engine.Episodes.read(_arrays.fspath(path), given._core), given)

    @classmethod
    def of(cls, features, support, query, pool=None, *, evaluated="novel"):
        """Your own episodes, of one shape.

        Parameters
        ----------
        features : FeatureSet
        support : rows of the features, whole numbers [e, n, k]; class by class, -1 if a class has fewer
        query : [e, n, q], of the same classes in the same order
        pool : [e, n, u], unlabelled images, optional
        evaluated : the split of the classes
        """
        if not isinstance(features, FeatureSet):
            raise TypeRefused(f"features must be a FeatureSet, found {type(features).__name__}")
        head, arrays = _episode_arrays.own(features, support, query, pool, _arrays.text(evaluated, "evaluated"))
        return cls(engine.Episodes.of(features._core, head, arrays), features)

    @classmethod
    def of_sampler(cls, features, sampler, *, evaluated="novel"):
        """Episodes drawn by easyfsl's ``TaskSampler``, for a dataset whose item i is row i of the features."""
        return cls.of(features, *_episode_arrays.of_sampler(sampler), evaluated=evaluated)

    def save(self, path):
        """Writes JSON, for ``protocom evaluate --episodes-file``, or if the path ends in ``.npz`` the arrays of ``arrays()``."""
        if _is_npz(path):
            _episode_arrays.write(path, self._core, self._features)
        else:
            self._core.save(_arrays.fspath(path))

    def arrays(self):
        """A dict of ``classes`` [e, n], ``support`` [e, n, k], ``query`` [e, n, q] and ``pool`` [e, n, u], int64: indices
        of classes, and rows of the features, padded by -1."""
        return self._core.arrays()

    @property
    def hash(self):
        """Equal for equal tasks."""
        return self._core.hash

    @property
    def task(self):
        """"5-way 1-shot" """
        return self._core.task

    def __len__(self):
        return len(self._core)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self._chosen(range(len(self))[i])
        if not isinstance(i, numbers.Integral):
            raise TypeError(f"episodes are numbered by whole numbers and slices, not {type(i).__name__}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} episodes, no number {i}")
        return self._core[int(i) % len(self)]

    def _chosen(self, which):
        if not len(which):
            raise UsageError("a slice of episodes must have at least one, found none")
        return Episodes(self._core.chosen(list(which)), self._features)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __reduce__(self):
        return _episodes_of, (self._features, self._core.head(), self._core.arrays())

    def __repr__(self):
        return f"Episodes({len(self)} of {self.task}, seed {self._core.seed})"

    def _repr_html_(self):
        return _html.facts({"task": self.task, "episodes": len(self), "seed": self._core.seed, "hash": self.hash})


def _episodes_of(features, head, arrays):
    return Episodes(engine.Episodes.of(features._core, head, arrays), features)


def _is_npz(path):
    return _arrays.fspath(path).endswith(".npz")


def _draw(features, ways, shots, queries, episodes, seeds, evaluated, unlabelled, distribution, alpha):
    sizes = {"ways": (ways, 1), "queries": (queries, 0), "unlabelled": (unlabelled, 0)}
    return engine.draw(
        features._core,
        {
            "sizes": {name: _arrays.whole(value, name, least) for name, (value, least) in sizes.items()},
            "shots": [_arrays.text(one, "shots") if isinstance(one, str) else str(_arrays.whole(one, "shots", 0)) for one in shots],
            "episodes": _arrays.whole(episodes, "episodes", 1),
            "seeds": [_arrays.seed(one) for one in seeds],
            "split": _arrays.text(evaluated, "evaluated"),
            "distribution": _arrays.text(distribution, "distribution"),
            "alpha": _arrays.number(alpha, "alpha"),
        },
    )


def episodes(features, labels=None, split=None, *, ways=5, shots=1, queries=15, episodes=600, seed=1,
             evaluated="novel", unlabelled=0, distribution="balanced", alpha=2.0):
    """Draws episodes, the same as the command line for equal features and seed.

    Parameters
    ----------
    features : array [m, d], FeatureSet or path
    labels, split : as FeatureSet takes them
    ways, queries : int, classes per episode and queries per class
    shots : int, or "1-5": a number drawn for each class
    evaluated : the split that classes are drawn from
    unlabelled : int, images per class of a pool for transductive methods
    distribution : "balanced", or "dirichlet" with ``alpha``
    """
    given = feature_set(features, labels, split)
    drawn = _draw(given, ways, [shots], queries, episodes, [seed], evaluated, unlabelled, distribution, alpha)
    return Episodes(drawn[0], given)


def evaluate(features, labels=None, split=None, methods=None, *, ways=5, shots=(1, 5), queries=15, episodes=600, seed=1,
             evaluated="novel", unlabelled=0, distribution="balanced", alpha=2.0, fitted=None, space=None,
             knowledge=None, model=None, baseline="mean", progress=None):
    """Accuracy of methods on few-shot episodes, with 95 % intervals: exactly the figures of ``protocom evaluate``.

    Parameters
    ----------
    features : array [m, d], FeatureSet or path
    labels, split : as FeatureSet takes them
    methods : list of str, as ``make`` takes them, and of methods of your own: functions, classes or ``OwnMethod``;
        default: the methods of ``fitted``, and the mean
    shots : int, "1-5", or a list
    seed : int, or a list
    episodes : int, or Episodes
    ways, queries, evaluated, unlabelled, distribution, alpha : as ``episodes`` takes them
    fitted, space, knowledge, model : as Classifier takes them
    baseline : one of ``methods``, with which the others are compared
    progress : callable(what, done, total, detail), optional

    Returns
    -------
    Results
    """
    given = feature_set(features, labels, split)
    if isinstance(episodes, Episodes):
        lists = [episodes._core]
    else:
        several = [shots] if isinstance(shots, (numbers.Integral, str)) else list(shots)
        seeds = list(seed) if hasattr(seed, "__iter__") else [seed]
        lists = _draw(given, ways, several, queries, episodes, seeds, evaluated, unlabelled, distribution, alpha)
    given_methods = [methods] if isinstance(methods, (str, _own_method.OwnMethod)) or callable(methods) else list(methods or ())

    def text_of(asked, what):
        text = _easyfsl_presets.text_of(_arrays.text(asked, what))
        return text if "base" in given.split else without_base(text)

    named = [text_of(one, "a method") if isinstance(one, str) else _own_method.own(one) for one in given_methods]
    own = [one for one in named if not isinstance(one, str)]
    _check_own(own, lists)
    texts = [one for one in named if isinstance(one, str)]
    baseline = text_of(baseline, "baseline") if isinstance(baseline, str) else baseline
    compared = _compared_with(baseline, own)
    if not compared and not isinstance(baseline, str):
        raise UsageError("baseline must be one of methods, or one of the library's by its name")
    made = engine.Evaluation(
        lists, texts if texts or not own else ["mean"],  # whose check of the episodes counts for all
        fitted_of(fitted, space), knowledge_of(knowledge), model_of(model),
        baseline if not compared and (texts or not own) else "mean", progress,
    )
    for one in own:
        _own_run.add_to(made, one, given, lists, progress)
    if own and not texts and not compared:  # "mean" is evaluated only for its check of the episodes
        return Results(made.findings([one.name for one in own], baseline))
    return Results(made.findings(_order(named, made.labels()), compared))


def _check_own(own, lists):
    names = [one.name for one in own]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two methods are called '{name}': give one of them another name=")
    if own and any(one.fewest_shots < 1 for one in lists):
        raise UsageError(f"'{names[0]}' needs labelled images of each class, and a task has none: ask for more shots")


def _compared_with(baseline, own):
    """The label of a baseline written in Python; "" for one of the library's methods."""
    name = baseline if isinstance(baseline, str) else _own_method.own(baseline).name
    return name if any(one.name == name for one in own) else ""


def _order(named, labels):
    """Labels of all methods in the order given."""
    rest = iter(labels[: sum(isinstance(one, str) for one in named)] if named else labels)
    return [next(rest) if isinstance(one, str) else one.name for one in named] or list(rest)
