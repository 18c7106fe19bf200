#!/usr/bin/env python3
"""Expected answers of the yardstick methods on one small episode, from their equations in plain float64 Python.

Like equations.py it shares nothing with the C++ sources: vectors are lists, every sum is a loop, linear problems are solved by
elimination and smooth ones by many plain gradient steps. Run it to write yardsticks.json anew:
    python3 tests/golden/yardsticks.py > tests/golden/yardsticks.json
"""
import itertools
import json
import math

from equations import Lcg, cosine, softmax, unit

WAYS, SHOTS, QUERIES, DIM = 3, 2, 7, 6


# ------------------------------------------------------------------------------------------------------------ vectors
def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def add(x, y):
    return [a + b for a, b in zip(x, y)]


def sub(x, y):
    return [a - b for a, b in zip(x, y)]


def times(s, x):
    return [s * v for v in x]


def square_distance(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y))


def mean(xs):
    return [sum(column) / len(xs) for column in zip(*xs)]


def weighted_mean(weights, xs):
    return [sum(w * v for w, v in zip(weights, column)) / sum(weights) for column in zip(*xs)]


def log_softmax(x):
    top = max(x)
    return [v - top - math.log(sum(math.exp(w - top) for w in x)) for v in x]


def argmax(x):
    return max(range(len(x)), key=lambda i: x[i])


def solve(a, b):
    """Gaussian elimination with pivoting; b a list of rows."""
    n = len(a)
    rows = [list(a[i]) + list(b[i]) for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [v - factor * w for v, w in zip(rows[r], rows[i])]
    return [[v / rows[i][i] for v in rows[i][n:]] for i in range(n)]


def eigen(a):
    """Eigenvalues and vectors of a symmetric matrix by Jacobi's rotations: [(value, vector)], values falling."""
    n = len(a)
    a = [list(row) for row in a]
    v = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for _ in range(100):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p][q]) < 1e-300:
                    continue
                theta = 0.5 * math.atan2(2 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(theta), math.sin(theta)
                for k in range(n):
                    a[k][p], a[k][q] = c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]
                for k in range(n):
                    a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
                for k in range(n):
                    v[k][p], v[k][q] = c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]
    pairs = [(a[i][i], [v[k][i] for k in range(n)]) for i in range(n)]
    return sorted(pairs, key=lambda pair: -pair[0])


# ------------------------------------------------------------------------------------------------------------ episode
def make_episode():
    draw = Lcg(20231207)
    centres = draw.matrix(WAYS, DIM)
    image = lambda k: add(centres[k], times(1.1, draw.vector(DIM)))
    support = [[image(k) for _ in range(SHOTS)] for k in range(WAYS)]
    query = [image(k) for k in (0, 1, 2, 2, 0, 2, 1)]
    base_centres = draw.matrix(4, DIM)
    base, labels = [], []
    for i in range(24):
        labels.append(i % 4)
        base.append(add(base_centres[i % 4], times(0.5, draw.vector(DIM))))
    text = [add(centres[k], draw.vector(DIM)) for k in range(WAYS)]
    return {"support": support, "query": query, "base": base, "base_labels": labels, "text": text}


EPISODE = make_episode()
BASE_MEAN = mean(EPISODE["base"])


def space(name, x):
    if name == "l2n":
        return unit(x)
    if name == "cl2n":
        return unit(sub(x, BASE_MEAN))
    if name == "power":
        return unit([math.sqrt(max(v, 0.0) + 1e-6) for v in x])
    return x


def images(name):
    """Supports, their labels, queries."""
    xs, ys = [], []
    for k in range(WAYS):
        for x in EPISODE["support"][k]:
            xs.append(space(name, x))
            ys.append(k)
    return xs, ys, [space(name, q) for q in EPISODE["query"]]


def one_hot(k):
    return [1.0 if i == k else 0.0 for i in range(WAYS)]


def class_means(xs, ys):
    return [mean([x for x, y in zip(xs, ys) if y == k]) for k in range(WAYS)]


def distances(xs, ms):
    return [[square_distance(x, m) for m in ms] for x in xs]


def logits_from(rows, factor):
    return [times(-factor, row) for row in rows]


