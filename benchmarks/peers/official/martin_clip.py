"""https://github.com/SegoleneMartin/transductive-CLIP (CVPR 2024): EM-Dirichlet with the settings of its configuration, on the probabilities that
texts of the classes give an image (--texts)."""
import os
import pathlib
import types

import torch
import yaml

from checkouts import fresh_import, stub
from peer_episodes import Peer

TEMPERATURE = 30


class Steps(list):
    """Stands for tqdm's."""

    def set_description(self, _):
        pass


def answers(checkout, tasks, present):
    """`present`: classes that occur among the queries, which its few-shot form is told and its form without photos takes for 5."""
    stub("clip")
    form = "few_shot" if tasks.shots else "zero_shot"
    code = fresh_import(checkout, f"src.methods.{form}.em_dirichlet")
    code.tqdm = Steps
    settings = yaml.safe_load((pathlib.Path(checkout) / "config/methods_config/em_dirichlet.yaml").read_text())["METHOD"]
    queries = tasks.query.size(1)
    method = code.EM_DIRICHLET(model=None, device=torch.device("cpu"), log_file=os.devnull, args=types.SimpleNamespace(
        **{**settings, "num_classes_test": tasks.ways, "n_class": tasks.ways, "k_eff": present(tasks), "n_query": queries, "T": TEMPERATURE,
           "use_softmax_feature": True}))
    method.lambd = tasks.ways // present(tasks) * queries
    matched = []
    if not tasks.shots:
        theirs = code.compute_graph_matching
        code.compute_graph_matching = lambda *given: matched.append(theirs(*given)) or matched[0]
    unit = torch.nn.functional.normalize
    said = lambda x: (TEMPERATURE * torch.einsum("bid,bkd->bik", unit(x, dim=-1), unit(tasks.texts, dim=-1))).softmax(-1)
    with torch.no_grad():
        if tasks.shots:
            method.run_method(support=said(tasks.support), query=said(tasks.query), y_s=tasks.support_labels, y_q=tasks.query_labels)
        else:
            method.run_method(query=said(tasks.query), y_q=tasks.query_labels)
    return matched[0] if matched else method.u.argmax(2)


# Its inner steps stop when all of its tasks have converged, so it gets one by one.
PEERS = [
    Peer("em-dirichlet", lambda checkout, tasks: answers(checkout, tasks, lambda of: of.ways), together=1, with_texts=True,
         changed="told that all classes occur"),
    Peer("em-dirichlet:present=5", lambda checkout, tasks: answers(checkout, tasks, lambda _: 5), together=1, with_texts=True),
]
