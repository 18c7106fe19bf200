#!/usr/bin/env python3
"""Runs the published code of transductive methods on an episode list that protocom saved, and compares the accuracy of every episode
and the processor time of one thread with protocom's.

  protocom evaluate --features features.npz --k-shot 1 --episodes 60 --methods METHODS --speed \\
      --save-episodes episodes.json --json ours.json
  python3 benchmarks/peers/methods_against_official.py --realistic CHECKOUT --paddle CHECKOUT --ilpc CHECKOUT --bavardage CHECKOUT \\
      --features features.npz --episodes-file episodes.json --ours ours.json

The checkouts, any of them: https://github.com/oveilleux/Realistic_Transductive_Few_Shot (alpha-TIM's authors, with the code of SimpleShot,
BD-CSPN, LaplacianShot, TIM and PT-MAP), SegoleneMartin/PADDLE, MichalisLazarou/iLPC, yhu01/BAVARDAGE. METHODS are the keys of PEERS,
separated by commas; episodes are balanced, with one number of shots. Settings are those of the checkouts' own configurations for
mini-ImageNet, where there are any, else the programs' defaults, but iLPC's neighbours, of which ours takes 15. It needs a Python with PyTorch, SciPy and scikit-learn. What the checkouts import for
images, plots, progress or a GPU is replaced by stubs.
"""
import argparse
import importlib
import logging
import os
import pathlib
import sys
import time
import types
import warnings

import numpy
import torch

from peer_episodes import Features, load_episodes, load_results, report

WAYS = 5


def stub(name, **attributes):
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules.get(parent) or stub(parent), child, module)
    return module


def prepare():
    """Stands in for what these programs import and do not need here."""
    stub("tqdm", tqdm=lambda items, **_: items)
    stub("matplotlib", use=lambda _: None)
    stub("matplotlib.pyplot")
    stub("matplotlib.patches", Ellipse=None)
    stub("matplotlib.lines", Line2D=None)
    stub("torchvision.transforms")
    stub("PIL", Image=None)
    stub("ici_models.resnet12", resnet12=None)
    stub("FSLTask")
    numpy.float = float  # gone from NumPy since 1.24
    torch.Tensor.cuda = lambda tensor, *_: tensor
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)


class Tasks:
    """Supports [b, shots * ways, d] image by image, the classes in turn, and queries [b, q, d], as all these programs want them."""

    def __init__(self, features, episodes):
        self.features = features
        self.shots = len(episodes[0]["support"][0])
        self.queries = len(episodes[0]["query"][0])
        gathered = lambda groups: features.table[[features.rows[name] for turn in zip(*groups) for name in turn]]
        self.support = torch.stack([gathered(episode["support"]) for episode in episodes])
        self.query = torch.stack([gathered(episode["query"]) for episode in episodes])
        labels = lambda count: torch.arange(WAYS).repeat(count).expand(len(episodes), -1)
        self.support_labels, self.query_labels = labels(self.shots), labels(self.queries)

    def part(self, begin, end):
        part = types.SimpleNamespace(**vars(self))
        for name in ("support", "query", "support_labels", "query_labels"):
            setattr(part, name, getattr(self, name)[begin:end].clone())
        return part

    def __len__(self):
        return len(self.support)


class Unchanged(torch.nn.Module):
    """The checkout's backbone: images are features already."""

    def forward(self, images, feature=True):
        return images, None


def fresh_import(checkout, name):
    """Several checkouts have a package of the same name."""
    for loaded in [other for other in sys.modules if other.split(".")[0] == "src"]:
        del sys.modules[loaded]
    sys.path.insert(0, str(checkout))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def settings(checkout, config):
    import yaml

    return yaml.safe_load((pathlib.Path(checkout) / "config" / config).read_text())["METHOD"]


def run_class(checkout, module, name, config, tasks, **changed):
    """A method of alpha-TIM's or PADDLE's authors."""
    values = {"n_ways": WAYS, "n_query": tasks.queries, "batch_size": len(tasks.support), "shots": [tasks.shots], "arch": "resnet18",
              "balanced": "balanced", "dataset": "mini", **settings(checkout, config), **changed}
    cls = getattr(fresh_import(checkout, module), name)
    method = cls(model=Unchanged(), device=torch.device("cpu"), log_file=os.devnull, args=types.SimpleNamespace(**values))
    task = {"x_s": tasks.support, "x_q": tasks.query, "y_s": tasks.support_labels.unsqueeze(2),
            "y_q": tasks.query_labels.unsqueeze(2), "train_mean": tasks.features.base.mean(0)}
    return numpy.asarray(method.run_task(task, tasks.shots)["acc"])[:, -1]


def realistic(module, name, config, **changed):
    return lambda checkout, tasks: run_class(checkout, "src.methods." + module, name, f"balanced/methods_config/{config}.yaml", tasks,
                                             **changed)


def pt_map(checkout, tasks):
    tasks.support, tasks.query = tasks.support.clamp_min(0), tasks.query.clamp_min(0)  # else their root is not a number
    return realistic("pt_map", "PT_MAP", "pt_map")(checkout, tasks)


def paddle(checkout, tasks):
    return run_class(checkout, "src.methods.paddle", "PADDLE", "mini/resnet18/methods_config/paddle.yaml", tasks)


class ExactIndex:
    """faiss's index of inner products."""

    def __init__(self, *_):
        self.points = None
        self.ntotal = 0

    def add(self, points):
        self.points, self.ntotal = points, len(points)

    def search(self, queries, count):
        products = queries @ self.points.T
        nearest = numpy.argsort(-products, axis=1, kind="stable")[:, :count]
        return numpy.take_along_axis(products, nearest, 1), nearest


