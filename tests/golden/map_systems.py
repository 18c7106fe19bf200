#!/usr/bin/env python3
"""Expected answers of the compared systems that look at feature maps, from their equations in plain float64 Python.

Each has a small state (as if it had been fitted) and one episode of maps. Like equations.py it shares nothing with the C++ sources.
Run it to write map_systems.json anew:
    python3 tests/golden/map_systems.py > tests/golden/map_systems.json
"""
import json
import math

from equations import Lcg, cosine, relu, linear, softmax, unit
from yardsticks import add, dot, log_softmax, mean, square_distance, sub, times

CHANNELS, HEIGHT, WIDTH, WAYS, SHOTS, QUERIES = 4, 2, 3, 3, 2, 4
DRAW = Lcg(20211102)


def a_map():
    """[c][h][w]"""
    return [DRAW.matrix(HEIGHT, WIDTH) for _ in range(CHANNELS)]


SUPPORT = [[a_map() for _ in range(SHOTS)] for _ in range(WAYS)]
QUERY = [a_map() for _ in range(QUERIES)]
CENTRE, SCALE = times(0.3, DRAW.vector(CHANNELS)), 0.7
SPACE = {"maps.size": [HEIGHT, WIDTH], "maps.centre": CENTRE, "maps.scale": SCALE}
PLACES = [(i, j) for i in range(HEIGHT) for j in range(WIDTH)]


def standard(m):
    return [[[(v - CENTRE[c]) / SCALE for v in row] for row in m[c]] for c in range(CHANNELS)]


def at_place(m, place):
    return [channel[place[0]][place[1]] for channel in m]


def convolved(m, kernel, bias):
    """Zeros around the map; kernels [out][in][side][side]."""
    half = len(kernel[0][0]) // 2

    def value(o, i, j):
        total = bias[o]
        for c, own in enumerate(kernel[o]):
            for di, row in enumerate(own):
                for dj, weight in enumerate(row):
                    y, x = i + di - half, j + dj - half
                    if 0 <= y < HEIGHT and 0 <= x < WIDTH:
                        total += weight * m[c][y][x]
        return total

    return [[[value(o, i, j) for j in range(WIDTH)] for i in range(HEIGHT)] for o in range(len(kernel))]


def kernels(n_out, n_in, side):
    return [[DRAW.matrix(side, side) for _ in range(n_in)] for _ in range(n_out)]


# ---------------------------------------------------------------------------------------------------------------- CFA
def cfa():
    groups, codewords = 2, 3
    width = CHANNELS // groups
    mixing = DRAW.matrix(CHANNELS, CHANNELS)
    words = [DRAW.matrix(codewords, width) for _ in range(groups)]
    biases = DRAW.matrix(groups, codewords)

    def feature(m):
        m = standard(m)
        parts = []
        for g in range(groups):
            sums = [[0.0] * width for _ in range(codewords)]
            for place in PLACES:
                mixed = [dot(row, at_place(m, place)) for row in mixing]
                x = mixed[g * width:(g + 1) * width]
                share = softmax([dot(words[g][k], x) + biases[g][k] for k in range(codewords)])
                sums = [add(sums[k], times(share[k], x)) for k in range(codewords)]
            parts += times(1 / math.sqrt(groups), unit([v for row in sums for v in row]))
        return parts

    prototypes = [mean([feature(m) for m in images]) for images in SUPPORT]
    logits = [[math.exp(1.1) * cosine(feature(q), p) for p in prototypes] for q in QUERY]
    return dict(SPACE, mixing=mixing, codewords=words, codeword_biases=biases, log_scale=1.1), logits


# ---------------------------------------------------------------------------------------------------------------- CTM
REDUCED = 3


