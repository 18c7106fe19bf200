"""https://github.com/RL-VIG/LibFewShot: its heads that take features. RFS is a logistic regression; Baseline++ begins at random."""
import importlib
import pathlib
import types

import torch
import yaml
from torch.nn.functional import normalize

from checkouts import bare_package, stub
from peer_episodes import Peer


def module(checkout, name):
    """A module of its models without the packages' __init__, which import what is not needed."""
    root = pathlib.Path(checkout) / "core"
    bare_package("core", root)
    bare_package("core.model", root / "model", DistillKLLoss=lambda T: None)
    bare_package("core.model.metric", root / "model" / "metric")
    bare_package("core.model.finetuning", root / "model" / "finetuning")
    stub("core.utils", accuracy=None, ModelType=types.SimpleNamespace(ABSTRACT=0, METRIC=1, FINETUNING=2))
    return importlib.import_module("core.model." + name)


def prototypes(checkout, tasks, name, layer, mode):
    support, _ = tasks.by_class()
    return getattr(module(checkout, name), layer)()(tasks.query, support, tasks.ways, tasks.shots, tasks.queries, mode=mode).argmax(2)


def setting(checkout, name):
    values = yaml.safe_load((pathlib.Path(checkout) / "config" / name).read_text())["classifier"]["kwargs"]
    rate = values["inner_param"]["inner_optim"]["kwargs"]
    rate["lr"] = float(rate["lr"])  # 1e-2 is a text to YAML 1.1; its own loader takes it for a number
    return values


def rfs(checkout, tasks):
    cls = module(checkout, "finetuning.rfs_model").RFSModel
    model = cls(tasks.support.size(2), tasks.ways, emb_func=torch.nn.Identity(), way_num=tasks.ways)
    answers = [model.set_forward_adaptation(support, labels).predict(normalize(query, dim=1).numpy())
               for support, labels, query in zip(tasks.support, tasks.support_labels, tasks.query)]
    return torch.tensor(answers)


def baseline_pp(checkout, tasks):
    torch.manual_seed(1)
    cls = module(checkout, "finetuning.baseline_plus").BaselinePlus
    values = {**setting(checkout, "baseline++.yaml"), "feat_dim": tasks.support.size(2)}
    model = cls(**values, emb_func=torch.nn.Identity(), way_num=tasks.ways, device="cpu")
    answers = [model.set_forward_adaptation(*given).argmax(1) for given in zip(tasks.support, tasks.support_labels, tasks.query)]
    return torch.stack(answers)


# L-BFGS stops at its tolerance in RFS, so borderline answers may differ.
PEERS = [
    Peer("proto-net", lambda checkout, tasks: prototypes(checkout, tasks, "metric.proto_net", "ProtoLayer", "euclidean")),
    Peer("mean", lambda checkout, tasks: prototypes(checkout, tasks, "metric.meta_baseline", "ProtoLayer_temperature", "cos_sim")),
    Peer("logistic-regression", rfs, exact=False),
    Peer("baseline-pp", baseline_pp, exact=False),
]
