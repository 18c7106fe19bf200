"""scikit-learn's contract beyond its check_estimator, and estimators inside its tools."""
import copy
import pickle
import warnings

import numpy as np
import pytest

import protocom

ALONE = ["linear-svm", "logistic-regression", "knn", "simple-shot", "tim", "pt-map", "label-propagation", "bd-cspn"]


# -- what is asked


def test_decisions_and_logarithms_are_those_of_the_probabilities(task):
    x, y, q, _ = task
    classifier = protocom.PLDA().fit(x, y)
    probabilities, decisions = classifier.predict_proba(q), classifier.decision_function(q)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(q)), probabilities, rtol=1e-4, atol=1e-7)
    assert (decisions.argmax(1) == probabilities.argmax(1)).all() and decisions.shape == (len(q), 5)
    assert np.isfinite(protocom.PLDA(scale=1e4).fit(x, y).predict_log_proba(q)).all()


def test_of_two_classes_the_decision_is_one_number(task):
    x, y, q, _ = task
    two = np.isin(y, ["cat", "dog"])
    classifier = protocom.PLDA().fit(x[two], y[two])
    decisions = classifier.decision_function(q)
    assert decisions.shape == (len(q),)
    np.testing.assert_array_equal(classifier.classes_[(decisions > 0).astype(int)], classifier.predict(q))


def test_samples_are_scored_by_how_well_they_fit_any_class(task):
    x, y, q, _ = task
    classifier = protocom.PLDA().fit(x, y)
    np.testing.assert_array_equal(classifier.score_samples(q), classifier.familiarity(q))


# -- parameters


@pytest.mark.parametrize("name, value, words", [
    ("transductive", "no", "must be an instance of 'bool'. Got 'no' instead."),
    ("proportions", "nonsense", "must be a str among {'balanced', 'estimate'}. Got 'nonsense' instead."),
    ("prior", "nonsense", "must be a str among {'fitted', 'kernel-ridge', 'none', "),
    ("scale", -1.0, "must be a float in the range [0.0, inf) or None. Got -1.0 instead."),
    ("scale", "wide", "must be a float in the range [0.0, inf) or None. Got 'wide' instead."),
])
def test_parameters_that_cannot_be_are_refused_with_those_that_can(task, name, value, words):
    with pytest.raises(protocom.UsageError) as caught:
        protocom.PLDA(**{name: value}).fit(*task[:2])
    assert f"The '{name}' parameter of PLDA {words}" in str(caught.value)


def test_no_scale_is_the_one_that_makes_probabilities_right(task):
    x, y, q, _ = task
    expected = protocom.PLDA(scale=0.0).fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA(scale=None).fit(x, y).predict_proba(q), expected)


def test_random_state_is_scikit_learns_seed(task):
    x, y, q, _ = task
    for state in (3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)):
        protocom.make("mean", random_state=state).fit(x, y)
    with pytest.raises(protocom.UsageError, match="random_state must be a whole number"):
        protocom.make("mean", random_state="3").fit(x, y)
    drawn, told = (protocom.make("bavardage", base=(x, y), **{name: 7}).fit(x, y) for name in ("random_state", "seed"))
    np.testing.assert_array_equal(drawn.predict_proba(q), told.predict_proba(q))


# -- copies


def knowledge_of_attributes():
    draw = np.random.default_rng(5)
    return {str(i): {f"a{k}": 1.0 for k in range(6) if draw.random() < 0.5} for i in range(22)}


def test_copies_answer_as_the_original_after_its_parameters_were_set(task, collection, tmp_path):
    x, y, q, _ = task
    fitted = protocom.fit("plda", *collection.of("base"), val=collection.of("val"))
    fitted.save(tmp_path / "plda.npz")
    made = {
        "method": (protocom.make("mean"), {"method": "gda"}),
        "scale": (protocom.PLDA(scale=2.0), {"scale": 0.01}),
        "space": (protocom.PLDA(space=tmp_path / "plda.npz"), {"space": None}),
        "fitted": (protocom.PLDA(fitted=tmp_path / "plda.npz"), {"fitted": None}),
    }
    for name, (classifier, later) in made.items():
        classifier.fit(x, y)
        expected = classifier.predict_proba(q)
        classifier.set_params(**later)
        made[name] = classifier, expected
    (tmp_path / "plda.npz").unlink()  # copies need no file either
    for name, (classifier, expected) in made.items():
        np.testing.assert_array_equal(classifier.predict_proba(q), expected, name)
        for other in (copy.deepcopy(classifier), pickle.loads(pickle.dumps(classifier))):
            np.testing.assert_array_equal(other.predict_proba(q), expected, name)
            assert other.method_ == classifier.method_


