"""What the scripts that run other programs' methods share: features, the episodes that protocom saved, and the comparison of the
accuracies of every episode with protocom's."""
import json
import pathlib

import numpy
import torch


class Features:
    def __init__(self, path):
        archive = numpy.load(path, allow_pickle=False)
        self.table = torch.from_numpy(archive["features"].astype(numpy.float32))
        names = archive["paths"] if "paths" in archive.files else range(len(self.table))
        self.rows = {str(name): i for i, name in enumerate(names)}
        self.labels = torch.from_numpy(archive["labels"].astype(numpy.int64))
        self.is_base = torch.from_numpy(archive["split"][archive["labels"]] == "base")

    @property
    def base(self):
        return self.table[self.is_base]


def load_episodes(path):
    return json.loads(pathlib.Path(path).read_text())["episodes"]


def load_results(path):
    return {result["method"]: result for result in json.loads(pathlib.Path(path).read_text())["results"]}


def report(ours, theirs, seconds, label):
    """Prints one comparison, `theirs` being accuracies in [0, 1]; gives the number of episodes more than 0.5 points apart."""
    here = numpy.array(ours["per_episode"])[: len(theirs)]
    difference = here - 100 * theirs
    interval = 1.96 * difference.std(ddof=1) / len(difference) ** 0.5
    apart = int((abs(difference) > 0.5).sum())
    ratio = seconds * ours.get("episodes_per_second", 0)
    print(f"{label:32} here {here.mean():6.2f}  there {100 * theirs.mean():6.2f}  difference {difference.mean():+.2f} +- {interval:.2f}  "
          f"episodes apart {apart} of {len(theirs)}  {1000 * seconds:.2f} ms an episode there, {ratio:.0f} x here", flush=True)
    return apart
