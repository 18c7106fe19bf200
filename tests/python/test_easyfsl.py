"""The settings under which methods answer as easyfsl's classes, against easyfsl where it is installed."""
import numpy as np
import pytest

import protocom
from conftest import clusters


def test_presets_are_methods_by_their_names_in_easyfsl(collection):
    results = protocom.evaluate(collection, methods=["mean", "easyfsl:bd-cspn", "easyfsl:tim:steps=3"], shots=1, episodes=5)
    assert [one["method"] for one in results.rows][1] == protocom.make(protocom.easyfsl.presets["bd-cspn"], base=collection.of("base")).fit(
        *collection.of("novel")).method_
    np.testing.assert_array_equal(results.accuracies("easyfsl:bd-cspn"), results.accuracies("bd-cspn:variant=sum:scale=1"))
    x, y = collection.of("novel")
    for name in protocom.easyfsl.presets:
        assert protocom.make("easyfsl:" + name).fit(x, y).predict(x[:3]).shape == (3,)
    for call in (lambda: protocom.make("easyfsl:feat"), lambda: protocom.evaluate(collection, methods=["easyfsl:feat"])):
        with pytest.raises(protocom.UsageError, match="unknown preset 'easyfsl:feat': expected easyfsl:NAME, NAME one of prototypical-networks"):
            call()


EQUAL = {"prototypical-networks": "PrototypicalNetworks", "simple-shot": "SimpleShot", "bd-cspn": "BDCSPN",
         "laplacian-shot": "LaplacianShot", "finetune": "Finetune", "tim": "TIM",
         "transductive-finetuning": "TransductiveFinetuning"}


@pytest.mark.parametrize("shots", [1, 5])
@pytest.mark.parametrize("name", EQUAL)
def test_answers_are_easyfsls_episode_by_episode(name, shots):
    try:
        import easyfsl.methods
        import torch
    except ImportError as error:  # none, or another PyTorch than the LibTorch that a test before has loaded
        pytest.skip(str(error))

    x, y = clusters(9, 30, d=24, seed=3, scatter=1.6)
    drawn = protocom.episodes(x, y, shots=shots, queries=10, episodes=40)
    unit = {} if name in ("prototypical-networks", "simple-shot") else {"feature_normalization": 2}
    for one in drawn:
        support, query = (x[np.array(one[part]).ravel()] for part in ("support", "query"))
        theirs = getattr(easyfsl.methods, EQUAL[name])(**unit)
        theirs.process_support_set(torch.from_numpy(support), torch.arange(5).repeat_interleave(shots))
        expected = theirs(torch.from_numpy(query)).argmax(1).numpy()
        ours = protocom.make("easyfsl:" + name).fit(support, np.repeat(np.arange(5), shots)).predict(query)
        np.testing.assert_array_equal(ours, expected)


def test_episodes_of_easyfsls_sampler_are_the_ones_it_draws(collection, monkeypatch):
    try:
        from easyfsl.samplers import TaskSampler
        import torch
    except ImportError as error:
        pytest.skip(str(error))

    monkeypatch.setattr(torch.utils.data.Sampler, "__init__", lambda self, data_source=None: None)  # newer ones have no data_source
    x, y = collection.of("novel")
    novel = protocom.FeatureSet(x, y)

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return len(novel)

        def __getitem__(self, i):
            return i, int(novel.labels[i])

        def get_labels(self):
            return novel.labels.tolist()

    sampler = TaskSampler(Rows(), n_way=3, n_shot=2, n_query=4, n_tasks=6)
    drawn = protocom.Episodes.of_sampler(novel, sampler)
    assert (len(drawn), drawn.task) == (6, "3-way 2-shot")
    assert all(len({int(novel.labels[row]) for row in rows}) == 1 for one in drawn for rows in (*one["support"], *one["query"]))
    assert protocom.evaluate(novel, methods=["plda"], episodes=drawn).accuracies("plda").shape == (6,)