def means_with(xs, ys, qs, r):
    """Means of supports by label and of queries by responsibility."""
    points = xs + qs
    weights = [one_hot(y) for y in ys] + r
    return [weighted_mean([w[k] for w in weights], points) for k in range(WAYS)]


# ---------------------------------------------------------------------------------------------------------- inductive
def nearest_mean(name):
    xs, ys, qs = images(name)
    return logits_from(distances(qs, class_means(xs, ys)), 1)


class AdamByHand:
    def __init__(self, shape, rate):
        self.m = [[0.0] * shape[1] for _ in range(shape[0])]
        self.v = [[0.0] * shape[1] for _ in range(shape[0])]
        self.t, self.rate = 0, rate

    def step(self, w, g):
        self.t += 1
        for i, row in enumerate(g):
            for j, value in enumerate(row):
                self.m[i][j] = 0.9 * self.m[i][j] + 0.1 * value
                self.v[i][j] = 0.999 * self.v[i][j] + 0.001 * value * value
                m = self.m[i][j] / (1 - 0.9**self.t)
                v = self.v[i][j] / (1 - 0.999**self.t)
                w[i][j] -= self.rate * m / (math.sqrt(v) + 1e-8)


def numeric_gradient(loss, w):
    gradient = []
    for i in range(len(w)):
        row = []
        for j in range(len(w[i])):
            h, kept, values = 1e-5, w[i][j], []
            for shift in (-2, -1, 1, 2):
                w[i][j] = kept + shift * h
                values.append(loss(w))
            w[i][j] = kept
            row.append((values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h))
        gradient.append(row)
    return gradient


def baseline_pp(steps=20, rate=0.05, scale=15):
    xs, ys, qs = images("none")
    weights = class_means([unit(x) for x in xs], ys)

    def loss(w):
        return -sum(math.log(softmax([scale * cosine(x, m) for m in w])[y]) for x, y in zip(xs, ys)) / len(xs)

    adam = AdamByHand((WAYS, DIM), rate)
    for _ in range(steps):
        adam.step(weights, numeric_gradient(loss, weights))
    return [[scale * cosine(q, w) for w in weights] for q in qs]


def logistic_regression(c=1.0):
    xs, ys, qs = images("l2n")
    w = [[0.0] * DIM for _ in range(WAYS)]
    b = [0.0] * WAYS
    for _ in range(20000):
        gw, gb = [list(row) for row in w], [0.0] * WAYS
        for x, y in zip(xs, ys):
            p = softmax([dot(w[k], x) + b[k] for k in range(WAYS)])
            for k in range(WAYS):
                pull = c * (p[k] - (1.0 if k == y else 0.0))
                gw[k] = add(gw[k], times(pull, x))
                gb[k] += pull
        w = [sub(w[k], times(0.1, gw[k])) for k in range(WAYS)]
        b = [b[k] - 0.1 * gb[k] for k in range(WAYS)]
    return [[dot(w[k], q) + b[k] for k in range(WAYS)] for q in qs]


def linear_svm(c=1.0):
    xs, ys, qs = images("l2n")
    out = [[0.0] * WAYS for _ in qs]
    for k in range(WAYS):
        w, b = [0.0] * DIM, 0.0
        for _ in range(20000):
            gw, gb = list(w), b
            for x, y in zip(xs, ys):
                side = 1.0 if y == k else -1.0
                miss = max(0.0, 1 - side * (dot(w, x) + b))
                gw = sub(gw, times(2 * c * side * miss, x))
                gb -= 2 * c * side * miss
            w, b = sub(w, times(0.02, gw)), b - 0.02 * gb
        for j, q in enumerate(qs):
            out[j][k] = dot(w, q) + b
    return out


def knn(k=3):
    xs, ys, qs = images("cl2n")
    out = []
    for q in qs:
        near = sorted((square_distance(q, x), y) for x, y in zip(xs, ys))
        votes = [sum(1.0 for _, y in near[:k] if y == c) for c in range(WAYS)]
        first = [min(d for d, y in near if y == c) for c in range(WAYS)]
        out.append([v + 0.5 / (1 + d) for v, d in zip(votes, first)])
    return out


# ------------------------------------------------------------------------------------------------------- transductive
def moved_queries(xs, qs):
    shift = sub(mean(xs), mean(qs))
    return [add(q, shift) for q in qs]