def ctm(ways, pooled=True):
    draw = {
        "concentrator.weight": kernels(REDUCED, CHANNELS, 3), "concentrator.bias": DRAW.vector(REDUCED),
        "projector.weight": kernels(REDUCED, ways * REDUCED, 3), "projector.bias": DRAW.vector(REDUCED),
        "reshaper.weight": kernels(REDUCED, CHANNELS, 1), "reshaper.bias": DRAW.vector(REDUCED),
    }
    classes = []
    for images in SUPPORT:
        each = [convolved(standard(m), draw["concentrator.weight"], draw["concentrator.bias"]) for m in images]
        classes.append([[[mean_of([max(m[c][i][j], 0.0) for m in each]) for j in range(WIDTH)]
                         for i in range(HEIGHT)] for c in range(REDUCED)])
    classes.sort(key=lambda m: sum(v for channel in m for row in channel for v in row))
    mask = [[[0.0] * WIDTH for _ in range(HEIGHT)] for _ in range(REDUCED)]
    for first in range(WAYS):
        together = [channel for j in range(ways) for channel in classes[(first + j) % WAYS]]
        projected = convolved(together, draw["projector.weight"], draw["projector.bias"])
        for i, j in PLACES:
            share = softmax([projected[c][i][j] for c in range(REDUCED)])
            for c in range(REDUCED):
                mask[c][i][j] += REDUCED * share[c] / WAYS

    def seen(m):
        reshaped = convolved(standard(m), draw["reshaper.weight"], draw["reshaper.bias"])
        masked = [[[reshaped[c][i][j] * mask[c][i][j] for j in range(WIDTH)] for i in range(HEIGHT)] for c in range(REDUCED)]
        if pooled:
            return unit([mean_of([masked[c][i][j] for i, j in PLACES]) for c in range(REDUCED)])
        return unit([masked[c][i][j] for c in range(REDUCED) for i, j in PLACES])

    prototypes = [mean([seen(m) for m in images]) for images in SUPPORT]
    logits = [[-math.exp(0.6) * square_distance(seen(q), p) for p in prototypes] for q in QUERY]
    return dict(SPACE, **draw, log_scale=0.6), logits


def mean_of(values):
    return sum(values) / len(values)


# ------------------------------------------------------------------------------------------------------------- TriNet
HIDDEN, WORDS = 3, 2


def layers(n_in, n_out):
    return {"hidden.weight": DRAW.matrix(HIDDEN, n_in), "hidden.bias": DRAW.vector(HIDDEN),
            "output.weight": DRAW.matrix(n_out, HIDDEN), "output.bias": DRAW.vector(n_out)}


def regression(points, labels, queries, c):
    """Multinomial logistic regression, |W|^2 / 2 + c sum of cross-entropies, the bias without penalty: plain descent."""
    w, b = [[0.0] * CHANNELS for _ in range(WAYS)], [0.0] * WAYS
    for _ in range(20000):
        gw, gb = [list(row) for row in w], [0.0] * WAYS
        for x, y in zip(points, labels):
            p = softmax([dot(w[k], x) + b[k] for k in range(WAYS)])
            for k in range(WAYS):
                pull = c * (p[k] - (1.0 if k == y else 0.0))
                gw[k] = add(gw[k], times(pull, x))
                gb[k] += pull
        w = [sub(w[k], times(0.05, gw[k])) for k in range(WAYS)]
        b = [b[k] - 0.05 * gb[k] for k in range(WAYS)]
    return [[dot(w[k], q) + b[k] for k in range(WAYS)] for q in queries]


def tri_net(made, c):
    """Without noise: images are made `made` times alike."""
    encoder, decoder = layers(CHANNELS, WORDS), layers(WORDS, CHANNELS * HEIGHT * WIDTH)

    def pooled(m):
        m = standard(m)
        return mean([at_place(m, place) for place in PLACES])

    def image_of(m):
        m = standard(m)
        hidden = mean([relu(linear(encoder["hidden.weight"], encoder["hidden.bias"], at_place(m, p))) for p in PLACES])
        said = linear(encoder["output.weight"], encoder["output.bias"], hidden)
        back = relu(linear(decoder["hidden.weight"], decoder["hidden.bias"], said))
        values = linear(decoder["output.weight"], decoder["output.bias"], back)
        size = HEIGHT * WIDTH
        return [mean_of(values[i * size:(i + 1) * size]) for i in range(CHANNELS)]

    points, labels = [], []
    for y, images in enumerate(SUPPORT):
        for m in images:
            points += [unit(pooled(m))] + [unit(image_of(m))] * made
            labels += [y] * (1 + made)
    logits = regression(points, labels, [unit(pooled(q)) for q in QUERY], c)
    state = dict(SPACE, **{"encoder." + k: v for k, v in encoder.items()}, **{"decoder." + k: v for k, v in decoder.items()})
    return state, logits


# The method as it is typed -> its state, and the logits of the queries.
SYSTEMS = {
    "cfa": cfa,
    "ctm": lambda: ctm(WAYS),
    "ctm:compare=places": lambda: ctm(WAYS, pooled=False),
    "ctm:ways=2": lambda: ctm(2),
    "ctm:ways=4": lambda: ctm(4),
    "tri-net:made=0": lambda: tri_net(0, 1.0),
    "tri-net:noise=0:made=2:c=3": lambda: tri_net(2, 3.0),
}

if __name__ == "__main__":
    found = {}
    for text, system in SYSTEMS.items():
        state, logits = system()
        found[text] = {"state": state, "answers": [log_softmax(values) for values in logits]}
    print(json.dumps({"episode": {"support": SUPPORT, "query": QUERY}, "systems": found}))
