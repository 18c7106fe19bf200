"""Trainings from Python: the command line's results, told epoch by epoch."""
import json
import os
import subprocess

import numpy as np
import pytest

import protocom

SMALL = {"architecture": "conv4", "image_size": 24, "epochs": 2, "batch": 32, "validation_episodes": 5}


def run(program, *arguments):
    subprocess.run([program, "--quiet", "--threads", "1", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def tensors(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name != "header.json"}


def same_tensors(found, expected):
    found, expected = tensors(found), tensors(expected)
    assert found.keys() == expected.keys() and len(found) > 3
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, name)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums depend on how many threads there are."""
    before = protocom.threads()
    protocom.set_threads(1)
    yield
    protocom.set_threads(before)


@pytest.fixture(scope="module")
def world(program, tmp_path_factory):
    """images/ of drawn creatures, knowledge.npz, and backbone.npz with its features.npz by the command line."""
    folder = tmp_path_factory.mktemp("world")
    run(program, "synth", folder / "images", "--image-size", 32, "--base", 8, "--val", 5, "--novel", 5, "--images-per-class", 20)
    run(program, "pretrain", folder / "images", "--architecture", "conv4", "--image-size", 24, "--epochs", 2, "--batch", 32,
        "--val-episodes", 5, "--out", folder / "backbone.npz")
    run(program, "extract", folder / "images", "--backbone", folder / "backbone.npz", "--out", folder / "features.npz")
    run(program, "knowledge", "table", "--csv", folder / "images" / "attributes.csv", "--split",
        folder / "images" / "split.csv", "--out", folder / "knowledge.npz")
    return folder


def test_pretrain_tells_every_epoch_and_makes_the_command_lines_encoder(world, tmp_path):
    told = []
    made = protocom.pretrain(world / "images", tmp_path / "mine.npz", **SMALL, on_epoch=told.append)
    same_tensors(tmp_path / "mine.npz", world / "backbone.npz")
    assert [one["epoch"] for one in told] == [1, 2] and told == made.epochs
    assert {"loss", "accuracy", "learning_rate", "validation_accuracy"} <= told[0].keys()
    assert made.path == str(tmp_path / "mine.npz") and made.kept_epoch in (1, 2)
    assert made._repr_html_().count("<tr>") == 3 and "of 2 is kept" in repr(made)


def test_what_a_listener_raises_ends_a_training_that_can_go_on(world, tmp_path):
    class Enough(Exception):
        pass

    def listen(epoch):
        raise Enough(str(epoch["epoch"]))

    with pytest.raises(Enough, match="^1$"):
        protocom.pretrain(world / "images", tmp_path / "mine.npz", **SMALL, on_epoch=listen)
    with pytest.raises(protocom.Error, match="resume"):
        protocom.pretrain(world / "images", tmp_path / "mine.npz", **SMALL)
    told = []
    made = protocom.pretrain(world / "images", tmp_path / "mine.npz", **SMALL, resume=True, on_epoch=told.append)
    assert [one["epoch"] for one in told] == [2] and [one["epoch"] for one in made.epochs] == [1, 2]
    same_tensors(tmp_path / "mine.npz", world / "backbone.npz")


def test_complete_and_metatrain_make_the_command_lines_models(program, world, tmp_path):
    run(program, "complete", "--features", world / "features.npz", "--knowledge", world / "knowledge.npz", "--epochs", 2,
        "--batches", 5, "--val-episodes", 5, "--out", tmp_path / "expected.npz")
    told = []
    made = protocom.complete(world / "features.npz", knowledge=world / "knowledge.npz", out=tmp_path / "model.npz", epochs=2,
                             batches=5, validation_episodes=5, on_epoch=told.append)
    same_tensors(tmp_path / "model.npz", tmp_path / "expected.npz")
    assert [one["epoch"] for one in told] == [1, 2] == [one["epoch"] for one in made.epochs]

    shape = ["--n-way", 5, "--n-query", 3, "--epochs", 1, "--batches", 2, "--episodes", 2, "--val-episodes", 5]
    run(program, "metatrain", "--images", world / "images", "--backbone", world / "backbone.npz", "--knowledge",
        world / "knowledge.npz", "--model", tmp_path / "model.npz", "--out", tmp_path / "expected-joint.npz", *shape)
    joint = protocom.metatrain(world / "images", tmp_path / "joint.npz", backbone=world / "backbone.npz",
                               knowledge=world / "knowledge.npz", model=tmp_path / "model.npz", ways=5, queries=3, epochs=1,
                               batches=2, episodes=2, validation_episodes=5)
    same_tensors(joint.path, tmp_path / "expected-joint.npz")
    same_tensors(joint.model, tmp_path / "expected-joint.npz.model.npz")
    mean = protocom.metatrain(world / "images", tmp_path / "mean.npz", backbone=world / "backbone.npz", head="mean", ways=5,
                              queries=3, epochs=1, batches=2, episodes=2, validation_episodes=0)
    assert mean.model is None and os.path.exists(mean.path)


def test_the_result_is_a_data_frame_and_a_plot(world, tmp_path):
    with open(tmp_path / "a.npz.jsonl", "w") as log:
        for epoch in (1, 2):
            log.write(json.dumps({"epoch": epoch, "loss": 1 / epoch, "validation": {"mean": 50.0}}) + "\n")
    from protocom._training import Training

    made = Training(tmp_path / "a.npz", {"kept_epoch": 2})
    pytest.importorskip("matplotlib").use("agg")
    assert len(made.plot().lines) == 2
    pytest.importorskip("pandas")
    assert list(made.to_pandas().columns) == ["loss", "validation.mean"] and made.to_pandas().loc[2, "loss"] == 0.5


def test_misuse_is_one_sentence(world, tmp_path):
    out = tmp_path / "out.npz"
    calls = {
        "epochs must be a whole number of at least 1, found 0": lambda: protocom.pretrain(world / "images", out, epochs=0),
        "learning_rate must be a number above 0, found 'fast'": lambda: protocom.pretrain(world / "images", out, learning_rate="fast"),
        "resnet13": lambda: protocom.pretrain(world / "images", out, architecture="resnet13"),
        "none": lambda: protocom.pretrain(tmp_path / "none", out),
        "needs model and knowledge": lambda: protocom.metatrain(world / "images", out, backbone=world / "backbone.npz"),
        "leave out model": lambda: protocom.metatrain(
            world / "images", out, backbone=world / "backbone.npz", head="mean", model="a.npz"),
        "completion training needs knowledge": lambda: protocom.complete(world / "features.npz", knowledge=None, out=out),
    }
    for words, call in calls.items():
        with pytest.raises(protocom.Error) as caught:
            call()
        assert words in str(caught.value) and "\n" not in str(caught.value), words
    assert not out.exists()
