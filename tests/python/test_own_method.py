"""Methods that are written in Python, on the episodes of an evaluation."""
import time
import traceback

import numpy as np
import pytest

import protocom


def nearest_mean(support, labels, query):
    means = np.stack([support[labels == k].mean(0) for k in range(labels.max() + 1)])
    return -((query[:, None] - means) ** 2).sum(-1)


def nearest_mean_labels(support, labels, query):
    return nearest_mean(support, labels, query).argmax(1)


def nearest_mean_of_many(support, labels, query):
    return np.stack([nearest_mean(*one) for one in zip(support, labels, query)])


nearest_mean_of_many.batched = True
SHAPES = [{"shots": [1, 3]}, {"shots": "1-4"}, {"distribution": "dirichlet"}, {"shots": 2, "seed": [4, 5]}]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_method_of_python_is_evaluated_as_one_of_the_library(collection, shape):
    asked = {"ways": 4, "queries": 6, "episodes": 70, **shape}
    own = [nearest_mean, nearest_mean_labels, nearest_mean_of_many]
    results = protocom.evaluate(collection, methods=[own[0], "proto-net", *own[1:]], baseline="proto-net", **asked)
    alone = protocom.evaluate(collection, methods=["proto-net"], baseline="proto-net", **asked)
    names = ["nearest_mean", "proto-net", "nearest_mean_labels", "nearest_mean_of_many"]
    assert [one["method"] for one in results.rows] == names * (len(results.rows) // 4)
    assert results.findings["episodes_hash"] == alone.findings["episodes_hash"]
    for task in {one["task"] for one in results.rows}:
        expected = alone.accuracies("proto-net", task)
        for name in names:
            np.testing.assert_array_equal(results.accuracies(name, task), expected)
    row, of_library = results.rows[0], results.rows[1]
    assert row["mode"] == "inductive" and (row["accuracy"], row["ci95"]) == (of_library["accuracy"], of_library["ci95"])
    assert row["gain"] == 0 and len(results.findings["differences"]) == 3 * len(alone.rows)


def test_it_may_be_the_baseline_and_alone(collection, tmp_path):
    results = protocom.evaluate(collection, methods=["plda", nearest_mean], baseline=nearest_mean, shots=1, episodes=40)
    assert results.findings["baseline"] == "nearest_mean" and results.rows[0]["gain"] is not None
    compared = results.compare("plda", nearest_mean)[0]
    assert compared["difference"] == pytest.approx(results.rows[0]["gain"])
    alone = protocom.evaluate(collection, methods=nearest_mean, shots=1, episodes=40)
    assert [one["method"] for one in alone.rows] == ["nearest_mean"]
    np.testing.assert_array_equal(alone.accuracies("nearest_mean"), results.accuracies(nearest_mean))
    assert "nearest_mean" in alone.table
    results.save(tmp_path / "results.json")
    assert protocom.Results.read(tmp_path / "results.json").rows == results.rows


def test_a_class_is_made_and_fitted_on_the_base_classes(collection):
    class Centred:
        def fit(self, base):
            features, names = base
            assert len(features) == len(names) == 12 * 24
            self.mean = features.mean(0)

        def __call__(self, support, labels, query):
            return nearest_mean(*(one / np.linalg.norm(one, axis=1, keepdims=True) if one.ndim == 2 else one
                                  for one in (support - self.mean, labels, query - self.mean)))

    results = protocom.evaluate(collection, methods=[Centred, "simple-shot"], shots=2, episodes=50)
    np.testing.assert_allclose(results.accuracies("Centred"), results.accuracies("simple-shot"), atol=1.5)
    with pytest.raises(protocom.Error, match=r"'Centred' needs base classes for fit\(base\), and the features have none"):
        protocom.evaluate(*collection.of("novel"), methods=[Centred], shots=1, episodes=5)


def test_tensors_are_taken(collection):
    try:
        import torch
    except ImportError as error:  # none, or another than the LibTorch that a test before has loaded
        pytest.skip(str(error))

    def by_torch(support, labels, query):
        return torch.from_numpy(nearest_mean(support, labels, query)).requires_grad_()

    class ByDlpack:
        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **more):
            return self.values.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    def by_dlpack(support, labels, query):
        return ByDlpack(nearest_mean(support, labels, query))

    results = protocom.evaluate(collection, methods=[nearest_mean, by_torch, by_dlpack], shots=1, episodes=20)
    for name in ("by_torch", "by_dlpack"):
        np.testing.assert_array_equal(results.accuracies(name), results.accuracies("nearest_mean"))


def wrong(change):
    def my_method(support, labels, query):
        return change(nearest_mean(support, labels, query))
    return my_method


def spoiled(scores):
    scores[3, 1] = np.nan
    return scores


