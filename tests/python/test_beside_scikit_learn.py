"""The table beside scikit-learn: its command runs, and the picture is that of the table."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(os.environ.get("PROTOCOM_DOCUMENTS", pathlib.Path(__file__).parents[2] / "docs")).parent / "benchmarks" / "beside_scikit_learn"


def test_the_picture_is_that_of_the_table(tmp_path):
    subprocess.run([sys.executable, str(HERE / "picture"), str(HERE / "table.json"), str(tmp_path / "picture.svg")], check=True)
    assert (tmp_path / "picture.svg").read_text() == (HERE.parents[1] / "docs/images/beside-scikit-learn.svg").read_text()
    rows = json.loads((HERE / "table.json").read_text())["rows"]
    assert {"protocom.PLDA()"} < {one["classifier"] for one in rows} and {one["shots"] for one in rows} == {1, 5}
    assert all(0 <= one["accuracy"] <= 100 and one["log_loss"] > 0 and 0 <= one["ece"] <= 100 and one["accuracy_ci95"] > 0 for one in rows)


def test_the_page_has_the_rows_of_the_table(tmp_path):
    subprocess.run([sys.executable, str(HERE / "rows"), str(HERE / "table.json"), str(tmp_path / "rows.json")], check=True)
    assert (tmp_path / "rows.json").read_text() == (HERE.parents[1] / "docs/results/data/scikit-learn-defaults.json").read_text()
    made, rows = json.loads((tmp_path / "rows.json").read_text())["rows"], json.loads((HERE / "table.json").read_text())["rows"]
    own = [one for one in rows if (one["classifier"], one["shots"]) == ("protocom.PLDA()", 5)]
    assert made[5][:3] == ["mean of 3", "`PLDA()`", "5"] and float(made[5][3]) == pytest.approx(sum(one["accuracy"] for one in own) / 3, abs=0.05)
    assert len(made) == len(rows) + len({(one["classifier"], one["shots"]) for one in rows})


def test_the_command_measures_all_that_can_be_fitted(collection, tmp_path):
    pytest.importorskip("sklearn")
    collection.save(tmp_path / "features.npz")
    done = subprocess.run([sys.executable, str(HERE / "run"), f"{tmp_path}/features.npz=base", "--shots", "1", "5", "--seeds", "2", "--out",
                           str(tmp_path / "table.json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = {(one["classifier"], one["shots"]): one for one in json.loads((tmp_path / "table.json").read_text())["rows"]}
    own = rows["protocom.PLDA()", 5]
    assert (own["classes"], own["asked"], own["split"]) == (12, 12 * 19, "base")
    assert own["accuracy"] > rows["protocom.PLDA()", 1]["accuracy"] > 100 / 12
    assert len([one for one in rows if one[1] == 5]) == 7


def test_the_command_compares_seconds(tmp_path):
    pytest.importorskip("sklearn")
    done = subprocess.run([sys.executable, str(HERE / "run"), "--fits", "60x3", "40x20", "--seeds", "1", "--json", str(tmp_path / "rows.json")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [one[0] for one in rows[::3]] == ["fit, 60 images of 3 classes", "fit, 40 images of 20 classes"]
    assert len(rows) == 6 and all(float(seconds) >= 0 for one in rows for seconds in one[1:])
