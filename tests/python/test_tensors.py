"""Arrays of other libraries, and features by a network of the user's own."""
import os
import pathlib
import re

import numpy as np
import pytest

import protocom
from conftest import clusters
from protocom import _arrays

DOCUMENTS = pathlib.Path(os.environ.get("PROTOCOM_DOCUMENTS", pathlib.Path(__file__).parents[2] / "docs"))


@pytest.fixture(scope="module")
def torch():
    try:
        import torch
    except ImportError as error:  # none, or another PyTorch than the LibTorch that a test before has loaded
        pytest.skip(str(error))
    return torch


class Shared:
    """What has its memory by DLPack alone."""

    def __init__(self, values, device=(1, 0)):
        self._values, self._device = values, device

    def __dlpack__(self, **asked):
        if self._device[0] == 2:
            raise BufferError("on another device")
        return self._values.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self._device


def test_what_shares_its_memory_is_not_copied(task):
    x, y, q, _ = task
    assert np.shares_memory(_arrays.rows(Shared(q)), q)
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA().fit(Shared(x), y).predict_proba(Shared(q)), expected)


def test_what_lies_on_a_device_is_refused_in_one_sentence(task):
    x, y, _, _ = task
    with pytest.raises(protocom.TypeRefused, match=r"X is on a device \(DLPack's kind 2, number 3\): copy it to the CPU"):
        protocom.PLDA().fit(Shared(x, (2, 3)), y)


class Elsewhere(Shared):
    """On a GPU, by a library that copies to the processor if asked to."""

    def __init__(self, values):
        super().__init__(values, (2, 0))

    def __dlpack__(self, *, dl_device=None, copy=None, **asked):
        if dl_device != (1, 0):
            raise BufferError("on another device")
        return self._values.copy().__dlpack__()


def test_what_lies_on_a_device_is_copied_by_its_library(task):
    x, y, q, _ = task
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        with pytest.raises(protocom.TypeRefused, match="copy it to the CPU first"):
            protocom.PLDA().fit(Elsewhere(x), y)
        return
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA().fit(Elsewhere(x), y).predict_proba(Elsewhere(q)), expected)


class WithoutCopies(Shared):
    """As CuPy's arrays: NumPy's way is there, and refuses."""

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def test_what_refuses_to_be_copied_is_refused_in_one_sentence(task):
    x, y, q, _ = task
    classifier = protocom.PLDA().fit(x, y)
    with pytest.raises(protocom.TypeRefused, match=r"X is on a device \(DLPack's kind 2, number 0\): copy it to the CPU first"):
        classifier.predict(WithoutCopies(q, (2, 0)))


def test_pinned_memory_is_read_in_its_place(task):
    assert np.shares_memory(_arrays.rows(Shared(task[2], (3, 0))), task[2])


def test_tensors_on_the_processor_are_not_copied(task, torch):
    x, y, q, _ = task
    tensor = torch.from_numpy(q)
    assert np.shares_memory(_arrays.rows(tensor), q) and np.shares_memory(_arrays.rows(tensor.clone().requires_grad_()), q) is False
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA().fit(torch.from_numpy(x).requires_grad_(), y).predict_proba(tensor), expected)
    near = protocom.PLDA().fit(x, y).predict_proba(tensor.bfloat16())
    assert (near.argmax(1) == expected.argmax(1)).mean() > 0.9


class OnGpu:
    """A tensor that lies elsewhere until it is requested."""

    def __init__(self, values):
        self._values = values

    def detach(self):
        return self

    def cpu(self):
        return self._values


def test_tensors_on_a_gpu_are_copied_to_the_processor(task):
    x, y, q, _ = task
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA().fit(OnGpu(x), y).predict_proba(OnGpu(q)), expected)


# -- FeatureSet.extract


def images_and_labels():
    x, y = clusters(4, 6, d=8)
    return x.reshape(-1, 2, 2, 2), y


def batches(images, labels, size=5):
    return [(images[i : i + size], labels[i : i + size]) for i in range(0, len(images), size)]


def test_features_come_from_any_function_and_loader():
    images, labels = images_and_labels()
    made = protocom.FeatureSet.extract(lambda batch: batch.reshape(len(batch), -1) * 2, batches(images, labels), "base")
    np.testing.assert_array_equal(made.features, images.reshape(-1, 8) * 2)
    assert made.split == ["base"] * 4 and made.labels.tolist() == labels.tolist()
    named = protocom.FeatureSet.extract(lambda batch: batch.reshape(len(batch), -1), batches(images, labels), names=list("abcd"))
    assert named.names == list("abcd")
    words = np.array(list("wxyz"))[labels]
    assert protocom.FeatureSet.extract(lambda batch: batch.reshape(len(batch), -1), batches(images, words.tolist())).names == list("wxyz")


