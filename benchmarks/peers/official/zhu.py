"""https://github.com/allenhaozhu/protoLP (CVPR 2023): its program with the Sinkhorn distance, test_standard_GSSL_lapshot.py."""
import torch

from official.hu import answers_at_the_end, roots, with_globals
from peer_episodes import Peer


class Identity(torch.Tensor):
    """A unit matrix in place of many copies of it: the program repeats it for 10,000 tasks."""

    def repeat(self, *_):
        return self


def protolp(checkout, tasks, closer=1):
    """`closer`: how many times closer to its end a transport is continued; where it stops is written into the program, as max |...| > 0.01."""
    code = with_globals(checkout, "test_standard_GSSL_lapshot", tasks)
    code.torch.max = lambda x: closer * torch.max(x)
    code.torch.eye = lambda size, device: torch.eye(size).as_subclass(Identity)
    data = code.centerDatas(code.SVDreduction(code.scaleEachUnitaryDatas(roots(tasks)), 40))
    model = code.GaussianModel(tasks.ways, 10)
    model.initFromLabelledDatas(data, len(tasks), tasks.shots, tasks.queries, tasks.ways, data.size(2))
    optimizer = code.MAP(0.2)
    sizes = (len(tasks), tasks.ways, tasks.query.size(1), tasks.support.size(1))
    return answers_at_the_end(tasks, optimizer, lambda: optimizer.loop(model, data, *sizes, n_epochs=100))


# Its transports stop when all tasks have converged, to 0.001 and 0.01, so borderline answers depend on where.
PEERS = [
    Peer("protolp:transform=power", protolp, together=1, exact=False),
    Peer("protolp:transform=power", lambda checkout, tasks: protolp(checkout, tasks, 100), together=1, exact=False,
         changed="transports 100 times closer"),
]
