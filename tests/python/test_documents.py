"""Every Python block of docs/python.md runs, one after the other."""
import os
import pathlib
import re

import numpy as np

from conftest import clusters


def test_the_blocks_of_the_page_run(task, collection, photos, clip_folder, tmp_path, monkeypatch):
    page = (pathlib.Path(os.environ["PROTOCOM_DOCUMENTS"]) / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) >= 7
    monkeypatch.chdir(tmp_path)
    for name in ("encoder.pt", "my-photos", "holiday"):
        os.symlink(photos / name, tmp_path / name)
    os.symlink(clip_folder, tmp_path / "clip-folder")
    x, y, q, _ = task
    (tmp_path / "split.csv").write_text("class,split\nred,base\ngreen,base\nblue,base\n")  # for a training
    features, labels = clusters(8, 30, seed=4)
    labels = labels + 100  # other classes than those of the collection
    (x_base, y_base), (x_val, y_val) = collection.of("base"), collection.of("val")
    names = {"X": x, "y": y, "Q": q, "X_base": x_base, "y_base": y_base, "X_val": x_val, "y_val": y_val,
             "features": features, "labels": labels, "numbers": np.unique(y, return_inverse=True)[1]}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["scores"].shape == (75, 5)