def test_copies_know_what_was_known_of_the_classes(collection, tmp_path):
    known = knowledge_of_attributes()
    fitted = protocom.fit("plda", *collection.of("base"), val=collection.of("val"), knowledge=known)
    x, y = collection.of("novel")
    classifier = protocom.PLDA(fitted=fitted, knowledge=known).fit(x[::24], y[::24])
    expected = classifier.predict_proba(x)
    known.clear()
    for other in (copy.deepcopy(classifier), pickle.loads(pickle.dumps(classifier))):
        np.testing.assert_array_equal(other.predict_proba(x), expected)


def test_copies_keep_the_base_classes_that_the_original_was_fitted_with(task, collection):
    x, y, q, _ = task
    features, labels = (np.array(one) for one in collection.of("base"))
    classifier = protocom.make("simple-shot", base=(features, labels)).fit(x, y)
    expected = classifier.predict_proba(q)
    features[:] = 0
    np.testing.assert_array_equal(copy.deepcopy(classifier).predict_proba(q), expected)


# -- methods on labelled images alone


@pytest.mark.parametrize("name", ALONE)
def test_methods_that_need_no_base_classes_are_fitted_on_labelled_images_alone(task, name):
    x, y, q, right = task
    assert protocom.make(name).fit(x, y).score(q, right) > 0.8


def test_without_base_classes_features_are_not_centred_by_them(task, collection):
    x, y, q, _ = task
    assert not hasattr(protocom.make("simple-shot"), "method_")
    assert protocom.make("simple-shot").fit(x, y).method_ == "simple-shot:transform=l2n"
    assert protocom.make("simple-shot", base=collection.of("base")).fit(x, y).method_ == "simple-shot"
    with pytest.raises(protocom.UsageError, match=r"features of base classes: protocom.make\(\.\.\., base=\(X, y\)\)"):
        protocom.make("simple-shot:transform=cl2n").fit(x, y)