def rectified_by_mean(xs, ys, qs, scale=10):
    ms = class_means(xs, ys)
    points = xs + moved_queries(xs, qs)
    found = []
    for k in range(WAYS):
        own = [x for x in points if argmax([cosine(x, m) for m in ms]) == k]
        weighted = [times(softmax([scale * cosine(x, m) for m in ms])[k], x) for x in own]
        found.append(mean(weighted) if own else ms[k])
    return found


def bd_cspn_mean():
    xs, ys, qs = images("cl2n")
    return logits_from(distances(qs, rectified_by_mean(xs, ys, qs)), 1)


def bd_cspn_sum(scale=10):
    xs, ys, qs = images("cl2n")
    ms = class_means(xs, ys)
    moved = moved_queries(xs, qs)
    found = []
    for k in range(WAYS):
        own = [x for x, y in zip(xs, ys) if y == k]
        own += [x for x in moved if argmax([cosine(x, m) for m in ms]) == k]
        found.append(weighted_mean([math.exp(scale * cosine(x, ms[k])) for x in own], own))
    return [[10 * cosine(q, m) for m in found] for q in qs]


def soft_k_means(sharpness=10, steps=10):
    xs, ys, qs = images("cl2n")
    ms = class_means(xs, ys)
    for _ in range(steps):
        ms = means_with(xs, ys, qs, [softmax(row) for row in logits_from(distances(qs, ms), sharpness)])
    return logits_from(distances(qs, ms), sharpness)


def laplacian_shot(moved=True, weight=0.7, neighbours=2, steps=20):
    xs, ys, qs = images("cl2n")
    a = distances(moved_queries(xs, qs) if moved else qs, rectified_by_mean(xs, ys, qs))
    near = []
    for j, q in enumerate(qs):
        others = sorted((square_distance(q, p), i) for i, p in enumerate(qs) if i != j)
        near.append([i for _, i in others[:neighbours]])
    logits = logits_from(a, 1)
    for _ in range(steps):
        y = [softmax(row) for row in logits]
        logits = [[-a[j][k] + weight * sum(y[i][k] for i in near[j]) for k in range(WAYS)] for j in range(len(qs))]
    return logits


def balanced_plan(kernel, columns, steps=5000):
    """Sinkhorn and Knopp on a positive matrix: rows sum to 1, columns to `columns`."""
    p = [list(row) for row in kernel]
    for _ in range(steps):
        for k in range(WAYS):
            total = sum(row[k] for row in p)
            for row in p:
                row[k] *= columns[k] / total if total > 0 else 0.0
        p = [times(1 / sum(row), row) for row in p]
    return p


def centred(xs, centre):
    return [unit(sub(x, centre)) for x in xs]


def pt_map(transform, weight=10, rate=0.2, steps=20):
    xs, ys, qs = images(transform)
    xs, qs = centred(xs, mean(xs)), centred(qs, mean(qs))
    ms = class_means(xs, ys)
    plan = lambda: balanced_plan(
        [[math.exp(-weight * d) for d in row] for row in distances(qs, ms)], [len(qs) / WAYS] * WAYS, 1000)
    for _ in range(steps):
        estimate = means_with(xs, ys, qs, plan())
        ms = [add(m, times(rate, sub(e, m))) for m, e in zip(ms, estimate)]
    return [[math.log(v) for v in row] for row in plan()]


def tim_logits(xs, w, temperature=15):
    return [[temperature * (dot(x, m) - dot(m, m) / 2) for m in w] for x in xs]


def entropy(p, alpha):
    if alpha == 1:
        return -sum(v * math.log(v) for v in p)
    return (1 - sum(v**alpha for v in p)) / (alpha - 1)


def cosine_logits(xs, w):
    return [[15 * cosine(x, m) for m in w] for x in xs]


def distance_logits(xs, w):
    return [[-15 * math.sqrt(square_distance(x, m)) for m in w] for x in xs]


