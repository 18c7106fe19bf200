#!/usr/bin/env python3
"""Expected values for the golden tests, from the paper's equations in plain float64 Python.

It shares nothing with the C++ sources: no tensor library, no vectorised form, loops over indices as the equations are printed.
Run it to write equations.json anew:  python3 tests/golden/equations.py > tests/golden/equations.json
"""
import json
import math


class Lcg:
    """Deterministic numbers in [-1, 1) (Knuth's MMIX constants), so that the inputs need no file of their own."""

    def __init__(self, seed):
        self.state = seed

    def number(self):
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**52 - 1.0

    def vector(self, n):
        return [self.number() for _ in range(n)]

    def matrix(self, rows, columns):
        return [self.vector(columns) for _ in range(rows)]


def linear(weight, bias, x):
    return [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(weight, bias)]


def relu(x):
    return [max(v, 0.0) for v in x]


def unit(x):
    norm = math.sqrt(sum(v * v for v in x))
    return [v / norm for v in x] if norm > 0 else [0.0 for _ in x]


def cosine(x, y):
    return sum(a * b for a, b in zip(unit(x), unit(y)))


def softmax(x):
    top = max(x)
    e = [math.exp(v - top) for v in x]
    return [v / sum(e) for v in e]


def complete(parameters, p_k, h_k, h, r_k, z):
    """Equations 9 and 10: one class at a time, one attribute at a time."""
    code = relu(linear(parameters["encoder.weight"], parameters["encoder.bias"], p_k))
    for a, r in enumerate(r_k):
        if r == 0:
            continue
        z_a = relu(linear(parameters["encoder.weight"], parameters["encoder.bias"], z[a]))
        joined = list(p_k) + unit(h_k) + unit(h[a])
        hidden = relu(linear(parameters["aggregator.0.weight"], parameters["aggregator.0.bias"], joined))
        alpha = r * linear(parameters["aggregator.2.weight"], parameters["aggregator.2.bias"], hidden)[0]
        code = [c + alpha * v for c, v in zip(code, z_a)]
    hidden = relu(linear(parameters["decoder.0.weight"], parameters["decoder.0.bias"], code))
    return linear(parameters["decoder.2.weight"], parameters["decoder.2.bias"], hidden)


def mean_squared_error(predicted, target):
    squares = [(a - b) ** 2 for x, y in zip(predicted, target) for a, b in zip(x, y)]
    return sum(squares) / len(squares)


