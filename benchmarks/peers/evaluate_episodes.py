#!/usr/bin/env python3
"""Few-shot evaluation as a straightforward PyTorch program does it: one episode after the other, one class after the other.
It is what protocom is timed against, and an independent check of its accuracies; it shares nothing with it but the files.

--style published has the shape of the authors' published code: for every prototype it fills a table of all nodes of the graph
(classes and attributes), encodes all of them, scores all [h_k | h_i | p_k] rows, and only then multiplies by the class's row of the graph.
--style lean is what a careful author would write without batching classes or episodes: attributes are encoded once, and a
class scores only the attributes it has.

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

    def __init__(self, model, knowledge, style):
        def tensor(name):
            return torch.from_numpy(model[name].astype(numpy.float32))

        self.style = style
        self.w = {name[len("network."):]: tensor(name) for name in model.files if name.startswith("network.")}
        self.attribute_mean = tensor("attribute_mean")
        self.class_row = {name: i for i, name in enumerate(knowledge["classes"])}
        self.classes = len(self.class_row)
        column = {name: i for i, name in enumerate(knowledge["attributes"])}
        known = [column.get(name, -1) for name in model["attributes"]]
        association = torch.from_numpy(knowledge["association"].astype(numpy.float32))
        own = association[:, known] * (torch.tensor(known) >= 0)
        self.adjacency = torch.cat([torch.zeros(self.classes, self.classes), own], dim=1)  # [c, nodes]
        embeddings = [torch.from_numpy(knowledge["class_embedding"].astype(numpy.float32)), tensor("attribute_embedding")]
        self.embedding = F.normalize(torch.cat(embeddings), dim=1)  # [nodes, e]
        self.codes = self.encode(self.attribute_mean)

    def encode(self, rows):
        return F.relu(F.linear(rows, self.w["encoder.weight"], self.w["encoder.bias"]))

    def score(self, prototype, class_embedding, node_embeddings):
        count = len(node_embeddings)
        rows = torch.cat([prototype.expand(count, -1), class_embedding.expand(count, -1), node_embeddings], dim=1)
        hidden = F.relu(F.linear(rows, self.w["aggregator.0.weight"], self.w["aggregator.0.bias"]))
        return F.linear(hidden, self.w["aggregator.2.weight"], self.w["aggregator.2.bias"]).squeeze(1)

    def decode(self, code):
        hidden = F.relu(F.linear(code, self.w["decoder.0.weight"], self.w["decoder.0.bias"]))
        return F.linear(hidden, self.w["decoder.2.weight"], self.w["decoder.2.bias"])

    def complete(self, name, prototype):
        """One class's prototype [d]."""
        k = self.class_row[name]
        if self.style == "lean":
            has = self.adjacency[k].nonzero().squeeze(1)
            alpha = self.adjacency[k, has] * self.score(prototype, self.embedding[k], self.embedding[has])
            return self.decode(alpha @ self.codes[has - self.classes] + self.encode(prototype))
        nodes = torch.zeros(len(self.embedding), len(prototype))
        for a, mean in enumerate(self.attribute_mean):
            nodes[self.classes + a] = mean
        nodes[k] = prototype
        weight = self.adjacency[k] * self.score(prototype, self.embedding[k], self.embedding)
        weight = weight + torch.eye(len(nodes))[k]
        return self.decode(weight @ self.encode(nodes))


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
    def gather(ids):
        return torch.stack([features[row_of[name]] for name in ids])

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
    parser.add_argument("--style", choices=("published", "lean"), default="published")
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
    completion = Completion(numpy.load(options.model), numpy.load(options.knowledge), options.style)
    with open(options.episodes_file) as text:
        episodes = json.load(text)["episodes"]
    loaded = time.perf_counter()
    processor = time.process_time()

    results = {method: {"accuracy": [], "ties": []} for method in METHODS}
    with torch.no_grad():
        for episode in episodes:
            for method, (correct, ties, total) in run_episode(episode, features, row_of, completion, options.scale, options.epsilon).items():
                results[method]["accuracy"].append(100.0 * correct / total)
                results[method]["ties"].append(100.0 * ties / total)
    seconds = time.perf_counter() - loaded
    processor = time.process_time() - processor
    with open(options.json, "w") as out:
        json.dump({"seconds": seconds, "processor_seconds": processor, "seconds_loading": loaded - start, "episodes": len(episodes), "results": results}, out)
    print(f"{len(episodes)} episodes in {seconds:.2f} s: {len(episodes) / seconds:.1f} episodes/s")


if __name__ == "__main__":
    main()
