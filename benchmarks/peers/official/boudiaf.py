"""https://github.com/mboudiaf/TIM: TIM-ADM and TIM-GD (NeurIPS 2020), with the defaults of its tim.py."""
import types

from torch.nn.functional import normalize

from checkouts import fresh_import
from peer_episodes import Peer


def run(checkout, tasks, name, steps):
    model = types.SimpleNamespace(eval=lambda: None, train=lambda: None)
    method = getattr(fresh_import(checkout, "src.tim"), name)(model=model)
    method.iter = steps
    method.record_info = lambda **_: None  # accuracy and entropies of every step
    support, query = normalize(tasks.support, dim=2), normalize(tasks.query, dim=2)
    given = {"support": support, "query": query, "y_s": tasks.support_labels}
    method.compute_lambda(**given)
    method.init_weights(**given, y_q=None)
    method.run_adaptation(**given, y_q=None, callback=None)
    return method.get_preds(query)


# Steps are those of the paper and of scripts/evaluate (150 of ADM); 1,000 of GD are the paper's.
PEERS = [
    Peer("tim", lambda checkout, tasks: run(checkout, tasks, "TIM_ADM", 150)),
    Peer("tim:variant=gd", lambda checkout, tasks: run(checkout, tasks, "TIM_GD", 1000)),
]
