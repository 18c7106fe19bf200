"""https://github.com/MichalisLazarou/iLPC (ICCV 2021), with its programs' defaults but for 15 neighbours, as for ResNet-12."""
import types

import numpy
import torch

from checkouts import fresh_import, stub
from peer_episodes import Peer


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


def functions(checkout):
    import scipy.sparse.linalg  # the checkout reaches for these without importing them
    import scipy.stats  # noqa: F401

    nothing = type("Nothing", (), {})
    stub("ici_models.resnet12", resnet12=None)
    stub("faiss", StandardGpuResources=nothing, GpuIndexFlatConfig=nothing, GpuIndexFlatIP=ExactIndex, normalize_L2=scale_to_unit)
    return fresh_import(checkout, "iterative_graph_functions")


def per_task(checkout, tasks, answer):
    """`answer` of each task's arrays, with the functions and settings of the checkout."""
    code = functions(checkout)
    torch.manual_seed(1)  # the classifier's bias begins at random
    answers = []
    for given in zip(tasks.support, tasks.support_labels, tasks.query, tasks.query_labels):
        options = types.SimpleNamespace(K=15, alpha=0.8, T=3, best_samples=3, denoising_iterations=1000, sinkhorn_iter=1, unbalanced=False,
                                        n_ways=tasks.ways, reduce="none", no_samples=numpy.repeat(float(tasks.queries), tasks.ways))
        answers.append(answer(code, options, *(x.numpy() for x in given)))
    return numpy.stack(answers)


def ilpc(code, options, support, y_s, query, y_q):
    support, query = code.dim_reduce(options, support, query)
    # It answers in the order in which it labels: each image's place instead of its class says which one was when.
    return answers_in_place(lambda places: code.iter_balanced_trans(options, support, y_s, query, places, len(y_s)), len(y_q))


def answers_in_place(run, count):
    places, found = run(numpy.arange(count))
    answers = numpy.empty(count, dtype=int)
    answers[places] = found
    return answers


def label_propagation(code, options, support, y_s, query, _):
    return code.update_plabels(options, support, y_s, query)[0]


# iLPC's classifier begins at random there, and its labels are propagated by 20 steps of an iteration.
PEERS = [
    Peer("ilpc", lambda checkout, tasks: per_task(checkout, tasks, ilpc), exact=False),
    Peer("label-propagation:transform=l2n", lambda checkout, tasks: per_task(checkout, tasks, label_propagation)),
]
