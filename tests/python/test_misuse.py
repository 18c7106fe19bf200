import io
import os

import numpy as np
import pytest

import protocom

X = np.random.default_rng(1).normal(2, 1, (6, 8)).astype(np.float32)
Y = ["a", "a", "b", "b", "c", "c"]


def spoiled(value):
    rows = X.copy()
    rows[2, 3] = value
    return rows


FITS = {
    "labels shorter than features": (X, Y[:5], "Found input variables with inconsistent numbers of samples: [6, 5]"),
    "one image as a row of numbers": (X[0], Y, "Expected 2D array, got 1D array instead"),
    "episodes of images": (X[None], [Y], "Found array with dim 3"),
    "no image": (X[:0], [], "0 sample"),
    "no number": (X[:, :0], Y, "0 feature"),
    "NaN": (spoiled(np.nan), Y, "NaN or infinity in 1 rows, first in row 2"),
    "infinity": (spoiled(np.inf), Y, "NaN or infinity"),
    "words as features": ([["a"]] * 6, Y, "X must hold numbers"),
    "rows of different lengths": ([[1, 2], [3]], ["a", "b"], "its rows differ in length"),
    "complex numbers": (X + 1j, Y, "Complex data not supported"),
    "no labels": (X, None, "requires y"),
    "images": (np.zeros((6, 3, 8, 8), np.float32), Y, "Found array with dim 4"),
    "numbers that are not finite, in scikit-learn's words": (spoiled(np.inf), Y, "Input X contains NaN or infinity in"),
    "labels that are no classes": (X, np.linspace(0, 1, 6), "Unknown label type: continuous"),
    "labels of two types": (X, np.array([1, "a", 2, "b", 3, "c"], object), "Unknown label type: unknown; labels must all be of one type, "
                            "all numbers or all words, found int, str"),
    "a list of labels of two types": (X, [1, "a", 1, "a", 2.5, "a"], "labels must all be of one type, all numbers or all words, found float, int, str"),
    "no label among words": (X, [None, "a", "a", "b", "b", "b"], "found NoneType, str"),
}


@pytest.mark.parametrize("x, y, words", FITS.values(), ids=FITS.keys())
def test_fit_refuses_in_one_sentence(x, y, words):
    with pytest.raises(protocom.Error) as caught:
        protocom.PLDA().fit(x, y)
    assert words in str(caught.value) and "\n" not in str(caught.value)


