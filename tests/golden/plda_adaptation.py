#!/usr/bin/env python3
"""Expected answers of the Bayesian model without a fitted space, from its formulas in plain float64 Python.

Nothing is diagonalised: covariances are full matrices and Gaussians are solved, whereas the C++ sources turn to the eigenvectors.
Run it to write plda_adaptation.json anew:  python3 tests/golden/plda_adaptation.py > tests/golden/plda_adaptation.json
"""
import json
import math

from equations import Lcg
from plda import dot, solve

DIMS, NU, CENTER_CLASSES = 5, 1000.0, 20.0
FACTORS = [1, 0.3, 0.1, 3, 10]
USUAL_SCALE = 0.1
SHOTS = [3, 2, 4]


def mean_of(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def unit(x):
    norm = math.sqrt(dot(x, x))
    return [v / norm for v in x]


def identity(scale):
    return [[scale if i == j else 0.0 for j in range(DIMS)] for i in range(DIMS)]


def plus(a, b, factor=1.0):
    return [[x + factor * y for x, y in zip(r, s)] for r, s in zip(a, b)]


def times(matrix, vector):
    return [dot(row, vector) for row in matrix]


def inverse(matrix):
    return solve(matrix, identity(1.0))


def scatter_of(classes):
    scatter = identity(0.0)
    for images in classes:
        mean = mean_of(images)
        for x in images:
            a = minus(x, mean)
            scatter = plus(scatter, [[p * q for q in a] for p in a])
    return scatter


def left_out(z, within, nu):
    """Loss of each image by the others, at the scale that makes the labels most likely."""
    logs = []
    for own, images in enumerate(z):
        for i, x in enumerate(images):
            rest = [list(one) for one in z]
            del rest[own][i]
            degrees = sum(len(one) for one in rest) - len(rest)
            s = [[v / (nu + degrees) for v in row] for row in plus(identity(nu * within), scatter_of(rest))]
            precision = inverse(s)
            d = [minus(x, mean_of(one)) for one in rest]
            logs.append(([-0.5 * dot(v, times(precision, v)) for v in d], own))
    best, scale = None, 0.01
    while scale < 2:
        losses = [math.log(sum(math.exp(scale * (v - row[own])) for v in row)) for row, own in logs]
        cost = sum(losses) + 0.5 * math.log(scale / USUAL_SCALE) ** 2
        if best is None or cost < best[0]:
            best = (cost, losses, scale)
        scale *= 1.4
    return best[1], best[2]


def chosen_degrees(z, within):
    first, scale = left_out(z, within, NU)
    best = (NU, first, scale)
    for factor in FACTORS[1:]:
        losses, scale = left_out(z, within, factor * NU)
        gains = [a - b for a, b in zip(first, losses)]
        mean = sum(gains) / len(gains)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in gains) / (len(gains) - 1))
        if mean > deviation / math.sqrt(len(gains)) and sum(losses) < sum(best[1]):
            best = (factor * NU, losses, scale)
    return best


def answers(classes, queries):
    """Log predictive of each class less that of the first, for each query; the degrees and the scale that were chosen."""
    share = len(classes) / (len(classes) + CENTER_CLASSES)
    center = [share * v for v in mean_of([mean_of(images) for images in classes])]
    z = [[unit(minus(x, center)) for x in images] for images in classes]
    means = [mean_of(images) for images in z]
    grand = mean_of(means)
    degrees = sum(len(images) for images in z) - len(z)
    scatter = scatter_of(z)
    within = sum(scatter[i][i] for i in range(DIMS)) / DIMS / degrees
    spread = sum(dot(minus(m, grand), minus(m, grand)) for m in means) / (len(means) - 1) / DIMS
    error = sum(1 / len(images) for images in z) / len(z)
    between = within * max(spread / within - error, 0.05)
    nu, _, scale = chosen_degrees(z, within)
    # S: nu images of the isotropic covariance and the degrees of the images' own.
    s = [[v / (nu + degrees) for v in row] for row in plus(identity(nu * within), scatter)]
    b = identity(between)
    mean_images = sum(len(images) for images in z) / len(z)
    v = inverse(plus(inverse(b), inverse(s), mean_images))  # of a class mean after so many images
    predictive = inverse(plus(s, v))
    rows = []
    for q in queries:
        x = minus(unit(minus(q, center)), grand)
        logs = []
        for images in z:
            k = len(images)
            own = inverse(plus(inverse(b), inverse(s), k))
            m = times(own, times(inverse(s), [k * t for t in minus(mean_of(images), grand)]))
            d = minus(x, m)
            logs.append(-0.5 * dot(d, times(predictive, d)))
        rows.append([value - logs[0] for value in logs])
    return rows, nu, scale


def main():
    draw = Lcg(41)
    classes = [[[draw.number() + (1.0 if i == k else 0.0) for i in range(DIMS)] for _ in range(shots)]
               for k, shots in enumerate(SHOTS)]
    queries = [[draw.number() for _ in range(DIMS)] for _ in range(4)]
    rows, nu, scale = answers(classes, queries)
    print(json.dumps({"isotropic": {"support": classes, "query": queries, "nu": nu, "scale": scale, "log_ratio": rows}}, indent=1))


if __name__ == "__main__":
    main()
