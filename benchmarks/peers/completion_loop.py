#!/usr/bin/python3
"""The peer of `protocom complete`: a training step as the authors' published code has it, one sample at a time over every node of the
graph (classes and attributes), in plain PyTorch. Weights are fresh and the images of a sample are drawn again; only the time matters.
Prints {"seconds_a_step": ...}."""
import argparse
import json
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn


class Network(nn.Module):
    def __init__(self, features, embedding):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, 256), nn.ReLU())
        self.aggregator = nn.Sequential(nn.Linear(features + 2 * embedding, 300), nn.ReLU(), nn.Linear(300, 1))
        self.decoder = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, features))

    def forward(self, nodes, k, adjacency, embedding):
        """Node k, completed by its neighbours (equations 9 and 10)."""
        count = len(nodes)
        rows = torch.cat([nodes[k].expand(count, -1), embedding[k].expand(count, -1), embedding], dim=1)
        weight = adjacency[k] * self.aggregator(rows).squeeze(1) + torch.eye(count)[k]
        return self.decoder(weight @ self.encoder(nodes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", required=True)
    parser.add_argument("--knowledge", required=True)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    data, knowledge = numpy.load(arguments.features), numpy.load(arguments.knowledge)
    features, labels = torch.from_numpy(data["features"].astype(numpy.float32)), torch.from_numpy(data["labels"])
    base = [i for i, split in enumerate(data["split"]) if split == "base"]
    row = {name: i for i, name in enumerate(knowledge["classes"])}
    association = torch.from_numpy(knowledge["association"].astype(numpy.float32))
    classes, attributes = association.shape
    adjacency = torch.cat([torch.zeros(classes, classes), association], dim=1)
    embedding = F.normalize(torch.cat([torch.from_numpy(knowledge[f"{of}_embedding"]) for of in ("class", "attribute")]), dim=1)
    images = {k: features[labels == k] for k in base}
    centre = {k: rows.mean(0) for k, rows in images.items()}
    mean, std = torch.randn(attributes, features.shape[1]) * 0.1, torch.rand(attributes, features.shape[1]) * 0.1
    network = Network(features.shape[1], embedding.shape[1])
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    begun = 0.0
    for step in range(arguments.steps + 1):
        if step == 1:  # the first one warms up
            begun = time.perf_counter()
        loss = 0
        for i in range(arguments.batch):
            k = base[int(torch.randint(len(base), ()))]
            place = row[str(data["names"][k])]
            nodes = torch.zeros(classes + attributes, features.shape[1])
            nodes[classes:] = mean + std * torch.randn_like(std)
            nodes[place] = images[k][int(torch.randint(len(images[k]), ()))]
            loss = loss + F.mse_loss(network(nodes, place, adjacency, embedding), centre[k])
        optimizer.zero_grad()
        (loss / arguments.batch).backward()
        optimizer.step()
    print(json.dumps({"seconds_a_step": (time.perf_counter() - begun) / arguments.steps}))


if __name__ == "__main__":
    main()
