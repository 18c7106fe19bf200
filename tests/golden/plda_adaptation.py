#!/usr/bin/env python3
"""Expected answers of the Bayesian model without a fitted space, from its formulas in plain float64 Python.

Nothing is diagonalised: covariances are full matrices and Gaussians are solved, whereas the C++ sources turn to the eigenvectors.
Run it to write plda_adaptation.json anew:  python3 tests/golden/plda_adaptation.py > tests/golden/plda_adaptation.json
"""
import json
import math

from equations import Lcg
from plda import dot, solve

DIMS, CLASSES, NU, CENTER_CLASSES = 5, 3, 2000.0, 20.0
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


def answers(classes, queries, nu=NU):
    """Log predictive of each class less that of the first, for each query."""
    share = len(classes) / (len(classes) + CENTER_CLASSES)
    center = [share * v for v in mean_of([mean_of(images) for images in classes])]
    z = [[unit(minus(x, center)) for x in images] for images in classes]
    means = [mean_of(images) for images in z]
    degrees = sum(len(images) for images in z) - len(z)
    scatter = identity(0.0)
    for images, mean in zip(z, means):
        for x in images:
            a = minus(x, mean)
            scatter = plus(scatter, [[p * q for q in a] for p in a])
    within = sum(scatter[i][i] for i in range(DIMS)) / DIMS / degrees
    grand = mean_of(means)
    spread = sum(dot(minus(m, grand), minus(m, grand)) for m in means) / (len(means) - 1) / DIMS
    error = sum(1 / len(images) for images in z) / len(z)
    between = within * max(spread / within - error, 0.05)
    # S: nu images of the isotropic covariance and the degrees of the images' own.
    s = [[v / (nu + degrees) for v in row] for row in plus(identity(nu * within), scatter)]
    b = identity(between)
    images_of_all = sum(len(images) for images in z) / len(z)
    v = inverse(plus(inverse(b), inverse(s), images_of_all))  # of a class mean after so many images
    predictive = inverse(plus(s, v))
    rows = []
    for q in queries:
        x = unit(minus(q, center))
        logs = []
        for images in z:
            k = len(images)
            own = inverse(plus(inverse(b), inverse(s), k))
            m = times(own, times(inverse(s), [k * t for t in mean_of(images)]))
            d = minus(x, m)
            logs.append(-0.5 * dot(d, times(predictive, d)))
        rows.append([value - logs[0] for value in logs])
    return rows


def main():
    draw = Lcg(41)
    classes = [[[draw.number() + (1.0 if i == k else 0.0) for i in range(DIMS)] for _ in range(shots)]
               for k, shots in enumerate(SHOTS)]
    queries = [[draw.number() for _ in range(DIMS)] for _ in range(4)]
    print(json.dumps({"isotropic": {"support": classes, "query": queries, "nu": NU, "log_ratio": answers(classes, queries)}}, indent=1))


if __name__ == "__main__":
    main()
