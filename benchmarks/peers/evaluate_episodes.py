#!/usr/bin/env python3
"""Few-shot evaluation as a straightforward PyTorch program does it: one episode after the other, one class after the other,
every node of the graph for every class. It is what protocom is timed against, and an independent check of its accuracies; it shares
nothing with it but the files.

The loops have the shape of the authors' published code: `complete` takes one prototype, encodes all attributes and all of their
[p_k | h_k | h_a] rows for it, and only then multiplies by the class's row of the graph; the episode's tensors are gathered image by image.

  python3 benchmarks/peers/evaluate_episodes.py --features features.npz --knowledge knowledge.npz --model model.npz \\
      --episodes-file episodes.json --json peer.json
"""
import argparse
import json
import time

import numpy
import torch
import torch.nn.functional as F

METHODS = ("mean", "completed", "mean-fusion", "gauss-fusion")


class Completion:
    """ProtoComNet (equations 9 and 10) with the attributes' means."""

    def __init__(self, model, knowledge):
        tensor = lambda name: torch.from_numpy(model[name].astype(numpy.float32))
        self.w = {name[len("network."):]: tensor(name) for name in model.files if name.startswith("network.")}
        self.attribute_mean = tensor("attribute_mean")
        self.attribute_embedding = tensor("attribute_embedding")
        column = {name: i for i, name in enumerate(knowledge["attributes"])}
        association = knowledge["association"].astype(numpy.float32)
        zeros = numpy.zeros(len(association), numpy.float32)
        columns = [association[:, column[a]] if a in column else zeros for a in model["attributes"]]
        row = {name: i for i, name in enumerate(knowledge["classes"])}
        self.association = {name: torch.tensor([c[i] for c in columns]) for name, i in row.items()}
        self.class_embedding = {name: torch.from_numpy(knowledge["class_embedding"][i]) for name, i in row.items()}
        self.nothing = (torch.zeros(len(columns)), torch.zeros(self.attribute_embedding.shape[1]))

    def complete(self, name, prototype):
        """One class's prototype [d]."""
        graph = self.association.get(name, self.nothing[0])
        embedding = self.class_embedding.get(name, self.nothing[1])
        nodes = len(self.attribute_mean)
        codes = F.relu(F.linear(self.attribute_mean, self.w["encoder.weight"], self.w["encoder.bias"]))
        own_code = F.relu(F.linear(prototype, self.w["encoder.weight"], self.w["encoder.bias"]))
        pairs = torch.cat([prototype.expand(nodes, -1), F.normalize(embedding, dim=0).expand(nodes, -1),
                           F.normalize(self.attribute_embedding, dim=1)], dim=1)
        hidden = F.relu(F.linear(pairs, self.w["aggregator.0.weight"], self.w["aggregator.0.bias"]))
        score = F.linear(hidden, self.w["aggregator.2.weight"], self.w["aggregator.2.bias"]).squeeze(1)
        code = ((graph * score).unsqueeze(1) * codes).sum(0) + own_code
        hidden = F.relu(F.linear(code, self.w["decoder.0.weight"], self.w["decoder.0.bias"]))
        return F.linear(hidden, self.w["decoder.2.weight"], self.w["decoder.2.bias"])


def cosine(queries, prototypes):
    return F.normalize(queries, dim=1) @ F.normalize(prototypes, dim=1).t()


def gaussian(supports, queries, probability):
    """Weighted mean and variance of one class (equations 13 and 14): supports weigh 1, queries their probability."""
    rows = torch.cat([supports, queries])
    weight = torch.cat([torch.ones(len(supports)), probability]).unsqueeze(1)
    mean = (weight * rows).sum(0) / weight.sum()
    variance = (weight * (rows - mean) ** 2).sum(0) / weight.sum()
    return mean, variance


def fuse(supports, mean, completed, queries, scale, epsilon):
    """GaussFusion, class by class."""
    by_mean = F.softmax(scale * cosine(queries, mean), dim=1)
    by_completed = F.softmax(scale * cosine(queries, completed), dim=1)
    fused = []
    for k, rows in enumerate(supports):
        mean_a, variance_a = gaussian(rows, queries, by_mean[:, k])
        mean_b, variance_b = gaussian(rows, queries, by_completed[:, k])
        variance_a, variance_b = variance_a + epsilon, variance_b + epsilon
        fused.append((variance_a * mean_b + variance_b * mean_a) / (variance_a + variance_b))
    return torch.stack(fused)


def run_episode(episode, features, row_of, completion, scale, epsilon):
    gather = lambda ids: torch.stack([features[row_of[name]] for name in ids])
    supports = [gather(ids) for ids in episode["support"]]
    queries = torch.cat([gather(ids) for ids in episode["query"] if ids])
    pool = torch.cat([gather(ids) for ids in episode["pool"]]) if "pool" in episode else queries
    truth = torch.tensor([k for k, ids in enumerate(episode["query"]) for _ in ids])
    mean = torch.stack([rows.mean(0) for rows in supports])
    completed = torch.stack([completion.complete(name, p) for name, p in zip(episode["classes"], mean)])
    prototypes = {"mean": mean, "completed": completed, "mean-fusion": 0.5 * mean + 0.5 * completed,
                  "gauss-fusion": fuse(supports, mean, completed, pool, scale, epsilon)}
    outcome = {}
    for method in METHODS:
        similarity = cosine(queries, prototypes[method])
        best = similarity.topk(2, dim=1).values
        outcome[method] = ((similarity.argmax(1) == truth).sum().item(), (best[:, 0] - best[:, 1] < 1e-5).sum().item(), len(truth))
    return outcome


def main():
    parser = argparse.ArgumentParser()
    for name in ("features", "knowledge", "model", "episodes-file"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--scale", type=float, default=10.0)
    parser.add_argument("--epsilon", type=float, default=1e-6)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    start = time.perf_counter()
    file = numpy.load(options.features)
    features = torch.from_numpy(file["features"].astype(numpy.float32))
    ids = file["paths"] if "paths" in file.files else [str(i) for i in range(len(features))]
    row_of = {name: i for i, name in enumerate(ids)}
    completion = Completion(numpy.load(options.model), numpy.load(options.knowledge))
    with open(options.episodes_file) as text:
        episodes = json.load(text)["episodes"]
    loaded = time.perf_counter()

    results = {method: {"accuracy": [], "ties": []} for method in METHODS}
    with torch.no_grad():
        for episode in episodes:
            for method, (correct, ties, total) in run_episode(episode, features, row_of, completion, options.scale, options.epsilon).items():
                results[method]["accuracy"].append(100.0 * correct / total)
                results[method]["ties"].append(100.0 * ties / total)
    seconds = time.perf_counter() - loaded
    with open(options.json, "w") as out:
        json.dump({"seconds": seconds, "seconds_loading": loaded - start, "episodes": len(episodes), "results": results}, out)
    print(f"{len(episodes)} episodes in {seconds:.2f} s: {len(episodes) / seconds:.1f} episodes/s")


if __name__ == "__main__":
    main()