REFUSED = {
    "scores of too few classes": (lambda s: s[:, :4], r"gave an array of float32 and shape \(75, 4\) in episode 0 of 5-way 1-shot, seed 1: "
                                  r"expected labels, whole numbers \[75\], or scores \[75, 5\]"),
    "too few labels": (lambda s: s.argmax(1)[:7], r"shape \(7,\)"),
    "labels that are no whole numbers": (lambda s: s.argmax(1) + 0.5, "gave an array of float64"),
    "words": (lambda s: np.array(["a"] * 75), "gave an array of <U1"),
    "nothing": (lambda s: None, "gave an array of object"),
    "NaN": (spoiled, "gave NaN for query 3 in episode 0"),
    "a label too high": (lambda s: np.full(75, 5), "gave the label 5 for query 0 in episode 0 .*: labels are whole numbers from 0 to 4"),
    "a label below 0": (lambda s: np.full(75, -1), "gave the label -1"),
    "the order of the queries": (lambda s: np.arange(75) // 15, "it uses their order, which reveals their classes"),
    "other queries": (lambda s: s - s.mean(0) + 0 * s, "differently when it is asked alone: give transductive=True"),
}


@pytest.mark.parametrize("change, words", REFUSED.values(), ids=REFUSED.keys())
def test_wrong_answers_are_refused_in_one_sentence(collection, change, words):
    with pytest.raises(protocom.Error, match="'my_method' .*" + words) as caught:
        protocom.evaluate(collection, methods=["mean", wrong(change)], shots=1, episodes=10)
    assert "\n" not in str(caught.value)


def test_what_a_method_raises_is_kept_with_its_place(collection):
    calls = []

    def breaks(support, labels, query):
        calls.append(1)
        if len(calls) > 30:
            raise KeyError("no such thing\nat all")
        return nearest_mean(support, labels, query)

    with pytest.raises(protocom.Error, match=r"'breaks' failed in episode \d+ of 5-way 1-shot, seed 7: KeyError: ") as caught:
        protocom.evaluate(collection, methods=[breaks], shots=1, episodes=60, seed=7)
    assert "\n" not in str(caught.value) and isinstance(caught.value.__cause__, KeyError)
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].name == "breaks"


def test_names_and_methods_that_cannot_be_are_refused(collection):
    calls = {
        "name=": [lambda s, y, q: nearest_mean(s, y, q)],
        "called 'nearest_mean'": [nearest_mean, protocom.OwnMethod(nearest_mean_labels, name="nearest_mean")],
        "a str or a callable": ["mean", 3],
    }
    for words, methods in calls.items():
        with pytest.raises(protocom.UsageError, match=words):
            protocom.evaluate(collection, methods=methods, shots=1, episodes=3)
    for name in ("plda", "a:b", " ", "a\nb"):
        with pytest.raises(protocom.UsageError, match="name"):
            protocom.OwnMethod(nearest_mean, name=name)
    with pytest.raises(protocom.UsageError, match="needs labelled images"):
        protocom.evaluate(collection, methods=[nearest_mean], shots=0, episodes=3)
    with pytest.raises(protocom.UsageError, match="baseline: unknown method 'plda'"):
        protocom.evaluate(collection, methods=[nearest_mean], baseline="plda", shots=1, episodes=3)


def test_methods_that_draw_and_transductive_ones_are_believed(collection):
    draw = np.random.default_rng(1)
    results = protocom.evaluate(collection, methods=[wrong(lambda s: draw.normal(size=s.shape))], shots=1, episodes=200)
    assert results.rows[0]["accuracy"] == pytest.approx(20, abs=2)
    balanced = protocom.OwnMethod(wrong(lambda s: s - s.mean(0)), name="balanced", transductive=True)
    assert protocom.evaluate(collection, methods=[balanced], shots=1, episodes=5).rows[0]["mode"] == "transductive"


def test_what_a_method_keeps_stays_as_it_was(collection):
    kept = []

    def keeps(support, labels, query):
        kept.append((query[:3], query[:3].copy()))
        return nearest_mean(support, labels, query)

    protocom.evaluate(collection, methods=[keeps], shots=1, episodes=8)
    assert all((view == copy).all() for view, copy in kept) and len({one[1].tobytes() for one in kept}) >= 8


def test_progress_is_told_of_each_method(collection):
    told = []
    protocom.evaluate(collection, methods=["mean", nearest_mean], shots=1, episodes=150, progress=lambda *one: told.append(one))
    own = [one for one in told if one[3] == "nearest_mean"]
    assert own[-1] == ("evaluate", 150, 150, "nearest_mean") and len(own) == 3


def test_the_loop_costs_little(collection):
    scores = np.zeros((75, 5), np.float32)
    nothing = protocom.OwnMethod(lambda support, numbers, query: scores[: len(query)], name="nothing")
    few, many = (protocom.episodes(collection, episodes=count) for count in (10, 2010))
    seconds = {}
    for episodes in (few, many, few, many):
        begin = time.thread_time()  # other programs do not count
        protocom.evaluate(collection, methods=[nothing], episodes=episodes)
        seconds[len(episodes)] = min(seconds.get(len(episodes), 9), time.thread_time() - begin)
    assert (seconds[2010] - seconds[10]) / 2000 < 200e-6  # 30 us where the processor is free
