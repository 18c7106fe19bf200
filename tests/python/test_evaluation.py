import json
import subprocess

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
    first, second = (protocom.evaluate(collection, methods=["plda"], baseline="plda", fitted=tmp_path / name, episodes=20)
                     for name in ("a.npz", "b.npz"))
    assert first.findings["results"] == second.findings["results"]


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
    assert "exactly the features of another one" in caplog.text