def test_a_search_over_methods_has_a_score_for_each(task):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV

    x, y, _, _ = task
    names = ["mean", "plda", "gda", "linear-svm", "logistic-regression", "knn", "simple-shot"]
    search = GridSearchCV(protocom.make("mean"), {"method": names}, cv=2, error_score="raise").fit(x, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and len(search.cv_results_["params"]) == len(names)


def test_a_search_over_methods_says_what_each_that_fails_needs(task, collection):
    pytest.importorskip("sklearn")
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import GridSearchCV

    x, y, _, _ = task
    methods = {"method": ["mean", "bavardage"]}
    with pytest.warns(FitFailedWarning, match=r"'bavardage' needs features of base classes: protocom.make\(\.\.\., base=\(X, y\)\)"):
        GridSearchCV(protocom.make("mean"), methods, cv=2).fit(x, y)
    base = collection.of("base")
    for estimator, more in ((protocom.make("mean", base=base), {}), (protocom.make("mean"), {"base": [base]})):
        search = GridSearchCV(estimator, {**methods, **more}, cv=2, error_score="raise").fit(x, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# -- features of all kinds


def columns_of(x):
    """The same features as a column of lists or arrays, by library."""
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries about one another
        try:
            import pandas

            made["pandas of arrays"] = pandas.DataFrame({"id": range(len(x)), "embedding": list(x)})["embedding"]
            made["pandas of lists"] = pandas.DataFrame({"embedding": x.tolist()})["embedding"]
            made["a frame of one column"] = pandas.DataFrame({"embedding": list(x)})
        except ImportError:
            pass
        try:
            import polars

            made["polars of lists"] = polars.DataFrame({"embedding": x.tolist()})["embedding"]
            made["polars of arrays"] = polars.Series("embedding", x)
        except ImportError:
            pass
        try:
            import pyarrow

            made["pyarrow"] = pyarrow.array(x.tolist())
            made["pyarrow in chunks"] = pyarrow.table({"embedding": x.tolist()})["embedding"]
            made["pyarrow of one length"] = pyarrow.array(x.tolist(), type=pyarrow.list_(pyarrow.float32(), x.shape[1]))
        except ImportError:
            pass
        try:
            import datasets

            made["Hugging Face"] = datasets.Dataset.from_dict({"embedding": x.tolist()})["embedding"]
        except ImportError:
            pass
    column = np.empty(len(x), object)
    column[:] = list(x)
    return {**made, "an array of arrays": column, "a list of arrays": list(x)}


def test_a_column_of_lists_or_arrays_is_a_matrix(task):
    x, y, q, _ = task
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    queries = columns_of(q)
    for name, given in columns_of(x).items():
        classifier = protocom.PLDA().fit(given, y)
        np.testing.assert_array_equal(classifier.predict_proba(queries[name]), expected, name)
        assert not hasattr(classifier, "feature_names_in_"), name


def test_a_column_whose_rows_differ_in_length_is_refused(task):
    column = np.empty(3, object)
    column[:] = [[1.0, 2.0], [1.0], [2.0, 3.0]]
    with pytest.raises(protocom.Error, match=r"row 0 has shape \(2,\), row 1 has shape \(1,\)"):
        protocom.PLDA().fit(column, [0, 1, 1])


def frames_of(x):
    names = [f"f{i}" for i in range(x.shape[1])]
    made = {}
    for library, frame in (("pandas", "DataFrame"), ("polars", "DataFrame")):
        try:
            made[library] = getattr(__import__(library), frame)(x, columns=names) if library == "pandas" else (
                getattr(__import__(library), frame)(x, schema=names))
        except ImportError:
            pass
    try:
        import pyarrow

        made["pyarrow"] = pyarrow.table(dict(zip(names, x.T)))
    except ImportError:
        pass
    return names, made


def test_names_of_the_columns_of_data_frames_are_kept_and_compared(task):
    x, y, q, _ = task
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    names, frames = frames_of(x)
    queries = frames_of(q)[1]
    if not frames:
        pytest.skip("no library of data frames")
    for library, frame in frames.items():
        classifier = protocom.PLDA().fit(frame, y)
        assert list(classifier.feature_names_in_) == names and classifier.n_features_in_ == len(names), library
        np.testing.assert_array_equal(classifier.predict_proba(queries[library]), expected)
        with pytest.warns(UserWarning, match="X does not have valid feature names, but PLDA was fitted with"):
            classifier.predict(q)
    with pytest.warns(UserWarning, match="X has feature names, but PLDA was fitted without feature names"):
        protocom.PLDA().fit(x, y).predict(queries[library])


def test_scikit_learn_finds_names_of_features_consistent():
    pytest.importorskip("sklearn", minversion="1.6")
    pytest.importorskip("pandas")
    from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

    check_dataframe_column_names_consistency("PLDA", protocom.PLDA())


# -- inside scikit-learn's tools


def test_weights_of_images_are_routed_as_scikit_learn_routes_them(task):
    sklearn = pytest.importorskip("sklearn", minversion="1.6")
    from sklearn.model_selection import cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.validation import has_fit_parameter

    x, y, q, right = task
    assert has_fit_parameter(protocom.PLDA(), "sample_weight")
    with pytest.raises(RuntimeError, match="metadata routing is enabled"):
        protocom.PLDA().set_score_request(sample_weight=True)
    with sklearn.config_context(enable_metadata_routing=True):
        twice = np.arange(len(x)) % 3
        routed = make_pipeline(protocom.PLDA().set_fit_request(sample_weight=True)).fit(x, y, sample_weight=twice)
        np.testing.assert_array_equal(routed.predict_proba(x), protocom.PLDA().fit(x, y, twice).predict_proba(x))
        weighed = protocom.PLDA().set_score_request(sample_weight=True).set_fit_request(sample_weight=False)
        weights = np.r_[1.0, np.zeros(len(x) - 1)]
        cross_validate(sklearn.clone(weighed), x, y, cv=2, params={"sample_weight": weights + 0.1}, error_score="raise")
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            cross_validate(protocom.PLDA(), x, y, cv=2, params={"sample_weight": weights}, error_score="raise")


def test_tools_take_the_estimators(task):
    pytest.importorskip("sklearn")
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import StackingClassifier, VotingClassifier
    from sklearn.model_selection import cross_val_predict

    x, y, q, right = task
    several = [("plda", protocom.PLDA()), ("mean", protocom.make("mean"))]
    for tool in (VotingClassifier(several, voting="soft"), StackingClassifier(several, cv=2),
                 CalibratedClassifierCV(protocom.PLDA(), cv=2)):
        assert tool.fit(x, y).score(q, right) > 0.7, tool
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert cross_val_predict(protocom.PLDA(), x, y, cv=2, method=method).shape == (len(x), 5)


def test_a_classifier_that_is_not_fitted_says_so_in_another_process_too():
    pytest.importorskip("sklearn")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError) as caught:
        protocom.PLDA().predict(np.ones((1, 2)))
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, NotFittedError) and str(again) == str(caught.value)