def information_descent(weights_of_loss, alpha, steps, rate, logits=tim_logits):
    xs, ys, qs = images("l2n")
    w = class_means(xs, ys)

    def loss(v):
        p = [softmax(row) for row in logits(qs, v)]
        fit = -sum(math.log(softmax(row)[y]) for row, y in zip(logits(xs, v), ys)) / len(xs)
        spread = entropy(mean(p), alpha)
        doubt = sum(entropy(row, alpha) for row in p) / len(p)
        return weights_of_loss[0] * fit - weights_of_loss[1] * spread + weights_of_loss[2] * doubt

    adam = AdamByHand((WAYS, DIM), rate)
    for _ in range(steps):
        adam.step(w, numeric_gradient(loss, w))
    return logits(qs, w)


def tim_adm(l0=0.1, l1=1.0, l2=0.1, steps=30):
    """Equations 8 to 10 of the paper, as its code does them: alpha = l2, beta = l1 / (1 + l1)."""
    xs, ys, qs = images("l2n")
    w = class_means(xs, ys)
    for _ in range(steps):
        ps = [softmax(row) for row in tim_logits(xs, w)]
        pq = [softmax(row) for row in tim_logits(qs, w)]
        power = [[v ** (1 + l2) for v in row] for row in pq]
        total = [sum(row[k] for row in power) ** (l1 / (1 + l1)) for k in range(WAYS)]
        q = [[v / t for v, t in zip(row, total)] for row in power]
        q = [times(1 / sum(row), row) for row in q]
        c, e = l0 / (1 + l2), len(xs) / len(qs)
        new = []
        for k in range(WAYS):
            top, bottom = [0.0] * DIM, 0.0
            for x, y, p in zip(xs, ys, ps):
                label = 1.0 if y == k else 0.0
                top = add(top, times(c * label, x))
                top = add(top, times(c * p[k], sub(w[k], x)))
                bottom += c * label
            for x, r, p in zip(qs, q, pq):
                top = add(top, times(e * r[k], x))
                top = add(top, times(e * p[k], sub(w[k], x)))
                bottom += e * r[k]
            new.append(times(1 / bottom, top))
        w = new
    return tim_logits(qs, w)


def paddle(weight=1.0, steps=8):
    xs, ys, qs = images("none")
    low = [min(column) for column in zip(*qs)]
    high = [max(column) for column in zip(*qs)]
    scaled = lambda x: [(v - a) / (b - a) for v, a, b in zip(x, low, high)]
    xs, qs = [scaled(x) for x in xs], [scaled(q) for q in qs]
    ms = class_means(xs, ys)
    v = [0.0] * WAYS
    for _ in range(steps):
        logits = [[-d / 2 + weight * v[k] for k, d in enumerate(row)] for row in distances(qs, ms)]
        u = [softmax(row) for row in logits]
        v = [math.log(sum(row[k] for row in u) / len(u) + 1e-6) + 1 for k in range(WAYS)]
        ms = means_with(xs, ys, qs, u)
    return logits


def digamma(x):
    shift = 0.0
    while x < 20:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def bavardage(precision=4, steps=5, start=10, start_steps=5, limit=5, strength=10, dirichlet=2):
    xs, ys, qs = images("cl2n")
    ms = class_means(xs, ys)
    for step in range(start_steps):
        r = [softmax(row) for row in logits_from(distances(qs, ms), start)]
        ms = means_with(xs, ys, qs, r)
    scatters = []
    for label in range(4):
        own = [space("cl2n", x) for x, y in zip(EPISODE["base"], EPISODE["base_labels"]) if y == label]
        rest = [sub(x, mean(own)) for x in own]
        scatters.append([[sum(x[i] * x[j] for x in rest) for j in range(DIM)] for i in range(DIM)])
    norms = [math.sqrt(sum(v * v for row in s for v in row)) for s in scatters]
    shared = [[sum(s[i][j] / n for s, n in zip(scatters, norms)) / 4 * sum(norms) / 4 + (1e-6 if i == j else 0.0)
               for j in range(DIM)] for i in range(DIM)]
    axes = [(min(value**-0.5, limit), vector) for value, vector in eigen(shared)]
    white = lambda x: [scale * dot(x, vector) for scale, vector in axes]
    points = [white(x) for x in xs + qs]
    for _ in range(steps):
        weights = [one_hot(y) for y in ys] + r
        beta = [strength + sum(w[k] for w in weights) for k in range(WAYS)]
        shrunk = lambda data: [times(1 / beta[k], [sum(w[k] * v for w, v in zip(weights, column))
                                                   for column in zip(*data)]) for k in range(WAYS)]
        base = []
        first, *others = shrunk(points)
        for m in others:  # Gram and Schmidt
            e = sub(m, first)
            for b in base:
                e = sub(e, times(dot(e, b), b))
            base.append(unit(e))
        flat = [[dot(x, b) for b in base] for x in points]
        centres = shrunk(flat)
        alpha = [dirichlet + sum(row[k] for row in r) for k in range(WAYS)]
        logits = [[digamma(alpha[k]) - digamma(sum(alpha)) - precision / 2 * square_distance(x, centres[k])
                   - (WAYS - 1) / (2 * beta[k]) for k in range(WAYS)] for x in flat[len(xs):]]
        r = [softmax(row) for row in logits]
    return logits


