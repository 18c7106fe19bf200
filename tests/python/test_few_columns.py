"""Data of few columns, which are no encoder's features."""
import copy
import pickle

import numpy as np
import pytest

import protocom
from conftest import clusters


def measurements(images, seed=1):
    """Three classes in a row, one of them in the middle of all rows, as measurements that are standardised: [3 n, 4]."""
    draw = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], images)
    x = np.array([-1.2, 0, 1.2])[y, None] * [1, 1, 0.5, -0.8] + 0.35 * draw.normal(size=(len(y), 4))
    return x.astype(np.float32), y


@pytest.mark.parametrize("options", [{}, {"transductive": True}])
def test_a_class_in_the_middle_is_told_from_those_around_it(options):
    x, y = measurements(10)
    q, truth = measurements(60, seed=2)
    assert protocom.PLDA(**options).fit(x, y).score(q, truth) > 0.93


@pytest.mark.parametrize("columns, method, is_lengthened", [(15, "plda", True), (16, "plda", False), (4, "mean", False)])
def test_columns_of_encoders_and_other_methods_get_none_added(columns, method, is_lengthened):
    x, y = clusters(3, 5, d=columns)
    assert (protocom.make(method).fit(x, y)._length is not None) == is_lengthened


def test_what_is_fitted_on_base_classes_takes_features_as_they_were(collection):
    x, y = collection.of("base")
    fitted = protocom.fit("plda", x[:, :8], y)
    novel, labels = collection.of("novel")
    for options in ({"fitted": fitted}, {"space": fitted}):
        assert protocom.PLDA(**options).fit(novel[:, :8], labels).predict(novel[:3, :8]).shape == (3,)


def test_all_ways_to_ask_agree():
    x, y = measurements(4)
    q, _ = measurements(6, seed=2)
    classifier = protocom.PLDA().fit(x, y)
    expected = classifier.predict_proba(q)
    for other in (pickle.loads(pickle.dumps(classifier)), copy.deepcopy(classifier), protocom.make("plda").fit(x, y),
                  protocom.PLDA().fit(x[::-1], y[::-1]), protocom.PLDA().fit(x[:6], y[:6]).partial_fit(x[6:], y[6:])):
        np.testing.assert_allclose(other.predict_proba(q), expected, atol=1e-6)
    support = np.stack([x.reshape(3, 4, 4), 2 * x.reshape(3, 4, 4)])
    together = classifier.predict_proba_batch(support, np.stack([q, 2 * q]))
    np.testing.assert_allclose(together, [expected, expected], atol=1e-5)
    mask = np.ones((2, 3, 4))
    mask[1, :, 3] = 0
    masked = classifier.predict_proba_batch(support, np.stack([q, q]), mask)
    fewer = np.arange(len(x)) % 4 < 3
    np.testing.assert_allclose(masked[1], protocom.PLDA().fit(2 * x[fewer], y[fewer]).predict_proba(q), atol=1e-5)
    assert classifier.n_features_in_ == 4
    with pytest.raises(protocom.Error, match="X has 5 features, but PLDA is expecting 4 features as input"):
        classifier.predict(np.ones((1, 5), np.float32))


def test_with_one_row_per_class_probabilities_are_about_as_high_as_accuracy():
    sure, right = [], []
    for seed in range(40):
        x, y = measurements(1, seed)
        q, truth = measurements(10, seed + 100)
        q = q + 0.4 * np.random.default_rng(seed).normal(size=q.shape)  # classes overlap
        classifier = protocom.PLDA().fit(x, y)
        sure.append(classifier.predict_proba(q).max(1))
        right.append(classifier.predict(q) == truth)
    assert 0.5 < np.mean(right) < 0.95
    assert abs(np.mean(sure) - np.mean(right)) < 0.2


@pytest.mark.parametrize("options", [{}, {"transductive": True}])
def test_a_batch_of_episodes_with_one_row_per_class_and_with_several_is_each_of_them(options):
    x, y = measurements(4)
    q, _ = measurements(6, seed=2)
    mask = np.ones((2, 3, 4))
    mask[0, :, 1:] = 0
    together = protocom.PLDA(**options).predict_proba_batch(np.stack([x.reshape(3, 4, 4)] * 2), np.stack([q, q]), mask)
    first = np.arange(len(x)) % 4 == 0
    for answers, rows in zip(together, (first, np.ones(len(x), bool))):
        np.testing.assert_allclose(answers, protocom.PLDA(**options).fit(x[rows], y[rows]).predict_proba(q), atol=1e-5)


def test_rows_of_zeros_are_taken():
    assert protocom.PLDA().fit(np.zeros((2, 3)), ["a", "b"]).predict_proba(np.zeros((1, 3))).shape == (1, 2)