def test_a_loader_may_reuse_the_memory_of_its_batches():
    images, labels = images_and_labels()
    rows, numbers = np.empty((5, *images.shape[1:]), images.dtype), np.empty(5, labels.dtype)

    def reused():
        for i in range(0, len(images) // 5 * 5, 5):
            rows[:], numbers[:] = images[i : i + 5], labels[i : i + 5]
            yield rows, numbers

    made = protocom.FeatureSet.extract(lambda batch: batch.reshape(len(batch), -1), reused())
    assert made.labels.tolist() == labels[: len(labels) // 5 * 5].tolist()


def test_features_and_associations_cannot_be_written_to():
    made = protocom.FeatureSet(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="read-only"):
        made.features[0, 0] = 7
    knowledge = protocom.Knowledge({"ant": ["small"], "bee": ["small", "yellow"]})
    with pytest.raises(ValueError, match="read-only"):
        knowledge.association[0, 0] = 7


def test_methods_whose_default_centres_are_evaluated_without_base_classes():
    draw = np.random.default_rng(1)
    labels = np.repeat(np.arange(5), 8)
    features = draw.normal(size=(40, 6)) + 3 * np.eye(5, 6)[labels]
    found = protocom.evaluate(features, labels, methods=["knn", "simple-shot"], ways=3, shots=1, queries=2, episodes=5)
    assert found.accuracies("knn").shape == (5,) and found.accuracies("simple-shot").shape == (5,)


def test_a_module_of_pytorch_is_asked_in_eval_mode_and_is_left_as_it_was(torch):
    images, labels = images_and_labels()
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))
    module[1].eval()
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    dataset.classes = ["ant", "bee", "cat", "dog"]
    made = protocom.FeatureSet.extract(module, torch.utils.data.DataLoader(dataset, batch_size=7))
    assert [one.training for one in module.modules()] == [True, True, False, True]
    assert made.names == dataset.classes and len(made) == len(labels)
    expected = images.reshape(-1, 8) @ module[2].weight.detach().numpy().T + module[2].bias.detach().numpy()
    np.testing.assert_allclose(made.features, expected, rtol=1e-5, atol=1e-5)
    results = protocom.evaluate(made, methods=["mean"], ways=3, shots=1, queries=2, episodes=5)
    assert results.accuracies("mean").shape == (5,)


@pytest.mark.parametrize("function, loader, words", [
    (lambda batch: batch, None, r"features of batch 0 must be numbers \[b, d\], found float32 \[5, 2, 2, 2\]"),
    (lambda batch: batch.reshape(len(batch), -1)[1:], None, r"batch 0 has 5 labels and features \[4, 8\]"),
    (lambda batch: batch, [], "the loader is empty: expected at least one batch"),
    (lambda batch: batch, [np.ones((2, 3))], r"batch 0 of the loader must be \(images, labels\)"),
])
def test_what_gives_no_features_is_refused(function, loader, words):
    with pytest.raises(protocom.Error, match=words) as caught:
        protocom.FeatureSet.extract(function, batches(*images_and_labels()) if loader is None else loader)
    assert "\n" not in str(caught.value)


# -- easyfsl's classifiers are modules


def test_a_classifier_is_a_module_with_its_backbone(torch, task):
    x, y, q, _ = task
    numbers = np.unique(y, return_inverse=True)[1]
    backbone = torch.nn.Linear(x.shape[1], 6)
    plain = protocom.easyfsl.FewShotClassifier("plda", backbone)
    module = protocom.easyfsl.FewShotClassifier("plda", backbone).as_module()
    assert isinstance(module, torch.nn.Module) and len(list(module.parameters())) == 2
    module.to("cpu").eval()
    with torch.no_grad():
        plain.process_support_set(torch.from_numpy(x), torch.from_numpy(numbers))
    module.process_support_set(torch.from_numpy(x), torch.from_numpy(numbers))
    scores = module(torch.from_numpy(q))
    assert isinstance(scores, torch.Tensor) and not scores.requires_grad and scores.shape == (len(q), 5)
    with torch.no_grad():
        torch.testing.assert_close(scores, plain(torch.from_numpy(q)))


