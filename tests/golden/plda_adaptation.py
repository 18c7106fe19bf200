#!/usr/bin/env python3
"""Expected answers of the Bayesian model without a fitted space, from its formulas in plain float64 Python.

Nothing is diagonalised: covariances are full matrices and Gaussians are solved, whereas the C++ sources turn to the eigenvectors.
Run it to write plda_adaptation.json anew:  python3 tests/golden/plda_adaptation.py > tests/golden/plda_adaptation.json
"""
import json
import math

from equations import Lcg
from plda import dot, solve

DIMS, NU, CENTER_CLASSES = 5, 10.0, 20.0  # nu: the lesser of 1000 and twice the dimensions; `case` sets both
MORE, LESS = [3.0], [0.3, 0.1]  # times nu, tried in turn while the loss of images left out falls
SCALED_SPREAD_OF_ONE, SCALED_SPREAD_OF_HALVES, SCALED_SPREAD_OF_FOLDS, DEVIATION = 1.4, 1.4, 2.0, 0.4  # of scales times spreads
GROWTH_FROM_HALVES, GROWTH_FROM_THIRDS = 1.5, 1.35
USUAL_SPREAD, PAIRS_OF_USUAL_SPREAD, PAIRS_OF_FOLDS = 36.0, 6.0, 3.0
SCALE_OF_FEW_DIMS, FEW_DIMS, MANY_DIMS = 0.7, 16, 64  # with one image per class
CLASS_MEAN_WEIGHT = 0.4  # where a class has two images
SHOTS = [3, 2, 7]
FEW_IMAGES = 4  # the mean of a class


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


def log_loss(rows, scale):
    """Of rows of log densities with the number of the right one."""
    return [math.log(sum(math.exp(scale * (v - row[own])) for v in row)) for row, own in rows]


def spread_of(rows):
    """Root of the mean of rows' variances."""
    return math.sqrt(sum(sum((v - sum(row) / len(row)) ** 2 for v in row) / (len(row) - 1) for row in rows) / len(rows))


def most_likely_scale(rows, scaled_spread):
    """And the spread of the log densities of classes that rows are not of."""
    spread = spread_of([row[:own] + row[own + 1:] for row, own in rows])
    best, scale = None, 0.01
    while scale < 2:
        cost = sum(log_loss(rows, scale)) + 0.5 * (math.log(scale * spread / scaled_spread) / DEVIATION) ** 2
        if best is None or cost < best[0]:
            best = (cost, scale)
        scale *= 1.2
    return best[1], spread


def variances(z):
    """Within classes and, in units of that, of class means: both isotropic."""
    means = [mean_of(images) for images in z]
    grand = mean_of(means)
    images = sum(len(one) for one in z)
    spread = sum(dot(minus(m, grand), minus(m, grand)) for m in means) / (len(means) - 1) / DIMS
    if images == len(z):
        return spread / 2, 1.0
    scatter = scatter_of(z)
    within = sum(scatter[i][i] for i in range(DIMS)) / DIMS / (images - len(z))
    return within, max(spread / within - sum(1 / len(one) for one in z) / len(z), 0.05)


def log_predictives(z, queries, nu, weight):
    """Of each query, for each class."""
    within, between = variances(z)
    images = sum(len(one) for one in z)
    grand = mean_of([mean_of(one) for one in z])
    # S: nu images of the isotropic covariance, the degrees of the images' own and, `weight` times, of the class means.
    scatter = plus(identity(nu * within), plus(scatter_of(z), scatter_of_means(z, between), weight))
    s = [[v / (nu + images - len(z) + weight * (len(z) - 1)) for v in row] for row in scatter]
    b = identity(within * between)
    v = inverse(plus(inverse(b), inverse(s), images / len(z)))  # of a class mean after so many images
    predictive = inverse(plus(s, v))
    rows = []
    for q in queries:
        x = minus(q, grand)
        logs = []
        for one in z:
            own = inverse(plus(inverse(b), inverse(s), len(one)))
            m = times(own, times(inverse(s), [len(one) * t for t in minus(mean_of(one), grand)]))
            d = minus(x, m)
            logs.append(-0.5 * dot(d, times(predictive, d)))
        rows.append(logs)
    return rows


def left_out(z, nu, least, weight):
    """In turn a fifth of the images of each class that has three, by their distances from its mean, is left out and answered by the
    others: the likeliest scale and each image's loss. Of classes of two, half, by their distances from the mean of the class means."""
    grand = mean_of([mean_of(one) for one in z])
    centers = [grand if len(one) == 2 else mean_of(one) for one in z]
    far = [[dot(minus(x, c), minus(x, c)) for x in one] for one, c in zip(z, centers)]
    turn = [sum(sum(other) / len(other) < sum(one) / len(one) for other in far) for one in far]  # another image of each class
    z = [[x for _, x in sorted(zip(lengths, one))] for lengths, one in zip(far, z)]
    folds = min(5, max(len(one) for one in z))
    rows = []
    for fold in range(folds):
        leaves = [[len(one) >= least and (i + first) % folds == fold for i in range(len(one))] for one, first in zip(z, turn)]
        kept = [[x for x, leave in zip(one, own) if not leave] for one, own in zip(z, leaves)]
        for k, (one, own) in enumerate(zip(z, leaves)):
            left = [x for x, leave in zip(one, own) if leave]
            rows += [(logs, k) for logs in log_predictives(kept, left, nu, weight)]
    scale, spread = most_likely_scale(rows, SCALED_SPREAD_OF_HALVES if least == 2 else SCALED_SPREAD_OF_FOLDS)
    return scale, spread, log_loss(rows, scale)