def label_graph(points, labels, alpha, neighbours, power):
    """(I - alpha W)^-1 Y."""
    m = len(points)
    a = [[0.0] * m for _ in range(m)]
    for i in range(m):
        near = sorted((j for j in range(m) if j != i), key=lambda j: -cosine(points[i], points[j]))[:neighbours]
        for j in near:
            value = max(cosine(points[i], points[j]), 0.0) ** power
            a[i][j] += value
            a[j][i] += value
    degree = [sum(row) or 1.0 for row in a]
    system = [[(1.0 if i == j else 0.0) - alpha * a[i][j] / math.sqrt(degree[i] * degree[j]) for j in range(m)]
              for i in range(m)]
    return solve(system, labels)


def label_propagation(alpha=0.8, neighbours=4, power=3):
    xs, ys, qs = images("cl2n")
    f = label_graph(xs + qs, [one_hot(y) for y in ys] + [[0.0] * WAYS for _ in qs], alpha, neighbours, power)
    return [[math.log(v + 1e-9) for v in row] for row in f[len(xs):]]


def protolp(weight=10, share=0.6, rate=0.2, steps=15, dimensions=4):
    xs, ys, qs = images("cl2n")
    points = xs + qs
    second = [[sum(x[i] * x[j] for x in points) for j in range(DIM)] for i in range(DIM)]
    axes = [vector for _, vector in eigen(second)[:dimensions]]
    points = [[dot(x, axis) for axis in axes] for x in points]
    points = centred(points, mean(points))
    xs, qs = points[:len(xs)], points[len(xs):]
    ms = [unit(m) for m in class_means(xs, ys)]
    columns = [len(qs) / WAYS] * WAYS
    plan = lambda: balanced_plan([[math.exp(-weight * d) for d in row] for row in distances(qs, ms)], columns, 1000)
    for _ in range(steps):
        z = plan()
        everything = [one_hot(y) for y in ys] + z
        delta = [sum(row[k] for row in everything) for k in range(WAYS)]
        w = [[sum(row[i] * row[j] / delta[j] for row in everything) for j in range(WAYS)] for i in range(WAYS)]
        left = [[(SHOTS + 1.0 if i == j else 0.0) - w[i][j] for j in range(WAYS)] for i in range(WAYS)]
        right = [[float(SHOTS) if i == j else 0.0 for j in range(WAYS)] for i in range(WAYS)]
        a = solve(left, right)
        spread = balanced_plan([[sum(row[i] * a[i][j] for i in range(WAYS)) for j in range(WAYS)] for row in z],
                               columns, 1000)
        mixed = [[share * s + (1 - share) * v for s, v in zip(x, y)] for x, y in zip(spread, z)]
        estimate = means_with(xs, ys, qs, mixed)
        ms = [add(m, times(rate, sub(e, m))) for m, e in zip(ms, estimate)]
    return [[math.log(v) for v in row] for row in plan()]