def test_a_head_of_pytorch_is_trained_on_the_same_episodes(torch, collection):
    class Head:
        """Cosines with class means, in a space that is trained on episodes of the base classes."""

        def fit(self, base):
            torch.manual_seed(0)
            rows = torch.from_numpy(base[0])
            self.map = torch.nn.Linear(rows.shape[1], rows.shape[1], bias=False)
            step = torch.optim.Adam(self.map.parameters(), 0.01)
            self.losses = []
            for one in protocom.episodes(*base, "base", evaluated="base", ways=4, shots=1, queries=5, episodes=60):
                support, query = (rows[torch.tensor(one[part])] for part in ("support", "query"))
                scores = self.scores(support.flatten(0, 1), torch.arange(4), query.flatten(0, 1))
                loss = torch.nn.functional.cross_entropy(10 * scores, torch.arange(4).repeat_interleave(5))
                step.zero_grad()
                loss.backward()
                step.step()
                self.losses.append(loss.item())

        def scores(self, support, labels, query):
            support, query = (torch.nn.functional.normalize(self.map(one), dim=1) for one in (support, query))
            means = torch.stack([support[labels == k].mean(0) for k in range(int(labels.max()) + 1)])
            return query @ torch.nn.functional.normalize(means, dim=1).T

        def __call__(self, support, labels, query):
            return self.scores(*map(torch.from_numpy, (support, labels, query)))  # with its graph: it is taken off

    head = Head()
    head.fit(collection.of("base"))
    assert np.mean(head.losses[-20:]) < np.mean(head.losses[:20])
    results = protocom.evaluate(collection, methods=["mean", Head], ways=4, shots=1, queries=5, episodes=40)
    assert results.accuracies(Head).shape == (40,) and results.rows[1]["accuracy"] > 50


def test_the_head_of_the_document_learns_which_axes_tell_classes_apart(torch, tmp_path, monkeypatch):
    (block,) = (one for one in re.findall(r"```py\n(.*?)```", (DOCUMENTS / "python.md").read_text(), re.S) if "class Head" in one)
    x, y = clusters(18, 24, seed=2)
    noise = 3 * np.random.default_rng(5).normal(size=x.shape).astype(np.float32)
    features = protocom.FeatureSet(np.hstack([x, noise]), y, ["base"] * 12 + ["novel"] * 6)
    features.save(tmp_path / "features.npz")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    given = {"protocom": protocom, "torch": torch, "np": np}
    exec(compile(block, "docs/python.md", "exec"), given)  # pylint: disable=exec-used

    class Untrained(given["Head"]):
        def fit(self, base):
            self.map = torch.nn.Linear(base[0].shape[1], 64, bias=False)

    untrained = protocom.evaluate(features, methods=["mean", Untrained], shots=1)
    assert np.mean(given["results"].accuracies("Head") - untrained.accuracies(Untrained)) > 5, "points, on the same episodes"


def test_arrays_of_jax_are_taken(task):
    jax = pytest.importorskip("jax")
    x, y, q, _ = task
    expected = protocom.PLDA().fit(x, y).predict_proba(q)
    np.testing.assert_array_equal(protocom.PLDA().fit(jax.numpy.asarray(x), y).predict_proba(jax.numpy.asarray(q)), expected)
    held = jax.numpy.asarray(q)
    assert np.shares_memory(_arrays.rows(held), np.from_dlpack(held)), "without a copy"

    def nearest(support, labels, query):
        return -jax.numpy.linalg.norm(jax.numpy.asarray(query)[:, None] - support, axis=2)

    rows, labels = clusters(5, 19)
    found = protocom.evaluate(rows, labels, methods=["mean", nearest], ways=5, shots=1, queries=5, episodes=4)
    assert found.accuracies(nearest).shape == (4,)


def test_the_networks_of_the_document_give_features(torch, monkeypatch):
    """The block of docs/python.md with CLIP and DINOv2, small ones with random weights."""
    transformers, timm = pytest.importorskip("transformers"), pytest.importorskip("timm")
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    clip = transformers.CLIPConfig(text_config={**tower, "vocab_size": 100, "bos_token_id": 0, "eos_token_id": 1},
                                   vision_config={**tower, "image_size": 32, "patch_size": 8}, projection_dim=24)
    create = timm.create_model
    monkeypatch.setattr(transformers.CLIPModel, "from_pretrained", lambda name: transformers.CLIPModel(clip))
    monkeypatch.setattr(timm, "create_model", lambda name, pretrained, **more: create(name, pretrained=False, img_size=28, **more))
    (block,) = (one for one in re.findall(r"```py\n(.*?)```", (DOCUMENTS / "python.md").read_text(), re.S) if "CLIPModel" in one)
    labels = torch.arange(24) % 6
    small, large = (torch.utils.data.TensorDataset(torch.rand(24, 3, side, side), labels) for side in (28, 32))
    given = {"protocom": protocom, "torch": torch, "transformers": transformers, "timm": timm, "loader": torch.utils.data.DataLoader(large, 7),
             "folder": small, "other_photos": torch.utils.data.DataLoader(small, 24)}
    exec(compile(block, "docs/python.md", "exec"), given)  # pylint: disable=exec-used
    assert given["X"].shape == (24, 24) and given["made"].features.shape == (24, 384) and given["space"].n_features == 384
