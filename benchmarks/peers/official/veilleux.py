"""https://github.com/oveilleux/Realistic_Transductive_Few_Shot: alpha-TIM (NeurIPS 2021), with its authors' code of SimpleShot, BD-CSPN,
LaplacianShot, TIM and PT-MAP; and what has the same frame of classes (martin.py). Settings are those of its configurations for balanced
mini-ImageNet, of which those for unbalanced queries differ in the weights of TIM-GD and in LaplacianShot's prototypes."""
import os
import pathlib
import types

import torch
import yaml

from checkouts import fresh_import
from peer_episodes import Peer


class Unchanged(torch.nn.Module):
    """The checkout's backbone: images are features already."""

    def forward(self, images, feature=True):
        return images, None


def recording(cls):
    """The class, with its last answers kept instead of its accuracies."""

    class Recording(cls):
        answers = None

        def record_info(self, **named):
            self.recorded = named

        def get_logs(self):
            return None

        def bound_update(self, **named):  # LaplacianShot's, of one task
            found = super().bound_update(**named)
            self.answers = (self.answers or []) + [found[0][-1]]
            return found

    return Recording


def answers_of(method):
    if method.answers:
        return torch.stack(method.answers)
    if hasattr(method, "u"):  # PADDLE's assignments
        return method.u.argmax(2)
    if "pred_q" not in method.recorded:
        return method.get_preds(method.recorded["query"])
    found = torch.as_tensor(method.recorded["pred_q"])
    return found.argmax(2) if found.is_floating_point() else found.flatten(1)


def made(checkout, module, name, config, tasks, **changed):
    """A method's object, with the settings of one of the checkout's configurations."""
    settings = yaml.safe_load((pathlib.Path(checkout) / "config" / config).read_text())["METHOD"]
    values = {"n_ways": tasks.ways, "n_query": tasks.queries, "batch_size": len(tasks), "shots": [tasks.shots], "arch": "resnet18",
              "balanced": "balanced", "dataset": "mini", **settings, **changed}
    cls = recording(getattr(fresh_import(checkout, module), name))
    return cls(model=Unchanged(), device=torch.device("cpu"), log_file=os.devnull, args=types.SimpleNamespace(**values))


def run_class(checkout, module, name, config, tasks, **changed):
    method = made(checkout, module, name, config, tasks, **changed)
    method.run_task({"x_s": tasks.support, "x_q": tasks.query, "y_s": tasks.support_labels.unsqueeze(2),
                     "y_q": tasks.query_labels.unsqueeze(2), "train_mean": tasks.features.centre}, tasks.shots)
    return answers_of(method)


def of(module, name, config, **changed):
    return lambda checkout, tasks: run_class(checkout, "src.methods." + module, name, f"balanced/methods_config/{config}.yaml", tasks,
                                             **changed)


def pt_map(checkout, tasks):
    tasks.support, tasks.query = tasks.support.clamp_min(0), tasks.query.clamp_min(0)  # else their root is not a number
    return of("pt_map", "PT_MAP", "pt_map")(checkout, tasks)


LAPLACIAN = {"use_tuned_lmd": False, "lmd": [0.7]}

# PT-MAP's transport stops when all of its tasks have converged, so it gets one by one.
PEERS = [
    Peer("simple-shot", of("simpleshot", "SimpleShot", "simpleshot")),
    Peer("bd-cspn", of("bdcspn", "BDCSPN", "bdcspn")),
    Peer("laplacian-shot:queries=unmoved", of("laplacianshot", "LaplacianShot", "laplacianshot", **LAPLACIAN)),
    Peer("laplacian-shot:prototypes=mean", of("laplacianshot", "LaplacianShot", "laplacianshot", proto_rect=False, **LAPLACIAN)),
    Peer("alpha-tim", of("tim", "ALPHA_TIM", "alpha_tim")),
    Peer("tim:variant=gd:cross_entropy=1:marginal=10:conditional=1", of("tim", "TIM_GD", "tim")),
    Peer("tim:variant=gd:cross_entropy=1:conditional=1", of("tim", "TIM_GD", "tim", loss_weights=[1, 1, 1])),
    Peer("pt-map:transform=power", pt_map, together=1),
]