def protocomnet():
    d, e, code, hidden, decoder, classes, attributes = 6, 3, 4, 5, 7, 4, 5
    draw = Lcg(20210619)
    parameters = {
        "encoder.weight": draw.matrix(code, d), "encoder.bias": draw.vector(code),
        "aggregator.0.weight": draw.matrix(hidden, d + 2 * e), "aggregator.0.bias": draw.vector(hidden),
        "aggregator.2.weight": draw.matrix(1, hidden), "aggregator.2.bias": draw.vector(1),
        "decoder.0.weight": draw.matrix(decoder, code), "decoder.0.bias": draw.vector(decoder),
        "decoder.2.weight": draw.matrix(d, decoder), "decoder.2.bias": draw.vector(d),
    }
    prototypes, class_embedding = draw.matrix(classes, d), draw.matrix(classes, e)
    attribute_embedding, z, target = draw.matrix(attributes, e), draw.matrix(attributes, d), draw.matrix(classes, d)
    # binary, continuous, one attribute only, and a class without any
    association = [[1, 0, 1, 1, 0], [0.25, 0.75, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]

    def forward():
        return [complete(parameters, prototypes[k], class_embedding[k], attribute_embedding, association[k], z)
                for k in range(classes)]

    def loss():
        return mean_squared_error(forward(), target)

    def slope(row, i):
        step, value = 1e-6, row[i]
        row[i] = value + step
        above = loss()
        row[i] = value - step
        below = loss()
        row[i] = value
        return (above - below) / (2 * step)

    def gradient(tensor):
        if isinstance(tensor[0], list):
            return [[slope(row, i) for i in range(len(row))] for row in tensor]
        return [slope(tensor, i) for i in range(len(tensor))]

    return {
        "parameters": parameters, "prototypes": prototypes, "class_embedding": class_embedding,
        "attribute_embedding": attribute_embedding, "attribute_feature": z, "association": association, "target": target,
        "completed": forward(), "loss": loss(),
        "gradients": {name: gradient(tensor) for name, tensor in parameters.items()},
        "prototype_gradient": gradient(prototypes),
    }


def mean_std(rows):
    """Mean and unbiased standard deviation of each column."""
    n = len(rows)
    mean = [sum(column) / n for column in zip(*rows)]
    std = [math.sqrt(sum((v - m) ** 2 for v in column) / (n - 1)) for column, m in zip(zip(*rows), mean)]
    return mean, std


def moments():
    """Equations 1 to 3 straight from the images: no sums of squares, every attribute gathers its images again."""
    draw = Lcg(7)
    labels = [0, 2, 1, 0, 2, 2, 1, 0, 0, 2]
    features = draw.matrix(len(labels), 4)
    association = [[1, 0, 1], [1, 1, 0], [0, 1, 0]]
    by_class = [[f for f, y in zip(features, labels) if y == k] for k in range(3)]
    by_attribute = [[f for f, y in zip(features, labels) if association[y][a] > 0] for a in range(3)]
    return {
        "features": features, "labels": labels, "association": association,
        "class_mean": [mean_std(rows)[0] for rows in by_class], "class_std": [mean_std(rows)[1] for rows in by_class],
        "attribute_count": [len(rows) for rows in by_attribute],
        "attribute_mean": [mean_std(rows)[0] for rows in by_attribute],
        "attribute_std": [mean_std(rows)[1] for rows in by_attribute],
    }


def gaussian(prototypes, supports, queries, scale):
    """Equations 12 to 14: every class weighs all supports (one-hot) and queries."""
    classes, d = len(prototypes), len(prototypes[0])
    probability = [softmax([scale * cosine(x, p) for p in prototypes]) for x in queries]
    means, variances = [], []
    for k in range(classes):
        samples = [(1.0 if c == k else 0.0, x) for c in range(classes) for x in supports[c]]
        samples += [(probability[q][k], x) for q, x in enumerate(queries)]
        total = sum(w for w, _ in samples)
        mean = [sum(w * x[i] for w, x in samples) / total for i in range(d)]
        means.append(mean)
        variances.append([sum(w * (x[i] - mean[i]) ** 2 for w, x in samples) / total for i in range(d)])
    return probability, means, variances


def fuse(mu, variance, mu_hat, variance_hat):
    """The mean of the product of the two Gaussians of every class."""
    return [[(v * m_hat + v_hat * m) / (v + v_hat) for m, v, m_hat, v_hat in zip(*rows)]
            for rows in zip(mu, variance, mu_hat, variance_hat)]


def fusion():
    draw = Lcg(42)
    d, scale = 5, 10.0
    supports = [draw.matrix(2, d), draw.matrix(1, d), draw.matrix(3, d)]  # shots differ between classes
    queries, completed = draw.matrix(6, d), draw.matrix(3, d)
    mean = [[sum(column) / len(rows) for column in zip(*rows)] for rows in supports]
    probability, mu, variance = gaussian(mean, supports, queries, scale)
    probability_hat, mu_hat, variance_hat = gaussian(completed, supports, queries, scale)
    again = (mu, variance), (mu_hat, variance_hat)
    for _ in range(2):
        again = [gaussian(m, supports, queries, scale)[1:] for m, _ in again]
    return {
        "supports": supports, "queries": queries, "completed": completed, "scale": scale, "mean": mean,
        "probability": probability, "probability_completed": probability_hat, "mu": mu, "variance": variance,
        "mu_completed": mu_hat, "variance_completed": variance_hat, "fused": fuse(mu, variance, mu_hat, variance_hat),
        "fused_after_3_steps": fuse(*again[0], *again[1]),
    }


if __name__ == "__main__":
    print(json.dumps({"protocomnet": protocomnet(), "moments": moments(), "fusion": fusion()}))