def is_surely_less(losses, than):
    gains = [a - b for a, b in zip(than, losses)]
    mean = sum(gains) / len(gains)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in gains) / (len(gains) - 1))
    return mean > deviation / math.sqrt(len(gains))


def choose_nu(z, least, weight):
    """NU, or of those whose losses are less by more than a standard error the one with the least; its scale and spread."""
    scale, spread, first = left_out(z, NU, least, weight)
    chosen, lowest = (NU, scale, spread), sum(first)
    for factors in (MORE, LESS):
        before = sum(first)
        for factor in factors:
            scale, spread, losses = left_out(z, factor * NU, least, weight)
            if not sum(losses) < before:
                break
            before = sum(losses)
            if before < lowest and is_surely_less(losses, first):
                chosen, lowest = (factor * NU, scale, spread), before
    return chosen


def scale_of_few(z, nu, weight, scaled_spread, usual, counts_as):
    """From the spread of scores of each class's images for the other classes, in their space; few classes tell it roughly."""
    rows = []
    for k, one in enumerate(z):
        rows += log_predictives(z[:k] + z[k + 1:], one, nu, weight)
    pairs = len(z) * (len(z) - 1) / 2
    share = pairs / (pairs + counts_as)
    return scaled_spread / (spread_of(rows) ** share * usual ** (1 - share))


def answers(classes, queries, asked_nu=None, asked_weight=None):
    """Log predictive of each class less that of the first, for each query; the degrees and the scale that were chosen, or requested."""
    root = min(v for images in classes for x in images for v in x) >= 0
    if root:
        classes = [[[math.sqrt(v) for v in x] for x in images] for images in classes]
        queries = [[math.copysign(math.sqrt(abs(v)), v) for v in x] for x in queries]
    share = 0 if root else len(classes) / (len(classes) + CENTER_CLASSES)
    center = [share * v for v in mean_of([mean_of(images) for images in classes])]
    z = [[unit(minus(x, center)) for x in images] for images in classes]
    nu, weight, scaled_spread, usual = NU, 1, SCALED_SPREAD_OF_ONE, USUAL_SPREAD
    largest = max(len(one) for one in z)
    if largest > 1:
        least, weight = min(largest, 3), CLASS_MEAN_WEIGHT if asked_weight is None else asked_weight
        nu, scale, spread = choose_nu(z, least, weight) if asked_nu is None else (asked_nu, *left_out(z, asked_nu, least, weight)[:2])
        scaled_spread = scale * spread * (GROWTH_FROM_HALVES if largest == 2 else GROWTH_FROM_THIRDS)
        usual = spread * (1 if largest == 2 else GROWTH_FROM_THIRDS)
    if sum(len(one) for one in z) < FEW_IMAGES * len(z):
        scale = scale_of_few(z, nu, weight, scaled_spread, usual, PAIRS_OF_USUAL_SPREAD if largest == 1 else PAIRS_OF_FOLDS)
    if largest == 1:
        few = math.log(MANY_DIMS / min(max(DIMS, FEW_DIMS), MANY_DIMS)) / math.log(MANY_DIMS / FEW_DIMS)
        scale = scale ** (1 - few) * SCALE_OF_FEW_DIMS ** few
    rows = log_predictives(z, [unit(minus(q, center)) for q in queries], nu, weight)
    return [[value - logs[0] for value in logs] for logs in rows], nu, scale


def case(seed, shots, number, spread=(1.0,) * DIMS, **asked):
    global DIMS, NU
    DIMS, NU = len(spread), 2.0 * len(spread)
    draw = Lcg(seed)
    classes = [[[spread[i] * number(draw) + (1.0 if i == k else 0.0) for i in range(DIMS)] for _ in range(each)]
               for k, each in enumerate(shots)]
    queries = [[spread[i] * number(draw) for i in range(DIMS)] for _ in range(4)]
    rows, nu, scale = answers(classes, queries, **asked)
    return {"support": classes, "query": queries, "nu": nu, "scale": scale, "log_ratio": rows}


def main():
    print(json.dumps({
        "isotropic": case(41, SHOTS, lambda draw: draw.number()),
        "roots": case(42, SHOTS, lambda draw: abs(draw.number())),
        "one image each": case(43, [1, 1, 1], lambda draw: draw.number()),
        "two images each": case(44, [2, 2, 2], lambda draw: draw.number()),
        "three images each": case(45, [3, 3, 3], lambda draw: draw.number()),
        "images that differ along one axis": case(49, [7, 7, 7], lambda draw: draw.number(), (0.8, 0.8, 0.8, 4.0, 0.8)),
        "as requested": case(45, [3, 3, 3], lambda draw: draw.number(), asked_nu=25.0, asked_weight=0.0),
        "one image each in 24 dimensions": case(43, [1, 1, 1], lambda draw: draw.number(), (1.0,) * 24),
    }, indent=1))


if __name__ == "__main__":
    main()
