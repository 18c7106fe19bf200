#!/usr/bin/env python3
"""Expected answers of the Bayesian model without a fitted space, from its formulas in plain float64 Python.

Nothing is diagonalised: covariances are full matrices and Gaussians are solved, whereas the C++ sources turn to the eigenvectors.
Run it to write plda_adaptation.json anew:  python3 tests/golden/plda_adaptation.py > tests/golden/plda_adaptation.json
"""
import json
import math

from equations import Lcg
from plda import dot, solve

DIMS, NU, CENTER_CLASSES = 5, 300.0, 20.0
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


def scatter_of_means(classes, between):
    """Of class means about their mean, each in units of its own variance."""
    means = [mean_of(images) for images in classes]
    scatter = identity(0.0)
    for images, mean in zip(classes, means):
        a = minus(mean, mean_of(means))
        scatter = plus(scatter, [[p * q / (between + 1 / len(images)) for q in a] for p in a])
    return scatter


def left_out(z, within, of_means, nu):
    """Loss of each image by the others, at the scale that makes the labels most likely; `of_means` stays as it is."""
    logs = []
    for own, images in enumerate(z):
        for i, x in enumerate(images):
            rest = [list(one) for one in z]
            del rest[own][i]
            degrees = sum(len(one) for one in rest) - 1
            scatter = plus(scatter_of(rest), of_means)
            s = [[v / (nu + degrees) for v in row] for row in plus(identity(nu * within), scatter)]
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


def chosen_degrees(z, within, of_means):
    first, scale = left_out(z, within, of_means, NU)
    best = (NU, first, scale)
    for factor in FACTORS[1:]:
        losses, scale = left_out(z, within, of_means, factor * NU)
        gains = [a - b for a, b in zip(first, losses)]
        mean = sum(gains) / len(gains)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in gains) / (len(gains) - 1))
        if mean > deviation / math.sqrt(len(gains)) and sum(losses) < sum(best[1]):
            best = (factor * NU, losses, scale)
    return best


def answers(classes, queries):
    """Log predictive of each class less that of the first, for each query; the degrees and the scale that were chosen."""
    if min(v for images in classes for x in images for v in x) >= 0:
        classes = [[[math.sqrt(v) for v in x] for x in images] for images in classes]
        queries = [[math.copysign(math.sqrt(abs(v)), v) for v in x] for x in queries]
    share = len(classes) / (len(classes) + CENTER_CLASSES)
    center = [share * v for v in mean_of([mean_of(images) for images in classes])]
    z = [[unit(minus(x, center)) for x in images] for images in classes]
    means = [mean_of(images) for images in z]
    grand = mean_of(means)
    images = sum(len(one) for one in z)
    scatter = scatter_of(z)
    spread = sum(dot(minus(m, grand), minus(m, grand)) for m in means) / (len(means) - 1) / DIMS
    if images > len(z):
        within = sum(scatter[i][i] for i in range(DIMS)) / DIMS / (images - len(z))
        between = max(spread / within - sum(1 / len(one) for one in z) / len(z), 0.05)
    else:
        within, between = spread / 2, 1.0
    of_means = scatter_of_means(z, between)
    nu, _, scale = chosen_degrees(z, within, of_means) if images > len(z) else (NU, None, USUAL_SCALE)
    # S: nu images of the isotropic covariance, the degrees of the images' own and of the class means.
    s = [[v / (nu + images - 1) for v in row] for row in plus(identity(nu * within), plus(scatter, of_means))]
    b = identity(within * between)
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


def case(seed, shots, number):
    draw = Lcg(seed)
    classes = [[[number(draw) + (1.0 if i == k else 0.0) for i in range(DIMS)] for _ in range(each)]
               for k, each in enumerate(shots)]
    queries = [[number(draw) for _ in range(DIMS)] for _ in range(4)]
    rows, nu, scale = answers(classes, queries)
    return {"support": classes, "query": queries, "nu": nu, "scale": scale, "log_ratio": rows}


def main():
    print(json.dumps({
        "isotropic": case(41, SHOTS, lambda draw: draw.number()),
        "roots": case(42, SHOTS, lambda draw: abs(draw.number())),
        "one image each": case(43, [1, 1, 1], lambda draw: draw.number()),
    }, indent=1))


if __name__ == "__main__":
    main()
