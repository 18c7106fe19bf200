"""https://github.com/imtiazziko/LaplacianShot (ICML 2020), with the defaults of its configuration.py but for lambda, which is there
chosen on val classes."""
import pathlib
import types

import numpy

from checkouts import fresh_import, stub
from peer_episodes import Peer


def laplacian_shot(checkout, tasks, rectified):
    stub("datasets")
    stub("models")
    source = pathlib.Path(checkout) / "src"
    fresh_import(source, "utils.configuration")
    code = fresh_import(source, "train_lshot")
    code.args = types.SimpleNamespace(proto_rect=rectified, lshot=True, lmd=0.7, knn=3, num_NN=1, meta_val_way=tasks.ways,
                                      plot_converge=False)
    answers = []
    update = fresh_import(source, "lshot_update").bound_update

    def recorded(*arguments):
        answers.append(update(*arguments))
        return answers[-1]

    code.bound_update = recorded
    support, labels = tasks.by_class()
    mean = tasks.features.centre.numpy()
    for given in zip(support.numpy(), tasks.query.numpy(), labels.numpy(), tasks.query_labels.numpy()):
        code.metric_class_type(*given, tasks.shots, train_mean=mean)
    return numpy.stack(answers)


PEERS = [
    Peer("laplacian-shot", lambda checkout, tasks: laplacian_shot(checkout, tasks, True)),
    Peer("laplacian-shot:prototypes=mean", lambda checkout, tasks: laplacian_shot(checkout, tasks, False)),
]