CALLS = {
    "queries of another width": (lambda: protocom.PLDA().fit(X, Y).predict(X[:, :5]), "X has 5 features"),
    "one query as a row of numbers": (lambda: protocom.PLDA().fit(X, Y).predict(X[0]), "Expected 2D array"),
    "a score of fewer labels": (lambda: protocom.PLDA().fit(X, Y).score(X, Y[:5]), "inconsistent numbers of samples: [6, 5]"),
    "queries that are NaN": (lambda: protocom.PLDA().fit(X, Y).predict(spoiled(np.nan)), "NaN"),
    "asked before it is fitted": (lambda: protocom.PLDA().predict(X), "not fitted yet"),
    "unknown method": (lambda: protocom.make("pldaa"), "plda"),
    "unknown parameter": (lambda: protocom.make("mean:gama=2"), "gama"),
    "value out of range": (lambda: protocom.make("mean:gamma=-2"), "gamma"),
    "a method that needs base classes": (lambda: protocom.make("bavardage").fit(X, Y), "protocom.make(..., base=(X, y))"),
    "base classes of another width": (lambda: protocom.make("tim", base=(X[:, :5], Y)).fit(X, Y), "base classes have 5"),
    "a classifier as fitted": (
        lambda: protocom.PLDA(fitted=protocom.make("mean")).fit(X, Y), "must be a Fitted or the path of its file, found Classifier"),
    "a number as space": (lambda: protocom.PLDA(space=3).fit(X, Y), "must be a Fitted or the path of its file, found int"),
    "nothing to fit on": (lambda: protocom.fit("plda"), "X is missing: protocom.fit needs labelled features of base classes"),
    "features without labels": (lambda: protocom.evaluate(X), "labels are missing: give features with labels [m]"),
    "base that is not a pair": (lambda: protocom.make("tim", base=X).fit(X, Y), "base must be (X, y)"),
    "a file that is not there": (lambda: protocom.Fitted("none.npz"), "none.npz"),
    "a space and base classes": (lambda: protocom.PLDA(fitted="a", space="b").fit(X, Y), "not both"),
    "unknown parameter of the class": (lambda: protocom.PLDA().set_params(steps=3), "Invalid parameter"),
    "a batch of another shape": (lambda: protocom.make("mean").predict_proba_batch(X, X), "support must be"),
    "a batch of other widths": (
        lambda: protocom.make("mean").predict_proba_batch(X.reshape(1, 3, 2, 8), X[None, :, :5]), "supports must be"),
    "too few classes for an episode": (lambda: protocom.evaluate(X, Y, methods=["mean"]), "5"),
    "no ways": (lambda: protocom.episodes(X, Y, ways=0), "ways must be a whole number of at least 1, found 0"),
    "half an episode": (lambda: protocom.evaluate(X, Y, episodes=0.5), "episodes must be a whole number"),
    "labels that become words": (lambda: protocom.PLDA().fit(X, [1, 1, 2, 2, 3, 3]).partial_fit(X[:1], ["a"]), "of one type"),
    "unknown split": (lambda: protocom.FeatureSet(X, Y, "tset"), "tset"),
    "a split too short": (lambda: protocom.FeatureSet(X, Y, ["base"]), "split has 1 entries for 3 classes"),
    "methods in the place of the split": (lambda: protocom.evaluate(X, Y, ["mean", "plda"]), "split has 2 entries for 3 classes, found ['mean', 'plda']"),
    "a number as split": (lambda: protocom.evaluate(X, Y, 5), "split must be a word for all classes, a dict by class or a list"),
    "words as easyfsl's labels": (lambda: protocom.easyfsl.FewShotClassifier().process_support_set(X, Y), "labels must be whole numbers 0, 1, ..., c - 1"),
    "no labels for easyfsl": (lambda: protocom.easyfsl.FewShotClassifier().process_support_set(X, [None] * 6), "must be whole numbers"),
    "fractions as easyfsl's labels": (lambda: protocom.easyfsl.FewShotClassifier().process_support_set(X, np.arange(6) / 2), "found float64"),
    "a class without a split": (lambda: protocom.FeatureSet(X, Y, {"a": "base"}), "'b'"),
    "ids that repeat": (lambda: protocom.FeatureSet(X, Y, ids=["1"] * 6), "duplicate image id"),
    "no such method in the results": (
        lambda: protocom.evaluate(X, Y, methods=["mean"], ways=2, shots=1, queries=1, episodes=2).accuracies("plda"),
        "was not evaluated"),
    "an encoder that is not there": (lambda: protocom.Backbone("none.pt"), "none.pt"),
    "a recognizer that is not there": (lambda: protocom.Recognizer.open("none.pcm"), "none.pcm"),
    "no threads": (lambda: protocom.set_threads(0), "at least 1"),
    "a weight above one": (lambda: protocom.Knowledge({"a": {"stripes": 2.0}}), "2"),
}


@pytest.mark.parametrize("call, words", CALLS.values(), ids=CALLS.keys())
def test_calls_are_refused_in_one_sentence(call, words):
    with pytest.raises(protocom.Error) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


ODD = {"an array": np.zeros((3, 4)), "an object": object(), "a function": lambda: 0, "a long text": "y" * 100_000, "bytes": b"a", "a dict": {"a": 1}}
TAKES_NO_ODD = {
    **{name: lambda odd, name=name: protocom.episodes(X, Y, **{name: odd})
       for name in ("ways", "shots", "queries", "episodes", "seed", "evaluated", "distribution", "alpha", "unlabelled")},
    "a split": lambda odd: protocom.FeatureSet(X, Y).of(odd),
    "a method": lambda odd: protocom.describe(odd),
    "features of episodes": lambda odd: protocom.Episodes.of(odd, [[[0]]], [[[1]]]),
    "preprocess": lambda odd: protocom.Backbone("none.onnx", preprocess=odd),
    "output": lambda odd: protocom.Backbone("none.onnx", output=odd),
    "device": lambda odd: protocom.Recognizer("none.pcm", device=odd),
    "top": lambda odd: protocom.Recognizer("none.pcm", top=odd),
    "val": lambda odd: protocom.fit("plda", X, Y, val=odd),
    "an engine": lambda odd: protocom.set_engine(odd),
    "an option of a training": lambda odd: protocom.pretrain("none", "none.pt", architecture=odd),
}


@pytest.mark.parametrize("call", TAKES_NO_ODD.values(), ids=TAKES_NO_ODD.keys())
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_values_of_wrong_types_are_refused_in_a_short_sentence_without_addresses(call, odd):
    with pytest.raises((protocom.Error, TypeError, FileNotFoundError)) as caught:
        call(odd)
    words = str(caught.value)
    assert len(words) < 1000 and "\n" not in words and "0x" not in words and "cast" not in words