def ilpc(alpha=0.8, neighbours=4, power=3, sharpness=3, keep=1, cleaning=50):
    xs, ys, qs = images("l2n")
    known = list(ys)  # labels of the supports, then of queries as they come
    order = list(range(len(qs)))
    labelled = {}
    remaining = [len(qs) / WAYS] * WAYS
    answers = [None] * len(qs)
    while len(labelled) < len(qs):
        labels = [one_hot(y) for y in ys] + [one_hot(labelled[j]) if j in labelled else [0.0] * WAYS for j in order]
        f = label_graph(xs + qs, labels, alpha, neighbours, power)
        free = [j for j in order if j not in labelled]
        rows = [[max(v, 0.0) + 1e-12 for v in f[len(xs) + j]] for j in free]
        rows = [times(1 / sum(row), row) for row in rows]
        plan = balanced_plan([[v**sharpness for v in row] for row in rows], remaining, 1000)
        guess = {j: argmax(row) for j, row in zip(free, plan)}
        names = known + [labelled.get(j, guess.get(j)) for j in order]
        losses = cleaned(xs + qs, names, [row for row in labels], cleaning)
        chosen = []
        for k in range(WAYS):
            own = sorted((j for j in free if guess[j] == k), key=lambda j: losses[len(xs) + j])
            chosen += own[:keep]
        if len(chosen) < WAYS:
            chosen = free
        for j in chosen:
            labelled[j] = guess[j]
            answers[j] = plan[free.index(j)]
            remaining[guess[j]] = max(0.0, remaining[guess[j]] - 1)
    return [[math.log(v + 1e-9) for v in row] for row in answers]


def cleaned(points, names, trusted, steps):
    """Mean loss of each point over SGD (rate .1, momentum .9, decay 5e-4) on a linear layer that starts at the trusted
    points' class means."""
    w = [unit(mean([p for p, t in zip(points, trusted) if t[k] == 1])) for k in range(WAYS)]
    b = [0.0] * WAYS
    sw, sb = [[0.0] * DIM for _ in range(WAYS)], [0.0] * WAYS
    total = [0.0] * len(points)
    for _ in range(steps):
        gw, gb = [times(5e-4, row) for row in w], times(5e-4, b)
        for i, (x, y) in enumerate(zip(points, names)):
            p = softmax([dot(w[k], x) + b[k] for k in range(WAYS)])
            total[i] -= math.log(p[y]) / steps
            for k in range(WAYS):
                pull = (p[k] - (1.0 if k == y else 0.0)) / len(points)
                gw[k] = add(gw[k], times(pull, x))
                gb[k] += pull
        sw = [add(times(0.9, s), g) for s, g in zip(sw, gw)]
        sb = add(times(0.9, sb), gb)
        w = [sub(row, times(0.1, s)) for row, s in zip(w, sw)]
        b = sub(b, times(0.1, sb))
    return total


def text_logits(qs, scale=100):
    return [[scale * dot(q, unit(t)) for t in EPISODE["text"]] for q in qs]


def zero_shot():
    return text_logits(images("l2n")[2])


def tip_adapter(alpha=1.17, beta=1):
    xs, ys, qs = images("l2n")
    cache = [[sum(math.exp(-beta * (1 - dot(q, x))) for x, y in zip(xs, ys) if y == k) for k in range(WAYS)] for q in qs]
    return [add(t, times(alpha, c)) for t, c in zip(text_logits(qs), cache)]


def gda():
    """Wang et al.'s closed form; (N - 1) times the covariance is the scatter."""
    xs, ys, qs = images("l2n")
    ms = class_means(xs, ys)
    rest = [sub(x, ms[y]) for x, y in zip(xs, ys)]
    scatter = [[sum(r[i] * r[j] for r in rest) for j in range(DIM)] for i in range(DIM)]
    ridge = sum(scatter[i][i] for i in range(DIM)) / (len(xs) - 1)
    system = [[scatter[i][j] + (ridge if i == j else 0.0) for j in range(DIM)] for i in range(DIM)]
    weights = [list(column) for column in zip(*solve(system, [[m[i] * DIM for m in ms] for i in range(DIM)]))]
    return [[dot(q, w) - dot(m, w) / 2 for w, m in zip(weights, ms)] for q in qs]


def gda_text(alpha=0.1):
    return [add(t, times(alpha, g)) for t, g in zip(text_logits(images("l2n")[2]), gda())]


