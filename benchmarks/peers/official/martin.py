"""https://github.com/SegoleneMartin/PADDLE (NeurIPS 2022), and its authors' soft k-means."""
import torch

from official.veilleux import answers_of, made, run_class
from peer_episodes import Peer

FOLDER = "mini/resnet18/methods_config/"
SHARPNESS = 10


def paddle(checkout, tasks):
    return run_class(checkout, "src.methods.paddle", "PADDLE", FOLDER + "paddle.yaml", tasks)


def soft_k_means(checkout, tasks):
    return run_class(checkout, "src.methods.soft_km", "SOFT_KM", FOLDER + "soft_km.yaml", tasks)


def soft_k_means_of_unit_vectors(checkout, tasks):
    """Without the scaling by ranges. Their logits are -d^2 / 2, so features come in units in which that is -SHARPNESS d^2."""
    method = made(checkout, "src.methods.soft_km", "SOFT_KM", FOLDER + "soft_km.yaml", tasks)
    support, query = ((2 * SHARPNESS) ** 0.5 * tasks.cl2n(x) for x in (tasks.support, tasks.query))
    with torch.no_grad():
        method.run_method(support=support, query=query, y_s=tasks.support_labels, y_q=tasks.query_labels)
    return answers_of(method)


# Their last step moves the means after the answers are taken, so 100 of theirs are 99 of soft-k-means. As released SOFT_KM stops at
# record_info, to which it gives an argument too many: that is replaced here (veilleux.recording).
PEERS = [
    Peer("paddle", paddle),
    Peer("paddle:weight=0", soft_k_means),
    Peer("soft-k-means:steps=99", soft_k_means_of_unit_vectors),
]
