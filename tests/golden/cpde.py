#!/usr/bin/env python3
"""Expected values of CPDE, its enhancing, its loss and its answers, from their equations in plain float64 Python.

Like equations.py it shares nothing with the C++ sources. Run it to write cpde.json anew:
    python3 tests/golden/cpde.py > tests/golden/cpde.json
"""
import json
import math

from equations import Lcg, cosine, linear, softmax

DIM, CHANNELS, CLASSES, BATCH = 6, 3, 4, 3
STRENGTH, WEIGHT, SCALE = 0.8, 0.6, 7.0
DRAW = Lcg(20200512)


def enhanced(feature):
    """Every channel times d softmax(strength f / rms(f)) of it."""
    rms = math.sqrt(sum(v * v for v in feature) / len(feature))
    weights = softmax([STRENGTH * v / rms for v in feature])
    return [len(feature) * a * v for a, v in zip(weights, feature)]


def cross_entropy(logits, label):
    return -math.log(softmax(logits)[label])


def mean(vectors):
    return [sum(column) / len(vectors) for column in zip(*vectors)]


features = DRAW.matrix(BATCH, DIM)
labels = [2, 0, 3]
directions = DRAW.matrix(CLASSES, DIM)
channels = DRAW.matrix(4 * BATCH, CHANNELS)  # the four splits of an image one after the other
orders = [0, 23, 9]
order_weight, order_bias = DRAW.matrix(24, 4 * CHANNELS), DRAW.vector(24)

logits = [[SCALE * cosine(enhanced(f), w) for w in directions] for f in features]
classification = sum(cross_entropy(row, y) for row, y in zip(logits, labels)) / BATCH
order = 0.0
for i, label in enumerate(orders):
    joined = [v for split in channels[4 * i:4 * i + 4] for v in split]
    order += cross_entropy(linear(order_weight, order_bias, joined), label) / BATCH

support = [[DRAW.vector(DIM) for _ in range(2)] for _ in range(3)]
query = DRAW.matrix(5, DIM)
prototypes = [mean([enhanced(x) for x in images]) for images in support]

print(json.dumps({
    "cpde": {
        "strength": STRENGTH, "weight": WEIGHT, "log_scale": math.log(SCALE),
        "features": features, "labels": labels, "directions": directions,
        "channels": channels, "orders": orders, "order_weight": order_weight, "order_bias": order_bias,
        "enhanced": [enhanced(f) for f in features], "logits": logits,
        "order_loss": order, "loss": classification + WEIGHT * order,
        "support": support, "query": query,
        "answers": [[10 * cosine(enhanced(q), p) for p in prototypes] for q in query],
    }
}, indent=1))
