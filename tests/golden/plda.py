#!/usr/bin/env python3
"""Expected values of the Bayesian model of classes, from its formulas in plain float64 Python.

It shares nothing with the C++ sources: no tensor library, no matrix identities, loops over indices; leaving a class out means fitting
without it. Run it to write plda.json anew:  python3 tests/golden/plda.py > tests/golden/plda.json
"""
import json
import math

from equations import Lcg


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def cosine(x, y):
    norms = math.sqrt(dot(x, x) * dot(y, y))
    return dot(x, y) / norms if norms > 0 else 0.0


def solve(matrix, right):
    """Gauss-Jordan elimination with pivoting: matrix [n][n], right [n][m]."""
    n = len(matrix)
    rows = [list(a) + list(b) for a, b in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def digamma(x):
    """Recurrence up to 20, then the asymptotic series; good to 1e-15 there."""
    shift = 0.0
    while x < 20:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) + 1 / (240 * x**8)


def log_normal(x, mean, variance):
    return sum(-0.5 * math.log(2 * math.pi * v) - (a - m) ** 2 / (2 * v) for a, m, v in zip(x, mean, variance))


def posterior(prior_mean, prior_variance, images, weights):
    """Precisions add: tau images of the prior and each image with its weight."""
    mean, variance = [], []
    for i, (m, s) in enumerate(zip(prior_mean, prior_variance)):
        tau = 1 / s
        total = tau + sum(weights)
        mean.append((tau * m + sum(w * x[i] for w, x in zip(weights, images))) / total)
        variance.append(1 / total)
    return mean, variance


def task():
    draw = Lcg(1971)
    d = 4
    supports = [draw.matrix(2, d), [], draw.matrix(1, d)]  # a class may be without images
    return {
        "supports": supports, "queries": draw.matrix(6, d), "prior_mean": draw.matrix(3, d),
        "prior_variance": [0.9, 0.5, 0.2, 0.05], "between": [1.3, 0.6, 0.2, 0.1],
    }


def beliefs(data, responsibilities=None):
    result = []
    for k, images in enumerate(data["supports"]):
        weights, all_images = [1.0] * len(images), list(images)
        if responsibilities:
            weights += [r[k] for r in responsibilities]
            all_images += data["queries"]
        result.append(posterior(data["prior_mean"][k], data["prior_variance"], all_images, weights))
    return result


def inductive():
    data = task()
    known = beliefs(data)
    data["mean"] = [m for m, _ in known]
    data["variance"] = [v for _, v in known]
    data["log_predictive"] = [[log_normal(q, m, [1 + x for x in v]) for m, v in known] for q in data["queries"]]
    data["log_unseen"] = [log_normal(q, [0] * 4, [1 + b for b in data["between"]]) for q in data["queries"]]
    return data


def softmax(x):
    e = [math.exp(v - max(x)) for v in x]
    return [v / sum(e) for v in e]


def e_step(data, known, log_share, trust, spreads):
    rows = []
    for q in data["queries"]:
        rows.append(softmax([
            share - trust / 2 * sum((x - a) ** 2 + u * b for x, a, b, u in zip(q, m, v, spreads))
            for share, (m, v) in zip(log_share, known)
        ]))
    return rows


def shares(filled, concentrations):
    """E[log share] over concentrations, each as probable as it makes the images that the classes have."""
    n, q = len(filled), sum(filled)
    evidence = [math.lgamma(n * a) - math.lgamma(n * a + q) + sum(math.lgamma(a + f) - math.lgamma(a) for f in filled)
                for a in concentrations]
    return [sum(w * (digamma(a + f) - digamma(n * a + q)) for w, a in zip(softmax(evidence), concentrations))
            for f in filled]


def variational(steps, concentration=1.5, uncertain=-1):
    """The means' own uncertainty counts in the first `uncertain` dimensions; -1: in all."""
    data = task()
    trust, spread, n, q = 0.7, 0.4, 3, 6
    concentrations = [concentration] if concentration > 0 else [0.5, 2, 10, 50]
    dims = len(data["queries"][0])
    spreads = [spread if uncertain < 0 or d < uncertain else 0 for d in range(dims)]
    known = beliefs(data)
    filled = [q / n] * n
    for step in range(steps + 1):
        responsibilities = e_step(data, known, shares(filled, concentrations), trust, spreads)
        if step < steps:
            known = beliefs(data, responsibilities)
            filled = [sum(row[k] for row in responsibilities) for k in range(n)]
    data.update(trust=trust, spread=spread, concentration=concentration, steps=steps, uncertain=uncertain,
                mean=[m for m, _ in known], variance=[v for _, v in known], responsibilities=responsibilities)
    return data


def likeness(one, other, base, attribute_weight, word_weight):
    """k of two classes (rows of R and of H) by the base classes' counts and mean."""
    count = [sum(1 for row in base["association"] if row[a] > 0) for a in range(len(one[0]))]
    idf = [math.log((1 + len(base["association"])) / (1 + n)) for n in count]
    center = [sum(column) / len(base["embedding"]) for column in zip(*base["embedding"])]
    attributes = cosine([r * w for r, w in zip(one[0], idf)], [r * w for r, w in zip(other[0], idf)])
    words = cosine([h - c for h, c in zip(one[1], center)], [h - c for h, c in zip(other[1], center)])
    return (attribute_weight * attributes + word_weight * words) / (attribute_weight + word_weight)


def ridge():
    draw = Lcg(1970)
    classes, attributes, e, d = 6, 5, 3, 4
    base = {
        "association": [[max(0.0, v) for v in draw.vector(attributes)] for _ in range(classes)],
        "embedding": draw.matrix(classes, e), "means": draw.matrix(classes, d),
    }
    novel = {"association": [[1.0, 0, 0.5, 0, 0], [0.0] * attributes], "embedding": draw.matrix(2, e)}
    weights, penalty = (1.0, 0.25), 0.8
    rows = list(zip(base["association"], base["embedding"]))

    def predict(who, among):
        gram = [[likeness(rows[i], rows[j], base, *weights) + (penalty if i == j else 0) for j in among] for i in among]
        dual = solve(gram, [base["means"][i] for i in among])
        k = [likeness(who, rows[i], base, *weights) for i in among]
        return [sum(a * row[i] for a, row in zip(k, dual)) for i in range(d)]

    everyone = list(range(classes))
    return {
        "base": base, "novel": novel, "attribute_weight": weights[0], "word_weight": weights[1], "ridge": penalty,
        "predicted": [predict(row, everyone) for row in zip(novel["association"], novel["embedding"])],
        "left_out": [predict(rows[c], [i for i in everyone if i != c]) for c in everyone],
    }


if __name__ == "__main__":
    print(json.dumps({"inductive": inductive(), "one_step": variational(1), "five_steps": variational(5),
                      "unknown_concentration": variational(5, 0), "known_dimensions": variational(5, uncertain=2),
                      "ridge": ridge()}))