NO_PATHS = {"NUL": "a\0b", "half of a letter": "\ud800"}


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS.keys())
def test_paths_that_no_file_can_have_are_refused(path):
    calls = [protocom.Recognizer, protocom.Backbone, protocom.Fitted, protocom.Knowledge, protocom.Results.read, protocom.FeatureSet.read,
             protocom.FeatureSet(X, Y).save, protocom.images_in, protocom.TextEncoder,
             lambda path: protocom.Episodes.read(path, protocom.FeatureSet(X, Y)), lambda path: protocom.crops([path], "boxes.csv"),
             lambda path: protocom.pretrain(path, "out.pt")]
    for call in calls:
        with pytest.raises(protocom.UsageError, match="a path must be text without NUL"):
            call(path)


def test_results_are_not_read_from_a_pipe_or_a_device(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(protocom.Error, match="cannot read .*pipe: it is not a plain file"):
        protocom.Results.read(tmp_path / "pipe")


def test_a_value_of_a_megabyte_is_not_repeated_in_the_message():
    with pytest.raises(protocom.Error, match="must hold numbers") as caught:
        protocom.PLDA().fit([["y" * 1_000_000]] * 6, Y)
    assert len(str(caught.value)) < 1000


def test_a_failed_fit_leaves_nothing_and_a_failed_partial_fit_what_was(tmp_path):
    classifier = protocom.PLDA().fit(X, Y)
    expected = classifier.predict_proba(X)
    with pytest.raises(protocom.Error):
        classifier.partial_fit(spoiled(np.nan), Y)
    np.testing.assert_array_equal(classifier.predict_proba(X), expected)
    with pytest.raises(protocom.Error):
        classifier.fit(spoiled(np.nan), Y)
    with pytest.raises(protocom.Error, match="not fitted"):
        classifier.predict(X)


def test_a_row_that_is_not_finite_is_named_by_its_place_in_x():
    x = np.array(X)
    x[4, 0] = np.nan
    for classifier in (protocom.PLDA(), protocom.PLDA().fit(X, Y)):
        with pytest.raises(protocom.Error, match="^Input X contains NaN or infinity in 1 rows, first in row 4$"):
            classifier.partial_fit(x, Y)


HUGE = {
    **{name: lambda name=name: protocom.episodes(X, Y, **{name: 2**100})
       for name in ("ways", "queries", "unlabelled", "episodes", "seed", "shots")},
    "ways that C++ has no number for": lambda: protocom.episodes(X, Y, ways=2**63),
    "thousands of digits": lambda: protocom.episodes(X, Y, ways=10**10_000),
    "alpha": lambda: protocom.episodes(X, Y, alpha=10**400),
    "one of several seeds": lambda: protocom.evaluate(X, Y, methods=["mean"], seed=[1, 2**100]),
    "half a seed": lambda: protocom.evaluate(X, Y, methods=["mean"], seed=1.5),
    "the seed of fit": lambda: protocom.fit("plda", X, Y, seed=2**100),
    "the seed of a classifier": lambda: protocom.make("mean", seed=2**64).fit(X, Y),
    "the seed of an episode": lambda: protocom.make("mean").predict_proba_batch(X.reshape(1, 3, 2, 8), X[None], seeds=[-1]),
    "the seed of a training": lambda: protocom.pretrain("d", "o", seed=2**64),
    "epochs": lambda: protocom.pretrain("d", "o", epochs=2**63),
    "learning_rate": lambda: protocom.pretrain("d", "o", learning_rate=10**400),
    "top": lambda: protocom.Recognizer("none.pcm", top=2**100),
}


@pytest.mark.parametrize("call", HUGE.values(), ids=HUGE.keys())
def test_numbers_that_the_library_cannot_hold_are_refused_in_one_sentence(call):
    with pytest.raises(protocom.UsageError) as caught:
        call()
    assert str(caught.value) and "\n" not in str(caught.value)


def test_seeds_reach_as_far_as_the_library_does():
    few = np.tile(X, (4, 1))
    assert len(protocom.episodes(few, Y * 4, ways=2, queries=2, episodes=3, seed=2**64 - 1)) == 3


BYTES = os.fsdecode(b"caf\xe9")
NO_TEXTS = {
    "a label": lambda: protocom.PLDA().fit(X, [BYTES] * 3 + ["b"] * 3),
    "a label of a feature set": lambda: protocom.FeatureSet(X, [BYTES] * 3 + ["b"] * 3),
    "a method": lambda: protocom.make(BYTES),
    "one of several methods": lambda: protocom.evaluate(X, Y, methods=[BYTES], ways=2, queries=1, shots=1),
    "a baseline": lambda: protocom.evaluate(X, Y, methods=["mean"], baseline=BYTES, ways=2, queries=1, shots=1),
    "a share": lambda: protocom.Recognizer("none.pcm", shares={BYTES: 0.5}),
}


@pytest.mark.parametrize("call", NO_TEXTS.values(), ids=NO_TEXTS.keys())
def test_names_that_are_no_utf8_are_refused_and_shown(call):
    with pytest.raises(protocom.UsageError, match=r"must be UTF-8, found 'caf\\udce9'"):
        call()


def test_files_whose_names_are_no_utf8_are_shown(photos, tmp_path):
    encoder = protocom.Backbone(photos / "encoder.pt")
    path = os.fsencode(tmp_path) + b"/caf\xe9.png"
    calls = [lambda: encoder.extract([os.fsdecode(path)]), lambda: protocom.Recognizer(os.fsdecode(path)),
             lambda: protocom.Fitted(os.fsdecode(path))]
    for call in calls:
        with pytest.raises(protocom.Error, match=r"caf\\xe9\.png"):
            call()


def test_classes_whose_names_are_no_utf8_are_refused(photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt")
    for call in (lambda: mine.enrol(BYTES, [np.zeros((32, 32, 3), np.uint8)]), lambda: mine.rename("a", BYTES),
                 lambda: mine.merge(BYTES, "a"), lambda: mine.remove(BYTES), lambda: mine.explain(np.zeros((32, 32, 3), np.uint8), BYTES),
                 lambda: mine.enrol("a", [np.zeros((32, 32, 3), np.uint8)], attributes=[BYTES])):
        with pytest.raises(protocom.UsageError, match="must be UTF-8"):
            call()
    for blank in (" ", "\u00a0", "\u3000"):
        for call in (lambda: mine.enrol(blank, [np.zeros((32, 32, 3), np.uint8)]), lambda: mine.remove(blank)):
            with pytest.raises(protocom.UsageError, match="needs a name"):
                call()
    assert mine.classes == {}
    mine.enrol("cafe\u0301", [np.zeros((32, 32, 3), np.uint8)])
    assert list(mine.classes) == ["caf\u00e9"]
    mine.remove("cafe\u0301")


def test_what_calibrates_is_a_bool_and_a_number(photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt")
    for odd in ODD.values():
        for name, words in (("similar", "similar must be True or False"), ("false_accept", "false_accept must be a number")):
            with pytest.raises(protocom.UsageError, match=words):
                mine.calibrate(**{name: odd})


def test_a_recognizer_that_cannot_be_opened_takes_nothing_but_itself_away(photos, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link.pcm"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)  # so that writing would not wait for one
    with pytest.raises(protocom.Error, match="pipe: it is a device or a pipe"):
        protocom.Recognizer.create(pipe, backbone=photos / "encoder.pt")
    os.close(reader)
    assert pipe.is_fifo()
    link.symlink_to("mine.pcm")
    with pytest.raises(protocom.Error, match="pldaa"):
        protocom.Recognizer.create(link, backbone=photos / "encoder.pt", method="pldaa")
    assert link.is_symlink() and not (tmp_path / "mine.pcm").exists()


def test_images_of_other_kinds_are_refused(photos, tmp_path):
    encoder = protocom.Backbone(photos / "encoder.pt")
    (tmp_path / "no.png").write_text("no image")
    for given, words in (([np.zeros(4)], "an image must be"), ([np.zeros((5, 4, 5), np.uint8)], "(5, 4, 5)"), ([None], "an image is None"),
                         ([np.full((4, 4), 200.0)], "floats from 200.0 to 200.0"), ([np.full((4, 4, 3), np.nan)], "expected 0 to 1"),
                         ([np.zeros((4, 4, 3), np.int64)], "found int64"), ([io.StringIO("text")], "open as text"), (None, "an image is None"),
                         (5, "an image must be"), ([tmp_path / "no.png"], "no.png"), ([tmp_path / "none.png"], "none.png"), ([b"no"], "image 0"),
                         ([], "expected at least one image")):
        with pytest.raises(protocom.Error) as caught:
            encoder.extract(given)
        assert words in str(caught.value) and "\n" not in str(caught.value)