def trans_clip(gamma=0.02, weight_of_text=0.5, shots=True, scale=100, weight=50, neighbours=3):
    """Zanella et al., algorithm 1: block updates of z (5 times each), means and the diagonal covariance (10 times)."""
    xs, ys, qs = images("l2n")
    if not shots:
        xs, ys = [], []
    said = [softmax(row) for row in text_logits(qs, scale)]

    def nearest(x, others):
        ranked = sorted(others, key=lambda j: -dot(x, qs[j]))[:neighbours]
        return {j: dot(x, qs[j]) for j in ranked}

    own = [nearest(q, [j for j in range(len(qs)) if j != i]) for i, q in enumerate(qs)]
    of_shots = [nearest(x, range(len(qs))) for x in xs]
    if shots:
        ms = [unit([sum(column) for column in zip(*[x for x, y in zip(xs, ys) if y == k])]) for k in range(WAYS)]
    else:
        ms = []
        for k in range(WAYS):
            sure = sorted(range(len(qs)), key=lambda i: -said[i][k])[:8]
            ms.append(unit([sum(said[i][k] * qs[i][d] for i in sure) for d in range(DIM)]))
    variance = [1 / DIM] * DIM
    z = [list(row) for row in said]
    for step in range(11):
        if step:
            points = qs + xs
            weights = [times(1 / len(qs), row) for row in z]
            weights += [times(gamma * weight / len(xs), one_hot(y)) for y in ys]
            ms = [unit([sum(w[k] * p[d] for w, p in zip(weights, points)) for d in range(DIM)]) for k in range(WAYS)]
            total = sum(sum(w) for w in weights)
            variance = [sum(w[k] * (p[d] - ms[k][d]) ** 2 for w, p in zip(weights, points) for k in range(WAYS)) / total
                        for d in range(DIM)]
        for _ in range(5):
            logits = []
            for i, q in enumerate(qs):
                row = []
                for k in range(WAYS):
                    likelihood = -sum((a - m) ** 2 / v for a, m, v in zip(q, ms[k], variance)) / 2
                    pull = sum(w * z[j][k] for j, w in own[i].items())
                    pull += sum(own[j][i] * z[j][k] for j in range(len(qs)) if i in own[j])
                    pull += sum(near[i] for near, y in zip(of_shots, ys) if i in near and y == k)
                    row.append(weight_of_text * math.log(said[i][k])
                               + (likelihood + weight / (2 * neighbours) * pull) / weight)
                logits.append(row)
            z = [softmax(row) for row in logits]
    return logits


def digamma(x):
    """By its recurrence up to 10 and its asymptotic series."""
    below = 0.0
    while x < 10:
        below -= 1 / x
        x += 1
    terms = ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252), (8, -1 / 240), (10, 1 / 132), (12, -691 / 32760))
    return below + math.log(x) - 1 / (2 * x) - sum(c / x ** n for n, c in terms)


def likeliest_dirichlet(mean_log, alpha):
    """Martin et al., the minorisation of section 4: 1 + (the curvature at 0) of log Gamma(1 + a) bounds it by a parabola."""
    for step in range(1000):
        total, new = digamma(sum(alpha)), []
        for a, m in zip(alpha, mean_log):
            slope = digamma(a + 1)
            curvature = abs(2 * (slope * a - math.lgamma(a + 1)) / a ** 2)
            b = slope - total - curvature * a - m
            new.append((math.sqrt(b * b + 4 * curvature) - b) / (2 * curvature))
        change = square_distance(new, alpha) / dot(alpha, alpha)
        alpha = new
        if step and step % 50 == 0 and change < 1e-11:
            break
    return alpha


