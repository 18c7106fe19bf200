"""https://github.com/yhu01/BAVARDAGE (AISTATS 2023), with its program's defaults."""
import torch

from checkouts import fresh_import, stub
from peer_episodes import Peer


def base_classes(features):
    """The base images class by class, and how many each has."""
    order = torch.argsort(features.labels[features.is_base], stable=True)
    counts = torch.bincount(features.labels[features.is_base])
    return features.base[order], [int(count) for count in counts if count > 0]


def bavardage(checkout, tasks, most_scale):
    """The main program of the checkout, step by step; that one reads other files."""
    stub("FSLTask", loadDataSet=lambda _: None,
         GenerateRunSet=lambda cfg: (torch.cat([tasks.support, tasks.query], 1), torch.cat([tasks.support_labels, tasks.query_labels], 1)))
    code = fresh_import(checkout, "bavardage")
    steps = fresh_import(checkout, "vb_equi_iso")
    code.load_trainset = lambda _: base_classes(tasks.features)
    code.print = lambda *_: None
    ds = code.getRunSet(tasks.shots, tasks.ways, tasks.queries, len(tasks), preprocess="MESV")
    code.ds = ds
    begin = code.SimpleWMask(ds).soft_km(ds.data, T=10, nIter=5)
    clusters = steps.VB_IsoGM(ds, ds.e_Swb_Udata.pow(-0.5).clamp(max=most_scale), 1 / 4)
    model = steps.VB_EM(ds, mixtureModel=steps.VB_SymDirMM(ds, fixedModel=False), clusterModel=clusters)
    return model.loop(ds.rdata_b, begin, nIter=5).argmax(2)[:, tasks.support.size(1):]


# Its limit of a whitened dimension's factor holds within each task's own dimensions.
PEERS = [
    Peer("bavardage:precision=4:whitened=span", lambda checkout, tasks: bavardage(checkout, tasks, 5)),
    Peer("bavardage:precision=4:most_scale=1000000", lambda checkout, tasks: bavardage(checkout, tasks, 1e6),
         changed="without the limit"),
]