# -- in notebooks and tracebacks


def test_estimators_are_shown_as_small_tables_with_escaped_text(task):
    x, y, _, _ = task
    shown = protocom.make("mean", model="<b>&</b>")._repr_html_()
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in shown and "<b>" not in shown
    assert "<td>5</td>" in protocom.PLDA().fit(x, y)._repr_html_()


def test_what_a_classifier_was_made_with_is_shown_too(collection):
    fitted = protocom.fit("plda", *collection.of("base"))
    for one in (fitted, protocom.Knowledge({"<a>": ["b"]})):
        assert one._repr_html_().startswith("<table><caption>") and "<a>" not in one._repr_html_()


def test_public_names_stand_in_the_package():
    for name in protocom.__all__:
        kind = getattr(protocom, name)
        if isinstance(kind, type):
            assert kind.__module__ == "protocom" and pickle.loads(pickle.dumps(kind)) is kind


# -- what is known of classes


def test_vectors_are_knowledge(task):
    x, y, q, _ = task
    means = {name: x[y == name].mean(0) for name in np.unique(y)}
    knowledge = protocom.Knowledge(means)
    assert knowledge.classes == sorted(means) and knowledge.attributes == []
    classifier = protocom.make("zero-shot", knowledge=means).fit(x, y)
    cosines = q @ np.stack(list(means.values())).T / np.linalg.norm(np.stack(list(means.values())), axis=1)
    assert (classifier.predict_proba(q).argmax(1) == cosines.argmax(1)).all()
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(q), classifier.predict_proba(q))


def test_vectors_of_a_text_encoder_are_knowledge(clip_folder):
    names = ["bird", "dog"]
    knowledge = protocom.Knowledge(dict(zip(names, protocom.TextEncoder(clip_folder).encode(["a bird", "a dog"]))))
    x, y = np.random.default_rng(1).normal(size=(4, 24)).astype(np.float32), ["bird", "bird", "dog", "dog"]
    assert protocom.make("zero-shot", knowledge=knowledge).fit(x, y).predict(x).shape == (4,)


@pytest.mark.parametrize("source, words", [
    ({"a": [1, "b"]}, "attributes of 'a' must be str, found int"),
    ({"a": "stripes"}, "must be a list of str or a dict of weights, found 'stripes'"),
    ({"a": np.ones(3), "b": ["stripes"]}, "for class 'b'"),
    ({"a": np.ones(3), "b": np.ones(4)}, "equal lengths, found 3 and, for 'b', 4"),
    ({"a": np.ones((2, 3))}, "found an array of shape (2, 3)"),
    ({"a": np.zeros(3)}, "not all 0"),
    ({"a": {"stripes": "many"}}, "the weight of 'stripes' must be a number"),
    (np.ones((2, 3)), "knowledge must be a dict or a path, found ndarray"),
])
def test_knowledge_that_cannot_be_is_refused_in_one_sentence(source, words):
    with pytest.raises(protocom.Error) as caught:
        protocom.Knowledge(source)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_knowledge_that_a_fitted_method_does_not_follow_is_said(task, collection, caplog):
    x, y, q, _ = task
    fitted = protocom.fit("plda", *collection.of("base"))
    known = protocom.PLDA(fitted=fitted, knowledge={"cat": ["whiskers"]}).fit(x, y)
    assert ["knowledge is ignored" in one.message for one in caplog.records] == [True]
    np.testing.assert_array_equal(known.predict_proba(q), protocom.PLDA(fitted=fitted).fit(x, y).predict_proba(q))


