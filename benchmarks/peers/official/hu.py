"""https://github.com/yhu01/PT-MAP (ICANN 2021), whose programs keep a task's sizes in globals, and what was made from it (zhu.py)."""
import torch

from checkouts import TorchOfTheProcessor, fresh_import
from peer_episodes import Peer


def with_globals(checkout, name, tasks):
    """A program of the checkout as a module, with the globals that its main part sets, all but its data."""
    code = fresh_import(checkout, name)
    code.torch = TorchOfTheProcessor()
    code.n_runs, code.n_ways, code.n_shot, code.n_queries = len(tasks), tasks.ways, tasks.shots, tasks.queries
    code.n_lsamples, code.n_usamples = tasks.support.size(1), tasks.query.size(1)
    code.labels = torch.cat([tasks.support_labels, tasks.query_labels], 1)
    return code


def roots(tasks):
    """The power transform; what is negative has no root."""
    return (torch.cat([tasks.support, tasks.query], 1).clamp_min(0) + 1e-6).sqrt()


def answers_at_the_end(tasks, optimizer, loop):
    """The queries' classes of which the program's loop takes the accuracy when it is through."""
    seen = []
    optimizer.getAccuracy = seen.append
    loop()
    return seen[-1].argmax(2)[:, tasks.support.size(1):]


def pt_map(checkout, tasks):
    code = with_globals(checkout, "test_standard", tasks)
    code.ndatas = code.centerDatas(code.scaleEachUnitaryDatas(code.QRreduction(roots(tasks))))
    code.n_nfeat = code.ndatas.size(2)
    model = code.GaussianModel(tasks.ways, 10)
    model.initFromLabelledDatas()
    optimizer = code.MAP(0.2)
    return answers_at_the_end(tasks, optimizer, lambda: optimizer.loop(model, n_epochs=20))


# Its transport stops when all tasks have converged.
PEERS = [Peer("pt-map:transform=power", pt_map, together=1)]