def em_dirichlet(present=None, shots=True, temperature=30):
    xs, ys, qs = images("l2n")
    if not shots:
        xs, ys = [], []
    z = [softmax(row) for row in text_logits(qs, temperature)]
    log = lambda rows: [[math.log(p + 1e-15) for p in row] for row in rows]
    log_q, log_s = log(z), log([softmax(row) for row in text_logits(xs, temperature)])
    factor = WAYS // present if present else 1
    u, alpha = z, [[1.0] * WAYS for _ in range(WAYS)]
    for _ in range(20):
        shares = [sum(row[k] for row in u) / len(qs) for k in range(WAYS)]
        for k in range(WAYS):
            weights = [row[k] for row in u] + [float(y == k) for y in ys]
            alpha[k] = likeliest_dirichlet(weighted_mean(weights, log_q + log_s), alpha[k])
        logits = [[math.lgamma(sum(a)) - sum(map(math.lgamma, a)) + sum((v - 1) * w for v, w in zip(a, row))
                   + factor * math.log(share + 1e-15) for a, share in zip(alpha, shares)] for row in log_q]
        u = [softmax(row) for row in logits]
    if shots:
        return logits
    cluster = [argmax(row) for row in u]
    present_clusters = sorted(set(cluster))
    mean_z = {c: mean([row for row, own in zip(z, cluster) if own == c]) for c in present_clusters}
    best = max(itertools.permutations(range(WAYS)), key=lambda classes: sum(mean_z[c][classes[c]] for c in present_clusters))
    return [[row[best.index(k)] for k in range(WAYS)] for row in logits]


# The answers are logarithms of probabilities, [query][class], of the method as it is typed.
ANSWERS = {
    "proto-net": lambda: nearest_mean("none"),
    "simple-shot": lambda: nearest_mean("cl2n"),
    "simple-shot:transform=l2n": lambda: nearest_mean("l2n"),
    "baseline-pp:steps=20:learning_rate=0.05": baseline_pp,
    "logistic-regression": logistic_regression,
    "logistic-regression:c=10": lambda: logistic_regression(10.0),
    "linear-svm": linear_svm,
    "knn:k=3": knn,
    "bd-cspn": bd_cspn_mean,
    "bd-cspn:variant=sum": bd_cspn_sum,
    "soft-k-means": soft_k_means,
    "laplacian-shot": laplacian_shot,
    "laplacian-shot:queries=unmoved": lambda: laplacian_shot(moved=False),
    "pt-map": lambda: pt_map("cl2n"),
    "pt-map:transform=power": lambda: pt_map("power"),
    "tim:steps=30": tim_adm,
    "tim:variant=gd:steps=30:learning_rate=0.01": lambda: information_descent((0.1, 1.0, 0.1), 1, 30, 0.01),
    "tim:variant=gd:logits=cosine:steps=30:learning_rate=0.01":
        lambda: information_descent((0.1, 1.0, 0.1), 1, 30, 0.01, cosine_logits),
    "tim:variant=gd:logits=distance:steps=30:learning_rate=0.01":
        lambda: information_descent((0.1, 1.0, 0.1), 1, 30, 0.01, distance_logits),
    "alpha-tim:steps=30:learning_rate=0.01": lambda: information_descent((1.0, 1.0, 1.0), 5, 30, 0.01),
    "alpha-tim:alpha=2:steps=30:learning_rate=0.01": lambda: information_descent((1.0, 1.0, 1.0), 2, 30, 0.01),
    "paddle:steps=8": paddle,
    "bavardage:precision=4": bavardage,
    "bavardage:precision=4:whitened=span": bavardage,  # 13 images span all six dimensions
    "label-propagation:neighbours=4": label_propagation,
    "protolp:steps=15:dimensions=4": protolp,
    "zero-shot": zero_shot,
    "tip-adapter": tip_adapter,
    "tip-adapter:alpha=3:beta=5.5": lambda: tip_adapter(3, 5.5),
    "gda": gda,
    "gda-text": gda_text,
    "gda-text:alpha=1": lambda: gda_text(1),
    "trans-clip:scale=10": lambda: trans_clip(scale=10),
    "trans-clip:gamma=0.2:scale=10": lambda: trans_clip(0.2, scale=10),
    "em-dirichlet:temperature=3": lambda: em_dirichlet(temperature=3),
    "em-dirichlet:present=1:temperature=3": lambda: em_dirichlet(1, temperature=3),
    "ilpc:neighbours=4:keep=1:cleaning_steps=50": ilpc,
}

if __name__ == "__main__":
    found = {name: [log_softmax(row) for row in answer()] for name, answer in ANSWERS.items()}
    without = {"trans-clip:scale=10": [log_softmax(row) for row in trans_clip(0, 1, shots=False, scale=10)],
               "em-dirichlet:temperature=2": [log_softmax(row) for row in em_dirichlet(shots=False, temperature=2)]}
    print(json.dumps({"episode": EPISODE, "answers": found, "without_photos": without}))
