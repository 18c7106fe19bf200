"""What the scripts that run other programs' methods share: features, the episodes that protocom saved as tensors, and the comparison of
every episode's accuracy, of every query's answer and of the time with protocom's."""
import argparse
import copy
import csv
import dataclasses
import functools
import json
import pathlib
import sys
import time
import typing

import numpy
import torch


class Features:
    def __init__(self, path, texts=None):
        archive = numpy.load(path, allow_pickle=False)
        self.table = torch.from_numpy(archive["features"].astype(numpy.float32))
        names = archive["paths"] if "paths" in archive.files else range(len(self.table))
        self.rows = {str(name): i for i, name in enumerate(names)}
        self.labels = torch.from_numpy(archive["labels"].astype(numpy.int64))
        self.is_base = torch.from_numpy(archive["split"][archive["labels"]] == "base")
        self.texts = texts and vectors_by_name(numpy.load(texts, allow_pickle=False))

    @functools.cached_property
    def base(self):
        return self.table[self.is_base]

    @functools.cached_property
    def centre(self):
        """Mean of the base images."""
        return self.base.mean(0)


def vectors_by_name(archive):
    return {str(name): torch.from_numpy(vector.astype(numpy.float32)) for name, vector in zip(archive["names"], archive["vectors"])}


def load_episodes(path):
    return json.loads(pathlib.Path(path).read_text())["episodes"]


class Tasks:
    """Episodes of one number of classes, shots and queries: supports [b, shots * ways, d] image by image, the classes in turn, as most of
    these programs want them; queries [b, q, d] class by class."""

    def __init__(self, features, episodes):
        self.features = features
        self.ways, self.shots = len(episodes[0]["support"]), len(episodes[0]["support"][0])
        self.queries = sum(map(len, episodes[0]["query"])) // self.ways  # a class, on average
        gathered = lambda images: features.table[torch.tensor([[features.rows[name] for name in names] for names in images], dtype=torch.long)]
        self.support = gathered([[name for turn in zip(*episode["support"]) for name in turn] for episode in episodes])
        self.query = gathered([[name for images in episode["query"] for name in images] for episode in episodes])
        self.support_labels = torch.arange(self.ways).repeat(self.shots).expand(len(episodes), -1)
        self.query_labels = torch.tensor([[k for k, images in enumerate(episode["query"]) for _ in images] for episode in episodes])
        if features.texts:  # [b, ways, d]
            self.texts = torch.stack([torch.stack([features.texts[name] for name in episode["classes"]]) for episode in episodes])

    def part(self, begin, end):
        part = copy.copy(self)
        for name in ("support", "query", "support_labels", "query_labels") + (("texts",) if self.features.texts else ()):
            setattr(part, name, getattr(self, name)[begin:end].clone())
        return part

    def by_class(self):
        """Supports [b, ways * shots, d], class by class, and their labels."""
        in_turn = lambda x: x.unflatten(1, (self.shots, self.ways)).transpose(1, 2).flatten(1, 2)
        return in_turn(self.support), in_turn(self.support_labels)

    def cl2n(self, x):
        """Less the base images' mean, then of unit length."""
        return torch.nn.functional.normalize(x - self.features.centre, dim=-1)

    def __len__(self):
        return len(self.support)


@dataclasses.dataclass(frozen=True)
class Peer:
    """Another program's form of one of protocom's methods."""

    method: str
    run: typing.Callable  # (checkout, tasks) -> the query's classes [b, q], counted from 0
    together: int = 0  # tasks that it takes at once, 0: all of them
    exact: bool = True  # whether every episode's accuracy should be the same
    changed: str = ""  # what is changed in it
    with_texts: bool = False  # whether it compares images with texts of the classes (--texts)


class Ours:
    """What `protocom evaluate --json --predictions` wrote."""

    def __init__(self, results, predictions, episodes):
        self.results = {result["method"]: result for result in json.loads(pathlib.Path(results).read_text())["results"]}
        self.answers = {}
        if predictions is None:
            return
        with open(predictions, newline="") as file:
            for row in csv.DictReader(file):
                index = int(row["episode"])
                answers = self.answers.setdefault(row["method"], [[] for _ in episodes])
                answers[index].append(episodes[index]["classes"].index(row["predicted"]))

    def __contains__(self, method):
        return method in self.results


def answers_and_seconds(peer, checkout, tasks):
    together = peer.together or len(tasks)
    peer.run(checkout, tasks.part(0, 1))  # what is imported at the first call is not timed
    start = time.process_time()
    found = [numpy.asarray(peer.run(checkout, tasks.part(i, i + together))) for i in range(0, len(tasks), together)]
    return numpy.concatenate(found), (time.process_time() - start) / len(tasks)


def report(name, peer, ours, answers, seconds, truth):
    """Prints one comparison; gives the number of episodes that are more than 0.5 points apart."""
    result = ours.results[peer.method]
    here, there = numpy.array(result["per_episode"]), 100 * (answers == truth).mean(1)
    difference = here - there
    interval = 1.96 * difference.std(ddof=1) / len(difference) ** 0.5
    apart = int((abs(difference) > 0.5).sum())
    equal = f"{100 * (answers == ours.answers[peer.method]).mean():.2f} %" if peer.method in ours.answers else "not compared"
    print(f"{name}{peer.changed and ', ' + peer.changed}  {peer.method:32}  here {here.mean():6.2f}  there {there.mean():6.2f}  "
          f"difference {difference.mean():+.2f} +- {interval:.2f}  episodes apart {apart} of {len(there)}  "
          f"answers equal {equal}  {1000 * seconds:.2f} ms an episode there, {seconds * result.get('episodes_per_second', 0):.0f} x here",
          flush=True)
    return apart


def parsed(description, programs):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in programs:
        parser.add_argument("--" + name, help="a checkout")
    for name in ("features", "episodes-file", "ours"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--texts", help="npz of `vectors` and `names`: what methods with texts of the classes take")
    parser.add_argument("--predictions", help="every answer of protocom, for the share of those that are equal")
    return parser.parse_args()


def compare(description, programs):
    """The whole of such a script. `programs` has the peers of each; an option of its name takes the path of a checkout."""
    options = parsed(description, programs)
    torch.set_num_threads(1)
    episodes = load_episodes(options.episodes_file)
    tasks = Tasks(Features(options.features, options.texts), episodes)
    ours = Ours(options.ours, options.predictions, episodes)
    failed = False
    for name, peers in programs.items():
        checkout = getattr(options, name.replace("-", "_"))
        for peer in peers if checkout else ():
            if peer.method not in ours or (peer.with_texts and not options.texts):
                continue
            apart = report(name, peer, ours, *answers_and_seconds(peer, checkout, tasks), tasks.query_labels.numpy())
            failed |= peer.exact and apart > 0
    sys.exit(1 if failed else 0)
