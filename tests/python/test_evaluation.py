import json
import pickle
import subprocess
import time

import numpy as np
import pytest

import protocom


def command_line(program, tmp_path, *arguments):
    out = tmp_path / "out.json"
    subprocess.run([program, "--quiet", "evaluate", *map(str, arguments), "--json", str(out)], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def same(found, expected):
    """Every figure, and the accuracy of every episode."""
    for part in ("results", "differences"):
        rows = [{key: value for key, value in one.items() if key != "task"} for one in found[part]]
        assert rows == expected[part]
    for part in ("episode_lists", "episodes_hash", "checks"):
        assert found[part] == expected[part]


def test_figures_are_the_command_lines_to_the_bit(program, tmp_path, collection):
    collection.save(tmp_path / "f.npz")
    base, fitted = tmp_path / "f.npz", tmp_path / "plda.npz"
    subprocess.run([program, "--quiet", "fit", "--features", str(base), "--out", str(fitted)], check=True)
    methods = ["mean", "plda", "plda-vb", "simple-shot", "gda"]
    expected = command_line(program, tmp_path, "--features", base, "--methods", ",".join(methods), "--fitted", fitted,
                            "--n-way", 4, "--k-shot", "1,1-5", "--n-query", 7, "--episodes", 40, "--seeds", "3,4")
    results = protocom.evaluate(collection, methods=methods, fitted=fitted, ways=4, shots=[1, "1-5"], queries=7,
                                episodes=40, seed=[3, 4])
    same(results.findings, expected)
    # The same of arrays, whose classes are numbered from 0.
    again = protocom.evaluate(collection.features, collection.labels, collection.split, methods, fitted=fitted, ways=4,
                              shots=[1, "1-5"], queries=7, episodes=40, seed=[3, 4])
    assert again.findings["results"] == results.findings["results"]


def test_what_is_fitted_here_is_what_the_command_line_fits(program, tmp_path, collection):
    collection.save(tmp_path / "f.npz")
    subprocess.run([program, "--quiet", "fit", "--features", str(tmp_path / "f.npz"), "--out", str(tmp_path / "a.npz")],
                   check=True)
    protocom.fit("plda", collection).save(tmp_path / "b.npz")
    protocom.fit("plda", tmp_path / "f.npz").save(tmp_path / "c.npz")
    first, *others = (protocom.evaluate(collection, methods=["plda"], baseline="plda", fitted=tmp_path / name, episodes=20)
                      for name in ("a.npz", "b.npz", "c.npz"))
    for other in others:
        assert other.findings["results"] == first.findings["results"]
    x, y = collection.of("base")
    for options in ({"y": y}, {"val": (x, y)}):
        with pytest.raises(protocom.UsageError, match="of its own"):
            protocom.fit("plda", collection, **options)


def test_episodes_are_the_command_lines_and_come_back_from_their_file(program, tmp_path, collection):
    drawn = protocom.episodes(collection, ways=3, shots=2, queries=5, episodes=10, seed=9)
    assert len(drawn) == 10 and drawn.task == "3-way 2-shot"
    one = drawn[-1]
    assert np.shape(one["support"]) == (3, 2) and np.shape(one["query"]) == (3, 5)
    assert (collection.labels[np.array(one["support"])] == np.array(one["classes"])[:, None]).all()
    drawn.save(tmp_path / "episodes.json")
    collection.save(tmp_path / "f.npz")
    expected = command_line(program, tmp_path, "--features", tmp_path / "f.npz", "--methods", "mean",
                            "--episodes-file", tmp_path / "episodes.json")
    read = protocom.Episodes.read(tmp_path / "episodes.json", tmp_path / "f.npz")
    assert read.hash == drawn.hash == expected["episodes_hash"]
    results = protocom.evaluate(collection, methods=["mean"], episodes=read)
    assert results.findings["results"][0]["per_episode"] == expected["results"][0]["per_episode"]


def test_results_are_rows_and_a_table(collection):
    results = protocom.evaluate(collection, methods=["mean", "plda"], episodes=30)
    assert [(one["task"], one["method"]) for one in results.rows] == [
        ("5-way 1-shot", "mean"), ("5-way 1-shot", "plda"), ("5-way 5-shot", "mean"), ("5-way 5-shot", "plda")]
    assert results.rows[0]["gain"] is None and results.rows[1]["gain"] is not None
    assert results.accuracies("plda", "5-way 1-shot").shape == (30,)
    assert results.accuracies("plda", "5-way 1-shot").mean() == pytest.approx(results.rows[1]["accuracy"])
    assert results.table.splitlines()[0].split()[:2] == ["task", "method"] and len(results.table.splitlines()) == 5
    assert results._repr_html_().count("<tr>") == 5


def test_a_file_is_as_it_was_where_a_new_one_cannot_be_written_whole(collection, tmp_path):
    results = protocom.evaluate(collection, methods=["mean"], episodes=3)
    results.save(tmp_path / "results.json")
    before = (tmp_path / "results.json").read_text()
    results.findings = {"half": 1, "cannot be written": object()}
    with pytest.raises(TypeError):
        results.save(tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text() == before and len(list(tmp_path.iterdir())) == 1


def test_without_methods_the_mean_and_what_was_fitted_are_evaluated(collection):
    fitted = protocom.fit("plda", *collection.of("base"))
    assert [one["method"] for one in protocom.evaluate(collection, shots=1, episodes=5).rows] == ["mean"]
    results = protocom.evaluate(collection, shots=1, episodes=5, fitted=fitted, baseline="plda")
    assert [one["method"] for one in results.rows if one["gain"] is None] == ["plda"]
    assert {one["method"] for one in results.rows} == {"mean", "plda", "plda-vb"}


def test_results_become_a_data_frame_and_a_plot(collection):
    results = protocom.evaluate(collection, methods=["mean", "plda"], shots=1, episodes=10)
    pandas = pytest.importorskip("pandas")
    assert list(results.to_pandas().columns) == ["task", "method", "accuracy", "ci95", "gain", "gain_ci95", "mode"]
    assert isinstance(results.to_pandas(), pandas.DataFrame)
    pytest.importorskip("matplotlib").use("agg")
    assert len(results.plot().patches) == 2


def test_progress_is_told_and_may_stop(collection):
    told = []
    protocom.evaluate(collection, methods=["mean"], shots=1, episodes=10, progress=lambda *one: told.append(one))
    assert told and told[-1][1] == told[-1][2] == 10

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        protocom.evaluate(collection, methods=["mean"], shots=1, episodes=10, progress=stop)


def test_warnings_go_to_pythons_logging(collection, caplog):
    twice = np.concatenate([collection.features, collection.features[:1]])
    with caplog.at_level("WARNING", "protocom"):
        protocom.FeatureSet(twice, [*collection.labels, collection.labels[0]])
    assert "duplicate features" in caplog.text


# -- episodes as sequences and arrays


@pytest.mark.parametrize("shape", [{"shots": 2}, {"shots": "1-4", "unlabelled": 3}, {"distribution": "dirichlet"}])
def test_episodes_have_slices_and_are_kept_as_arrays(collection, tmp_path, shape):
    drawn = protocom.episodes(collection, ways=3, queries=4, episodes=9, **shape)
    some = drawn[2:8:2]
    assert len(some) == 3 and some.task == drawn.task and list(some) == [drawn[2], drawn[4], drawn[6]]
    drawn.save(tmp_path / "episodes.npz")
    for again in (protocom.Episodes.read(tmp_path / "episodes.npz", collection), pickle.loads(pickle.dumps(drawn))):
        assert again.hash == drawn.hash and list(again) == list(drawn)
    with np.load(tmp_path / "episodes.npz") as file:
        assert file["classes"].shape == (9, 3) and file["support"].shape[:2] == (9, 3)
        support, labels = file["support"], collection.labels
        there = support >= 0
        assert (labels[support[there]] == np.broadcast_to(file["classes"][:, :, None], support.shape)[there]).all()
    assert protocom.evaluate(collection, methods=["mean"], episodes=some).accuracies("mean").shape == (3,)


def test_episodes_that_are_not_there_are_refused(collection, tmp_path):
    drawn = protocom.episodes(collection, ways=3, queries=4, episodes=2)
    for number in (2, -3, 10**30):
        with pytest.raises(IndexError, match="there are 2 episodes"):
            drawn[number]
    with pytest.raises(protocom.UsageError, match="at least one"):
        drawn[2:]
    drawn.save(tmp_path / "episodes.npz")
    other = protocom.FeatureSet(collection.features[:120], collection.labels[:120])
    with pytest.raises(protocom.Error, match=r"episodes\.npz was drawn from other features"):
        protocom.Episodes.read(tmp_path / "episodes.npz", other)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(protocom.Error, match="holds no episodes"):
        protocom.Episodes.read(tmp_path / "other.npz", collection)


def test_features_with_labels_and_splits_of_their_own_take_no_others(collection, tmp_path):
    collection.save(tmp_path / "f.npz")
    for features in (collection, tmp_path / "f.npz"):
        for other in ({"split": "val"}, {"labels": collection.labels}):
            with pytest.raises(protocom.UsageError, match="labels and splits of its own.*evaluated="):
                protocom.evaluate(features, methods=["mean"], episodes=2, ways=2, queries=2, **other)


class Sampler:
    """As easyfsl's TaskSampler: rows of k + q images of each of n classes, one class after the other."""

    n_way, n_shot, n_query = 3, 2, 4

    def __init__(self, labels, episodes, seed=0):
        self._rows = [np.flatnonzero(labels == one) for one in np.unique(labels)]
        self._draw, self._episodes = np.random.default_rng(seed), episodes

    def __iter__(self):
        for _ in range(self._episodes):
            classes = self._draw.choice(len(self._rows), self.n_way, replace=False)
            yield np.concatenate([self._draw.choice(self._rows[one], self.n_shot + self.n_query, replace=False) for one in classes]).tolist()


def test_episodes_may_be_ones_own_or_of_easyfsls_sampler(collection, tmp_path):
    drawn = protocom.episodes(collection, ways=3, shots="1-4", queries=4, episodes=6, unlabelled=2)
    arrays = drawn.arrays()
    again = protocom.Episodes.of(collection, arrays["support"], arrays["query"], arrays["pool"])
    assert list(again) == list(drawn) and again.task == drawn.task
    np.testing.assert_array_equal(protocom.evaluate(collection, methods=["plda"], episodes=again).accuracies("plda"),
                                  protocom.evaluate(collection, methods=["plda"], episodes=drawn).accuracies("plda"))
    x, y = collection.of("novel")
    novel = protocom.FeatureSet(x, y)
    sampled = protocom.Episodes.of_sampler(novel, Sampler(novel.labels, 7))
    assert (len(sampled), sampled.task) == (7, "3-way 2-shot")
    rows = np.array(next(iter(Sampler(novel.labels, 1)))).reshape(3, 6)
    assert sampled[0]["support"] == rows[:, :2].tolist() and sampled[0]["query"] == rows[:, 2:].tolist()
    sampled.save(tmp_path / "sampled.json")
    assert protocom.Episodes.read(tmp_path / "sampled.json", novel).hash == sampled.hash


@pytest.mark.parametrize("change, words", [
    (lambda s, q: (s[:, :, 0], q), r"support must be rows of the features, whole numbers \[episodes, classes, images\]"),
    (lambda s, q: (s[:1], q), r"support must be \[4, 3, ...\], as query is, found \[1, 3, 2\]"),
    (lambda s, q: (s + 10_000, q), "rows from 0 to"), (lambda s, q: (s, q * 1.0), "query must be rows"),
    (lambda s, q: (q[:, :, :2], q), "duplicate image .* expected disjoint support, query and pool"),
    (lambda s, q: (s[:, ::-1], q), "which is not its class"),
    (lambda s, q: (s, np.where(q == q[0, 0, 0], -1, q)), "equally many images of every class, found 4 to 5"),
    (lambda s, q: (s, np.where(np.arange(5) < 9, -1, q)), "query must have at least one image"),
])
def test_arrays_that_are_no_episodes_are_refused(collection, change, words):
    arrays = protocom.episodes(collection, ways=3, shots=2, queries=5, episodes=4).arrays()
    with pytest.raises(protocom.Error, match=words) as caught:
        protocom.Episodes.of(collection, *change(arrays["support"], arrays["query"]))
    assert "\n" not in str(caught.value)


def test_samplers_that_are_none_are_refused(collection):
    with pytest.raises(protocom.UsageError, match="n_way, n_shot and n_query"):
        protocom.Episodes.of_sampler(collection, [[1, 2]])
    short = Sampler(collection.labels, 1)
    short.n_query = 5
    short.__class__ = type("Short", (Sampler,), {"__iter__": lambda self: iter([[1, 2, 3]])})
    with pytest.raises(protocom.Error, match=r"episode 0 has 3 rows, expected 3 x \(2 \+ 5\)"):
        protocom.Episodes.of_sampler(collection, short)


def test_ten_thousand_episodes_are_read_at_once(collection, tmp_path):
    drawn = protocom.episodes(collection, shots=1, queries=15, episodes=10_000)
    drawn.save(tmp_path / "many.npz")
    start = time.perf_counter()
    again = protocom.Episodes.read(tmp_path / "many.npz", collection)
    assert time.perf_counter() - start < 2, "as JSON it takes 6 s"
    assert again.hash == drawn.hash


# -- results


def test_methods_are_found_by_label_and_as_they_were_asked_for(collection):
    asked = ["mean", "simple-shot:transform=cl2n", "plda:scale=2"]
    results = protocom.evaluate(collection, methods=asked, shots=1, episodes=5)
    assert [one["method"] for one in results.rows] == ["mean", "simple-shot", "plda:scale=2"]
    for name in [*asked, "simple-shot", "plda"]:
        assert results.accuracies(name).shape == (5,)
    with pytest.raises(protocom.UsageError, match="'gda' was not evaluated; there are mean, simple-shot, plda:scale=2"):
        results.accuracies("gda")
    both = protocom.evaluate(collection, methods=["mean", "plda:scale=2", "plda:scale=3"], shots=1, episodes=5)
    with pytest.raises(protocom.UsageError, match="name one of them in full"):
        both.accuracies("plda")


def test_any_two_methods_are_compared_as_each_is_with_the_baseline(collection):
    results = protocom.evaluate(collection, methods=["mean", "plda", "gda"], episodes=20, seed=[1, 2])
    for stated in results.findings["differences"]:
        found = results.compare(stated["method"], "mean", stated["task"])[0]
        for name in ("episodes", "difference", "ci95", "better", "worse"):
            assert found[name] == pytest.approx(stated[name], abs=1e-9)
    several = results.compare("plda", "gda")
    assert [one["task"] for one in several] == ["5-way 1-shot", "5-way 5-shot"]
    assert several[0]["difference"] == pytest.approx(-results.compare("gda", "plda")[0]["difference"])


def damaged_episodes(path, **parts):
    """A copy of a file of episodes with other parts; of the header, other members."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file}
    header = json.loads(str(arrays["header"]))
    for name, value in parts.items():
        if name in arrays:
            arrays[name] = value
        elif value is None:
            del header[name]
        else:
            header[name] = value
    if "header" not in parts:
        arrays["header"] = np.array(json.dumps(header))
    other = path.parent / "other.npz"
    np.savez_compressed(other, **arrays)
    return other


A_NAME = {"class": [], "row": [[10**12, "0"]]}
DAMAGED_EPISODES = {
    "a number that would take terabytes": {"names": A_NAME},
    "a number below zero": {"names": {"class": [[-5, "a"]], "row": []}},
    "a number that is a text": {"names": {"class": [["x", "a"]], "row": []}},
    "a name that is a list": {"names": {"class": [[0, ["a"]]], "row": []}},
    "no names": {"names": {}}, "null names": {"names": 5}, "no hash": {"hash": None},
    "a shape of texts": {"shape": {"n_way": "x", "k_shot": 1, "n_query": 1, "split": "novel", "seed": 1}},
    "a shape of 2^70": {"shape": {"n_way": 2**70, "k_shot": 1, "n_query": 1, "split": "novel", "seed": 1}},
    "no shape": {"shape": {}}, "a deep header": {"header": np.array("[" * 100_000)}, "no JSON": {"header": np.array("x")},
    "floats": {"support": np.full((2, 3, 1), 0.5)}, "numbers out of range": {"support": np.full((2, 3, 1), 10**9)},
    "numbers counted from the end": {"support": np.full((2, 3, 1), -7)}, "texts": {"support": np.array(["a"])},
}


@pytest.mark.parametrize("parts", DAMAGED_EPISODES.values(), ids=DAMAGED_EPISODES.keys())
def test_damaged_files_of_episodes_are_refused(collection, tmp_path, parts):
    protocom.episodes(collection, ways=3, queries=4, episodes=2).save(tmp_path / "episodes.npz")
    path = damaged_episodes(tmp_path / "episodes.npz", **parts)
    with pytest.raises(protocom.Error, match=r"other\.npz (is damaged|was drawn from other features)"):
        protocom.Episodes.read(path, collection)


def test_a_small_file_of_episodes_that_unpacks_to_a_hundred_megabytes_is_refused(collection, tmp_path):
    protocom.episodes(collection, ways=3, queries=4, episodes=2).save(tmp_path / "episodes.npz")
    path = damaged_episodes(tmp_path / "episodes.npz", support=np.zeros((1 << 13, 1 << 11), np.int64))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(protocom.Error, match=r"other\.npz is damaged: its members unpack to"):
        protocom.Episodes.read(path, collection)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_files_that_are_no_episodes_are_refused(collection, tmp_path, content):
    (tmp_path / "other.npz").write_bytes(content)
    with pytest.raises(protocom.Error, match=r"other\.npz is damaged: expected episodes of Episodes\.save"):
        protocom.Episodes.read(tmp_path / "other.npz", collection)


def test_damaged_results_are_refused(collection, tmp_path):
    path = tmp_path / "results.json"
    protocom.evaluate(collection, methods=["mean", "plda"], shots=1, episodes=2).save(path)
    whole = json.loads(path.read_text())
    changes = [("baseline", 3), ("baseline", "\x1b[2J"), ("results", [None]), ("results", [{}]), ("results", 5), ("differences", [{}])]
    changes += [("results", [{**whole["results"][0], name: value}]) for name in ("method", "mode", "accuracy", "ci95", "per_episode", "task")
                for value in (None, [None], {}, 10**400)]
    for name, value in changes:
        path.write_text(json.dumps({**whole, name: value}))
        with pytest.raises(protocom.Error, match=r"results\.json is (damaged|not JSON)"):
            protocom.Results.read(path)
    path.write_text("[" * 200_000)
    with pytest.raises(protocom.Error, match=r"results\.json is not JSON"):
        protocom.Results.read(path)


def test_results_come_back_from_their_file_and_from_the_command_lines(collection, tmp_path):
    results = protocom.evaluate(collection, methods=["mean", "plda"], shots=[1, "1-3"], episodes=10, unlabelled=2)
    results.save(tmp_path / "results.json")
    again = protocom.Results.read(tmp_path / "results.json")
    assert again.rows == results.rows and again.findings == results.findings
    header = again.findings["header"]
    assert (header["kind"], header["format_version"], header["program_version"]) == ("results", 1, protocom.__version__)
    assert header["command"] == "evaluate" and header["options"] == {"methods": ["mean", "plda"], "baseline": "mean"}
    assert again.findings["dataset"] == {"split": "novel", "classes": 6}
    plain = json.loads((tmp_path / "results.json").read_text())
    for part in ("results", "differences"):  # the command line's has no tasks in words
        for one in plain[part]:
            del one["task"]
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    assert protocom.Results.read(tmp_path / "plain.json").rows == results.rows
    for text, words in (("no", "is not JSON"), ("{}", "holds no results")):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(protocom.Error, match=words):
            protocom.Results.read(tmp_path / "other.json")


def test_results_become_latex(collection):
    text = protocom.evaluate(collection, methods=["mean", "plda"], shots=1, episodes=10).to_latex()
    assert text.startswith(r"\begin{tabular}{llrrl}") and text.count(r"\\") == 3 and r"accuracy \%" in text
    assert "$\\pm$" in text and "±" not in text


def test_what_a_notebook_shows_is_escaped(collection):
    rows = protocom.evaluate(collection, methods=["mean"], shots=1, episodes=5)
    rows.findings["results"][0]["method"] = rows.rows[0]["method"] = "<b>"
    assert "&lt;b&gt;" in rows._repr_html_() and "<b>" not in rows._repr_html_()
    for one in (collection, protocom.episodes(collection, ways=3, episodes=2, queries=2)):
        assert one._repr_html_().startswith("<table>")
