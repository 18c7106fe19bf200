"""Episodes, and how methods do on them."""
import html
import numbers
import os

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import UsageError
from ._features import feature_set
from ._knowledge import fitted_of, knowledge_of, model_of


class Episodes:
    """Few-shot tasks of one shape; ``episodes()`` draws some, ``Episodes.read`` reads a file.

    ``len(e)``; ``e[i]`` is a dict of ``classes`` [n], ``support`` [n][k], ``query`` [n][q] and ``pool``: numbers of
    classes and rows of the features.
    """

    def __init__(self, core):
        self._core = core

    @classmethod
    def read(cls, path, features):
        """Reads what ``save`` or ``protocom evaluate --save-episodes`` wrote."""
        return cls(engine.Episodes.read(os.fspath(path), feature_set(features, None, None)._core))

    def save(self, path):
        """Writes JSON that ``protocom evaluate --episodes-file`` reads."""
        self._core.save(os.fspath(path))

    @property
    def hash(self):
        """Equal tasks, equal hash."""
        return self._core.hash

    @property
    def task(self):
        """"5-way 1-shot" """
        return self._core.task

    def __len__(self):
        return len(self._core)

    def __getitem__(self, i):
        return self._core[i + len(self) if i < 0 else i]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"Episodes({len(self)} of {self.task}, seed {self._core.seed})"


def _draw(features, ways, shots, queries, episodes, seeds, evaluated, unlabelled, distribution, alpha):
    sizes = {"ways": (ways, 1), "queries": (queries, 0), "unlabelled": (unlabelled, 0)}
    return engine.draw(
        features._core,
        {
            "sizes": {name: _arrays.whole(value, name, least) for name, (value, least) in sizes.items()},
            "shots": [str(one) for one in shots],
            "episodes": _arrays.whole(episodes, "episodes", 1),
            "seeds": [_arrays.seed(one) for one in seeds],
            "split": evaluated,
            "distribution": distribution,
            "alpha": _arrays.number(alpha, "alpha"),
        },
    )


def episodes(features, labels=None, split=None, *, ways=5, shots=1, queries=15, episodes=600, seed=1,
             evaluated="novel", unlabelled=0, distribution="balanced", alpha=2.0):
    """Draws episodes, the same ones as the command line for the same features and seed.

    Parameters
    ----------
    features : array [m, d], FeatureSet or path
    labels, split : as FeatureSet takes them
    ways, queries : int, classes per episode and queries per class
    shots : int, or "1-5" for classes of different numbers
    evaluated : the split that classes are drawn from
    unlabelled : int, images per class of a pool for transductive methods
    distribution : "balanced", or "dirichlet" with ``alpha``
    """
    given = feature_set(features, labels, split)
    return Episodes(_draw(given, ways, [shots], queries, episodes, [seed], evaluated, unlabelled, distribution, alpha)[0])


def evaluate(features, labels=None, split=None, methods=None, *, ways=5, shots=(1, 5), queries=15, episodes=600, seed=1,
             evaluated="novel", unlabelled=0, distribution="balanced", alpha=2.0, fitted=None, space=None,
             knowledge=None, model=None, baseline="mean", progress=None):
    """Accuracy of methods on few-shot episodes, with 95 % intervals: what ``protocom evaluate`` gives, to the bit.

    Parameters
    ----------
    features : array [m, d], FeatureSet or path
    labels, split : as FeatureSet takes them
    methods : list of str, as ``make`` takes them; otherwise what ``fitted`` has, and the mean
    shots : int, "1-5", or several
    seed : int, or several
    episodes : int, or Episodes
    fitted, space, knowledge, model : as Classifier takes them
    baseline : what every other method is compared with
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
    names = [methods] if isinstance(methods, str) else list(methods or ())
    found = engine.evaluate(
        lists, names, fitted_of(fitted, space), knowledge_of(knowledge), model_of(model), baseline, progress
    )
    return Results(found)


class Results:
    """What an evaluation gave.

    Attributes
    ----------
    rows : list of dict: task, method, mode, accuracy, ci95, gain, gain_ci95 (percent and points)
    findings : dict, all of it as ``protocom evaluate --json`` writes it, with the accuracy of every episode
    table : str
    """

    _COLUMNS = ("task", "method", "accuracy", "ci95", "gain", "gain_ci95", "mode")

    def __init__(self, findings):
        self.findings = findings
        gains = {
            (one["task"], one["method"]): one
            for one in findings["differences"] if one["baseline"] == findings["baseline"]
        }
        self.rows = []
        for one in findings["results"]:
            gain = gains.get((one["task"], one["method"]), {})
            row = {"gain": gain.get("difference"), "gain_ci95": gain.get("ci95"), **one}
            self.rows.append({name: row[name] for name in self._COLUMNS})

    def accuracies(self, method, task=None):
        """Accuracy of every episode, percent: float64 [episodes]."""
        for one in self.findings["results"]:
            if one["method"] == method and task in (None, one["task"]):
                return np.array(one["per_episode"])
        raise UsageError(f"'{method}' was not evaluated" + (f" on '{task}'" if task else ""))

    def _cells(self):
        head = ["task", "method", "accuracy %", f"gain over {self.findings['baseline']}", "mode"]
        yield head
        for row in self.rows:
            gain = "" if row["gain"] is None else f"{row['gain']:+.2f} ± {row['gain_ci95']:.2f}"
            yield [row["task"], row["method"], f"{row['accuracy']:.2f} ± {row['ci95']:.2f}", gain, row["mode"]]

    @property
    def table(self):
        """As text."""
        cells = list(self._cells())
        width = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join(cell.ljust(size) for cell, size in zip(row, width)).rstrip() for row in cells)

    def to_pandas(self):
        """A DataFrame of ``rows``; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(self._COLUMNS))

    def plot(self, axes=None):
        """Bars of accuracy with 95 % intervals, a group a task; needs matplotlib. Returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots(figsize=(6, 0.6 + 0.35 * len(self.rows)), layout="constrained")[1]
        rows = self.rows[::-1]
        axes.barh(range(len(rows)), [one["accuracy"] for one in rows], xerr=[one["ci95"] for one in rows])
        axes.set_yticks(range(len(rows)), [f"{one['method']}, {one['task']}" for one in rows])
        axes.set_xlabel("accuracy, %")
        return axes

    def _repr_html_(self):
        head, *body = ([html.escape(cell) for cell in row] for row in self._cells())
        row = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"
        return "<table>" + row(head, "th") + "".join(row(one, "td") for one in body) + "</table>"

    def __repr__(self):
        return self.table