@pytest.mark.parametrize("name", ["plda", "mean", "linear-svm", "logistic-regression", "simple-shot"])
def test_weights_and_repetitions_in_any_order_are_the_same(task, name):
    x, y, q, _ = task
    draw = np.random.default_rng(0)
    counts = draw.integers(0, 4, len(y)) + (np.arange(len(y)) % 2)
    counts[[np.flatnonzero(y == one)[0] for one in np.unique(y)]] = 2
    again = draw.permutation(np.repeat(np.arange(len(y)), counts))
    weighted = protocom.make(name).fit(x, y, sample_weight=counts)
    np.testing.assert_array_equal(protocom.make(name).fit(x[again], y[again]).predict_proba(q), weighted.predict_proba(q))


def test_a_pickle_holds_the_model_and_not_the_images(task):
    x, y, q, _ = task
    many, labels = np.concatenate([x + 0.01 * i for i in range(50)]), np.tile(y, 50)
    classifier = protocom.PLDA().fit(many, labels)
    data = pickle.dumps(classifier)
    assert len(data) < many.nbytes / 4
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.predict_proba(q), classifier.predict_proba(q))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict_proba(q), classifier.predict_proba(q))
    with pytest.raises(protocom.Error, match="was pickled, which keeps its model and not the images"):
        again.partial_fit(x, y)
    for copied in (copy.deepcopy(classifier), copy.copy(classifier)):
        assert copied.partial_fit(x, y)._images == len(labels) + len(y)
    np.testing.assert_array_equal(again.fit(x, y).predict_proba(q), protocom.PLDA().fit(x, y).predict_proba(q))


@pytest.mark.parametrize("name", ["mean", "simple-shot", "proto-net", "gda", "linear-svm", "logistic-regression", "baseline-pp"])
@pytest.mark.parametrize("has_base", [False, True])
def test_pickles_of_methods_with_one_row_per_class_do_not_grow_with_the_images(task, collection, name, has_base):
    x, y, q, _ = task
    few, many = (protocom.make(name, base=collection.of("base") if has_base else None).fit(np.tile(x, (n, 1)), np.tile(y, n)) for n in (1, 20))
    assert len(pickle.dumps(many)) == pytest.approx(len(pickle.dumps(few)), abs=200)
    for classifier in (few, many):
        for again in (pickle.loads(pickle.dumps(classifier)), copy.deepcopy(classifier), pickle.loads(pickle.dumps(copy.deepcopy(classifier)))):
            np.testing.assert_array_equal(again.predict_proba(q), classifier.predict_proba(q))
            np.testing.assert_array_equal(again.familiarity(q), classifier.familiarity(q))


def test_paddle_says_when_its_penalty_outweighs_the_features(caplog):
    draw = np.random.default_rng(0)
    y = np.arange(45) % 3
    x = (draw.normal(size=(3, 8))[y] + 0.1 * draw.normal(size=(45, 8))).astype(np.float32)
    assert protocom.make("paddle").fit(x[:15], y[:15]).score(x[15:], y[15:]) < 0.5
    assert ["paddle put all 30 queries into one class" in one.message for one in caplog.records] == [True]
    caplog.clear()
    assert protocom.make("paddle:weight=0.5").fit(x[:15], y[:15]).score(x[15:], y[15:]) == 1
    assert not caplog.records


def test_knowledge_that_does_not_count_is_said(task, collection, caplog):
    x, y, q, _ = task
    known = protocom.PLDA(knowledge={"cat": ["whiskers"]}).fit(x, y)
    assert [one.message for one in caplog.records] == [
        "knowledge is ignored: it needs fitted=protocom.fit(..., knowledge=...)"]
    np.testing.assert_array_equal(known.predict_proba(q), protocom.PLDA().fit(x, y).predict_proba(q))
    caplog.clear()
    protocom.make("zero-shot", knowledge={one: np.ones(x.shape[1]) for one in set(y)}).fit(x, y)
    assert not caplog.records