def scale_to_unit(points):
    points /= numpy.linalg.norm(points, axis=1, keepdims=True)


def ilpc(checkout, tasks):
    import scipy.sparse.linalg  # the checkout reaches for these without importing them
    import scipy.stats  # noqa: F401

    nothing = type("Nothing", (), {})
    stub("faiss", StandardGpuResources=nothing, GpuIndexFlatConfig=nothing, GpuIndexFlatIP=ExactIndex, normalize_L2=scale_to_unit)
    code = fresh_import(checkout, "iterative_graph_functions")
    torch.manual_seed(1)  # the classifier's bias begins at random
    accuracies = []
    for support, query, y_s, y_q in zip(tasks.support, tasks.query, tasks.support_labels, tasks.query_labels):
        options = types.SimpleNamespace(K=15, alpha=0.8, T=3, best_samples=3, denoising_iterations=1000, sinkhorn_iter=1, unbalanced=False,
                                        n_ways=WAYS, reduce="none", no_samples=numpy.repeat(float(tasks.queries), WAYS))
        support, query = code.dim_reduce(options, support.numpy(), query.numpy())
        truth, found = code.iter_balanced_trans(options, support, y_s.numpy(), query, y_q.numpy(), len(y_s))
        accuracies.append((truth == found).mean())
    return numpy.array(accuracies)


def bavardage(checkout, tasks, most_scale):
    """The main program of the checkout, step by step; that one reads other files."""
    features = tasks.features
    order = torch.argsort(features.labels[features.is_base], stable=True)
    counts = torch.bincount(features.labels[features.is_base])
    task_set = sys.modules["FSLTask"]
    task_set.loadDataSet = lambda _: None
    task_set.GenerateRunSet = lambda cfg: (torch.cat([tasks.support, tasks.query], 1),
                                           torch.cat([tasks.support_labels, tasks.query_labels], 1))
    code = fresh_import(checkout, "bavardage")
    steps = fresh_import(checkout, "vb_equi_iso")
    code.load_trainset = lambda _: (features.base[order], [int(count) for count in counts if count > 0])
    code.print = lambda *_: None
    ds = code.getRunSet(tasks.shots, WAYS, tasks.queries, len(tasks.support), preprocess="MESV")
    code.ds = ds
    begin = code.SimpleWMask(ds).soft_km(ds.data, T=10, nIter=5)
    clusters = steps.VB_IsoGM(ds, ds.e_Swb_Udata.pow(-0.5).clamp(max=most_scale), 1 / 4)
    model = steps.VB_EM(ds, mixtureModel=steps.VB_SymDirMM(ds, fixedModel=False), clusterModel=clusters)
    return code.Optimizer(ds).getAccuracies(model.loop(ds.rdata_b, begin, nIter=5)).numpy()


TIM_GD = "tim:variant=gd:cross_entropy=1:marginal=10:conditional=1"
UNLIMITED = "bavardage:precision=4:most_scale=1000000"

# protocom's method -> the checkout's option, what runs it, and how many tasks it takes at once (0: all of them). PT-MAP's transport
# stops when all of its tasks have converged, so it gets one by one.
PEERS = {
    "simple-shot": ("realistic", realistic("simpleshot", "SimpleShot", "simpleshot"), 0),
    "bd-cspn": ("realistic", realistic("bdcspn", "BDCSPN", "bdcspn"), 0),
    "laplacian-shot": ("realistic", realistic("laplacianshot", "LaplacianShot", "laplacianshot", use_tuned_lmd=False, lmd=[0.7]), 0),
    "alpha-tim": ("realistic", realistic("tim", "ALPHA_TIM", "alpha_tim"), 0),
    TIM_GD: ("realistic", realistic("tim", "TIM_GD", "tim"), 0),
    "pt-map:transform=power": ("realistic", pt_map, 1),
    "paddle": ("paddle", paddle, 0),
    "bavardage:precision=4": ("bavardage", lambda checkout, tasks: bavardage(checkout, tasks, 5), 0),
    UNLIMITED: ("bavardage", lambda checkout, tasks: bavardage(checkout, tasks, 1e6), 0),
    "ilpc": ("ilpc", ilpc, 0),
}
# Those that should agree task by task. iLPC's classifier begins at random there, and its labels are propagated by 20 steps of an
# iteration; BAVARDAGE's limit is set within each task's own dimensions there, in all of them here, so that they agree without one.
EXACT = ("simple-shot", "bd-cspn", "laplacian-shot", "alpha-tim", TIM_GD, "pt-map:transform=power", "paddle", UNLIMITED)


def accuracies_and_seconds(run, checkout, tasks, together):
    together = together or len(tasks)
    run(checkout, tasks.part(0, 1))  # what is imported at the first call is not timed
    start = time.process_time()
    found = [run(checkout, tasks.part(i, i + together)) for i in range(0, len(tasks), together)]
    return numpy.concatenate(found), (time.process_time() - start) / len(tasks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("realistic", "paddle", "ilpc", "bavardage"):
        parser.add_argument("--" + name, help="a checkout")
    for name in ("features", "episodes-file", "ours"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    prepare()
    tasks = Tasks(Features(options.features), load_episodes(options.episodes_file))
    results = load_results(options.ours)
    failed = False
    for label, (name, run, together) in PEERS.items():
        checkout = getattr(options, name)
        if checkout is None or label not in results:
            continue
        apart = report(results[label], *accuracies_and_seconds(run, checkout, tasks, together), label)
        failed |= label in EXACT and apart > 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
