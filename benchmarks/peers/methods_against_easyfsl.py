#!/usr/bin/env python3
"""Runs methods of easyfsl (https://github.com/sicara/easy-few-shot-learning) on an episode list that protocom saved, and compares
the accuracy of every episode and the processor time of one thread with protocom's.

  protocom evaluate --features features.npz --k-shot 1 --episodes 100 --methods METHODS --speed \\
      --save-episodes episodes.json --json ours.json --predictions ours.csv
  python3 benchmarks/peers/methods_against_easyfsl.py --easyfsl CHECKOUT --features features.npz --episodes-file episodes.json \\
      --ours ours.json --predictions ours.csv

METHODS are those of PEERS, separated by commas. It needs a checkout of easyfsl and a Python with PyTorch. Features are centred on the
base classes and brought to unit length, as easyfsl's feature_centering and feature_normalization do and as transform=cl2n does here.
"""
import importlib
import pathlib

import torch

from checkouts import bare_package
from peer_episodes import Peer, compare


def easyfsl_module(checkout, name):
    """A module of easyfsl's methods without its package's __init__, which imports backbones that are not needed."""
    root = pathlib.Path(checkout) / "easyfsl"
    bare_package("easyfsl", root)
    bare_package("easyfsl.methods", root / "methods")
    return importlib.import_module("easyfsl.methods." + name)


def squares_of_unit_roots(features):
    root = (features.clamp_min(0) + 1e-6).sqrt()
    return torch.nn.functional.normalize(root, dim=-1).square()


def answers_of(cls, tasks, given=torch.Tensor.clone, **arguments):
    answers = []
    for support, labels, query in zip(given(tasks.support), tasks.support_labels, given(tasks.query)):
        method = cls(**arguments)
        with torch.no_grad():
            method.process_support_set(support, labels)
            answers.append(method(query).argmax(1))
    return torch.stack(answers)


def centred(module, name):
    def run(checkout, tasks):
        cls = getattr(easyfsl_module(checkout, module), name)
        return answers_of(cls, tasks, feature_centering=tasks.features.centre, feature_normalization=2)
    return run


def pt_map(checkout, tasks):
    return answers_of(easyfsl_module(checkout, "pt_map").PTMAP, tasks, squares_of_unit_roots, fine_tuning_steps=20)


# Those that are not exact differ, and are compared within the noise of the episodes only: SimpleShot answers by cosines there, which are the
# same with one image only; LaplacianShot rectifies as bd-cspn's variant=sum does there; TIM's logits are cosines there; PT-MAP neither
# centres there nor brings to unit length, without which all of exp(-10 d^2) underflows on large features: it gets features whose square root
# has unit length.
PEERS = [
    Peer("simple-shot", centred("simple_shot", "SimpleShot"), exact=False),
    Peer("bd-cspn:variant=sum:scale=1", centred("bd_cspn", "BDCSPN")),
    Peer("laplacian-shot:queries=unmoved", centred("laplacian_shot", "LaplacianShot"), exact=False),
    Peer("tim:variant=gd:temperature=10:cross_entropy=1:steps=50:transform=cl2n", centred("tim", "TIM"), exact=False),
    Peer("pt-map:transform=power", pt_map, exact=False),
]


if __name__ == "__main__":
    compare(__doc__, {"easyfsl": PEERS})
