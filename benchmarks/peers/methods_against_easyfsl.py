#!/usr/bin/env python3
"""Runs methods of easyfsl (https://github.com/sicara/easy-few-shot-learning) on an episode list that protocom saved, and compares
the accuracy of every episode and the processor time of one thread with protocom's.

  protocom evaluate --features features.npz --k-shot 1 --episodes 100 --methods METHODS --speed \\
      --save-episodes episodes.json --json ours.json
  python3 benchmarks/peers/methods_against_easyfsl.py --easyfsl CHECKOUT --features features.npz --episodes-file episodes.json \\
      --ours ours.json

METHODS are the keys of PEERS, separated by commas. It needs a checkout of easyfsl and a Python with PyTorch. Features are centred on the base classes and brought to unit length, as
easyfsl's feature_centering and feature_normalization do and as transform=cl2n does here.
"""
import argparse
import importlib
import pathlib
import sys
import time
import types

import numpy
import torch

from peer_episodes import Features, load_episodes, load_results, report

# protocom's method -> easyfsl's class, module and arguments. Beside those of EXACT the two differ, and are compared within the
# noise of the episodes only: LaplacianShot rectifies as bd-cspn's variant=sum does there, TIM's logits are cosines there, and
# PT-MAP neither centres there nor brings to unit length, without which all of exp(-10 d^2) underflows on large features: it gets
# features whose square root has unit length.
TIM = "tim:variant=gd:temperature=10:cross_entropy=1:steps=50:transform=cl2n"
PEERS = {
    "simple-shot": ("simple_shot", "SimpleShot", {}),
    "bd-cspn:variant=sum:scale=1": ("bd_cspn", "BDCSPN", {}),
    "laplacian-shot:neighbours=3": ("laplacian_shot", "LaplacianShot", {}),
    TIM: ("tim", "TIM", {}),
    "pt-map:transform=power": ("pt_map", "PTMAP", {"fine_tuning_steps": 20}),
}
EXACT = ("simple-shot", "bd-cspn:variant=sum:scale=1")


def load_easyfsl(checkout):
    """easyfsl's method modules without its package's __init__, which imports backbones that are not needed."""
    root = pathlib.Path(checkout) / "easyfsl"
    for name, folder in (("easyfsl", root), ("easyfsl.methods", root / "methods")):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return lambda module: importlib.import_module("easyfsl.methods." + module)


def squares_of_unit_roots(features):
    root = (features.clamp_min(0) + 1e-6).sqrt()
    return torch.nn.functional.normalize(root, dim=1).square()


def run(easyfsl, peer, features, episodes):
    module, name, arguments = peer
    cls = getattr(easyfsl(module), name)
    centre = features.base.mean(0)
    rows = features.rows
    accuracies = []
    start = time.process_time()
    for episode in episodes:
        support = [rows[i] for images in episode["support"] for i in images]
        labels = torch.tensor([k for k, images in enumerate(episode["support"]) for _ in images])
        query = [rows[i] for images in episode["query"] for i in images]
        truth = torch.tensor([k for k, images in enumerate(episode["query"]) for _ in images])
        scaled = {} if name == "PTMAP" else {"feature_centering": centre, "feature_normalization": 2}
        given = squares_of_unit_roots if name == "PTMAP" else torch.Tensor.clone
        method = cls(**arguments, **scaled)
        with torch.no_grad():
            method.process_support_set(given(features.table[support]), labels)
            accuracies.append((method(given(features.table[query])).argmax(1) == truth).float().mean().item())
    return numpy.array(accuracies), (time.process_time() - start) / len(episodes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--easyfsl", required=True, help="a checkout")
    for name in ("features", "episodes-file", "ours"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    easyfsl = load_easyfsl(options.easyfsl)
    features = Features(options.features)
    episodes = load_episodes(options.episodes_file)
    results = load_results(options.ours)
    failed = False
    for label, peer in PEERS.items():
        if label not in results:
            continue
        apart = report(results[label], *run(easyfsl, peer, features, episodes), label)
        failed |= label in EXACT and apart > 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
