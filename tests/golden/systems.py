#!/usr/bin/env python3
"""Expected answers of the systems that the paper compares with, from their equations in plain float64 Python.

Each has a small state (as if it had been fitted), one episode and knowledge of its classes, one of which nothing is known of. Like
equations.py it shares nothing with the C++ sources. Run it to write systems.json anew:
    python3 tests/golden/systems.py > tests/golden/systems.json
"""
import json
import math

from equations import Lcg, cosine, linear, relu, softmax, unit
from yardsticks import add, dot, log_softmax, mean, square_distance, sub, times

DIM, HIDDEN, EMBEDDING = 5, 4, 3
DRAW = Lcg(20210619)

# Classes 0 to 3; of the last nothing is known. The attributes are in another order than the fitted methods have them.
CLASSES = ["ape", "bee", "cow", "dodo"]
ATTRIBUTES = ["wing", "tail", "horn"]
FITTED_ATTRIBUTES = ["tail", "horn", "wing"]
ASSOCIATION = {"ape": {}, "bee": {"wing": 1.0}, "cow": {"tail": 1.0, "horn": 0.5}, "dodo": {}}
CLASS_EMBEDDING = {name: DRAW.vector(EMBEDDING) for name in CLASSES[:3]}
CLASS_EMBEDDING["dodo"] = [0.0] * EMBEDDING
ATTRIBUTE_EMBEDDING = {name: DRAW.vector(EMBEDDING) for name in ATTRIBUTES}

EPISODE_CLASSES = [2, 3, 1]
SUPPORT = [[DRAW.vector(DIM) for _ in range(2)] for _ in EPISODE_CLASSES]
QUERY = [DRAW.vector(DIM) for _ in range(6)]
CENTRE = times(0.2, DRAW.vector(DIM))
NAMES = [CLASSES[k] for k in EPISODE_CLASSES]


# -------------------------------------------------------------------------------------------------------------- parts
def layers(n_in, n_out, hidden=HIDDEN):
    return {
        "hidden.weight": DRAW.matrix(hidden, n_in),
        "hidden.bias": DRAW.vector(hidden),
        "output.weight": DRAW.matrix(n_out, hidden),
        "output.bias": DRAW.vector(n_out),
    }


def apply(net, x, slope=0.0):
    h = [v if v > 0 else slope * v for v in linear(net["hidden.weight"], net["hidden.bias"], x)]
    return linear(net["output.weight"], net["output.bias"], h)


def named(prefix, net):
    return {prefix + name: value for name, value in net.items()}


def in_space(x):
    return unit(sub(x, CENTRE))


SUPPORTS = [[in_space(x) for x in images] for images in SUPPORT]
QUERIES = [in_space(x) for x in QUERY]
MEANS = [mean(images) for images in SUPPORTS]
SPACE = {"space.centre": CENTRE, "space.length": 1.7}


def of_size_one(x):
    return times(math.sqrt(len(x)), unit(x))


def row(name):
    return [ASSOCIATION[name].get(attribute, 0.0) for attribute in FITTED_ATTRIBUTES]


def semantics(kind, name):
    words, attributes = of_size_one(CLASS_EMBEDDING[name]), of_size_one(row(name))
    return {"words": words, "attributes": attributes, "both": words + attributes}[kind]


def known(x):
    return any(v != 0 for v in x)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def by_distance(prototypes, factor=1.0, queries=None):
    return [[-factor * square_distance(q, p) for p in prototypes] for q in (queries or QUERIES)]


def by_cosine(prototypes, factor=10.0):
    return [[factor * cosine(q, p) for p in prototypes] for q in QUERIES]


# ---------------------------------------------------------------------------------------------------------------- AM3
def am3_block(s):
    return {"transform": layers(s, DIM), "gate": layers(DIM, 1)}


def am3_mix(block, p, s):
    if not known(s):
        return p
    said = apply(block["transform"], s)
    share = sigmoid(apply(block["gate"], said)[0])
    return add(times(share, p), times((1 - share) / math.sqrt(DIM), said))


def am3_state(blocks, log_scale):
    state = dict(SPACE, log_scale=log_scale)
    for i, block in enumerate(blocks):
        for part, net in block.items():
            state.update(named(f"block{i}.{part}.", net))
    return state


def am3_outputs(blocks, kinds):
    outputs, at = [], MEANS
    for block, kind in zip(blocks, kinds):
        at = [am3_mix(block, p, semantics(kind, name)) for p, name in zip(at, NAMES)]
        outputs.append(at)
    return outputs


def am3():
    blocks = [am3_block(6)]
    return am3_state(blocks, 0.4), by_distance(am3_outputs(blocks, ["both"])[-1], math.exp(0.4))


def am3_words():
    blocks = [am3_block(3)]
    return am3_state(blocks, 0.0), by_distance(am3_outputs(blocks, ["words"])[-1])


MULTI_BLOCKS = [am3_block(3), am3_block(3)]
MULTI_KINDS = ["words", "attributes"]


def multi_sem():
    return am3_state(MULTI_BLOCKS, 0.7), by_distance(am3_outputs(MULTI_BLOCKS, MULTI_KINDS)[-1], math.exp(0.7))


LOSS_LABELS = [0, 1, 2, 2, 1, 0]


def am3_loss(alpha, beta):
    """Sum over the chain of the mean cross-entropy, the logit of a wrong class k raised by alpha cos(s_y, s_k) + beta."""
    total = 0.0
    s = [semantics("words", name) for name in NAMES]
    for prototypes in am3_outputs(MULTI_BLOCKS, MULTI_KINDS):
        for logits, y in zip(by_distance(prototypes, math.exp(0.7)), LOSS_LABELS):
            raised = [v if k == y else v + alpha * cosine(s[y], s[k]) + beta for k, v in enumerate(logits)]
            total -= log_softmax(raised)[y] / len(LOSS_LABELS)
    return total


# ----------------------------------------------------------------------------------------------------------- SemAlign
def sem_align():
    net = layers(6 + DIM, DIM)
    shares = [0.2, 0.6]
    k = shares[0] + (2 - 1) / 4 * (shares[1] - shares[0])  # two supports, between one and five
    prototypes = []
    for images, p, name in zip(SUPPORTS, MEANS, NAMES):
        s = semantics("both", name)
        each = [times(1 / math.sqrt(DIM), apply(net, s + times(math.sqrt(DIM), x), 0.2)) for x in images]
        made = mean(each) if known(s) else p
        prototypes.append(add(times(k, p), times(1 - k, made)))
    return dict(SPACE, share=shares, **named("align.", net)), by_cosine(prototypes)


# -------------------------------------------------------------------------------------------------------------- FSLKT
def fslkt(knowledge):
    net = layers(EMBEDDING, DIM)
    nodes = CLASSES + FITTED_ATTRIBUTES
    inputs = {name: of_size_one(CLASS_EMBEDDING.get(name) or ATTRIBUTE_EMBEDDING[name]) for name in nodes}

    def edge(a, b):
        if a == b:
            return 1.0
        return ASSOCIATION.get(a, {}).get(b, 0.0) or ASSOCIATION.get(b, {}).get(a, 0.0)

    def neighbourhood(values, a):
        total = sum(edge(a, b) for b in nodes)
        return [sum(edge(a, b) / total * values[b][i] for b in nodes) for i in range(len(values[a]))]

    hidden = {}
    for a in nodes:
        linear_part = linear(net["hidden.weight"], net["hidden.bias"], neighbourhood(inputs, a))
        hidden[a] = [v if v > 0 else 0.2 * v for v in linear_part]
    prototypes = []
    for p, name in zip(MEANS, NAMES):
        told = known(CLASS_EMBEDDING[name]) or known(row(name))
        predicted = unit(linear(net["output.weight"], net["output.bias"], neighbourhood(hidden, name)))
        prototypes.append(add(p, times(knowledge / 2, predicted)) if told else p)
    return dict(SPACE, **named("graph.", net)), by_cosine(prototypes)


# --------------------------------------------------------------------------------------------------------------- VFSL
def log_density(x, m, v):
    return -0.5 * sum((a - b) ** 2 / c + math.log(c) for a, b, c in zip(x, m, v))


def vfsl():
    net = layers(DIM + 1, 2 * DIM)
    log_spread = DRAW.vector(DIM)
    beliefs = []
    for p in MEANS:
        out = apply(net, times(math.sqrt(DIM), p) + [math.log(2)])
        m = add(p, times(1 / math.sqrt(DIM), out[:DIM]))
        beliefs.append((m, [0.5 / DIM / 2 * math.exp(v) for v in out[DIM:]]))
    rows = [[log_density(q, m, [math.exp(s) + v for s, v in zip(log_spread, vs)]) for m, vs in beliefs] for q in QUERIES]
    prior = {"prior.mean": DRAW.vector(DIM), "prior.log_variance": DRAW.vector(DIM)}
    return dict(SPACE, log_spread=log_spread, **prior, **named("inference.", net)), rows


def divergence(m, v, prior_m, prior_v):
    """KL of two Gaussians in one dimension by numerical integration of p log(p / q) over twelve standard deviations."""
    steps, width = 20000, 12 * math.sqrt(v)
    density = lambda x, mu, var: math.exp(-((x - mu) ** 2) / (2 * var)) / math.sqrt(2 * math.pi * var)
    total = 0.0
    for i in range(steps):
        x = m - width + (i + 0.5) * 2 * width / steps
        p = density(x, m, v)
        if p > 0:
            total += p * (math.log(p) + (x - prior_m) ** 2 / (2 * prior_v) + 0.5 * math.log(2 * math.pi * prior_v))
    return total * 2 * width / steps


DIVERGENCES = [{"q": [m, v], "prior": [a, b], "kl": divergence(m, v, a, b)}
               for m, v, a, b in [(0.0, 1.0, 0.0, 1.0), (0.3, 0.2, -0.5, 0.7), (-1.0, 2.0, 0.4, 0.5)]]


# --------------------------------------------------------------------------------------------- features as they are
def raw_means():
    return [mean(images) for images in SUPPORT]


RESTORER = layers(DIM, DIM, 2)


def restored(p, share):
    return add(times(1 - share, p), times(share, apply(RESTORER, p)))


def restore_net(share):
    return RESTORER, by_distance([restored(p, share) for p in raw_means()], 1.0, QUERY)


def srestore_net(count):
    prototypes = []
    for p in raw_means():
        near = sorted(QUERY, key=lambda q: square_distance(p, q))[:count]
        prototypes.append(restored(mean([p] + near), 0.5))
    return RESTORER, by_distance(prototypes, 1.0, QUERY)


def meta_baseline():
    return {"log_scale": 1.2}, [[math.exp(1.2) * cosine(q, p) for p in raw_means()] for q in QUERY]


# The method as it is typed -> its state, and the logits of the queries.
SYSTEMS = {
    "am3": am3,
    "am3:semantics=words": am3_words,
    "am3-traml": am3,
    "multi-sem": multi_sem,
    "sem-align": sem_align,
    "fslkt": lambda: fslkt(1.0),
    "fslkt:knowledge=3": lambda: fslkt(3.0),
    "vfsl": vfsl,
    "restore-net": lambda: restore_net(0.5),
    "restore-net:share=0.3": lambda: restore_net(0.3),
    "srestore-net": lambda: srestore_net(4),
    "srestore-net:neighbours=1": lambda: srestore_net(1),
    "meta-baseline": meta_baseline,
}

if __name__ == "__main__":
    found = {}
    for text, system in SYSTEMS.items():
        state, logits = system()
        found[text] = {"state": state, "answers": [log_softmax(values) for values in logits]}
    print(json.dumps({
        "knowledge": {
            "classes": CLASSES[:3],
            "attributes": ATTRIBUTES,
            "association": [[ASSOCIATION[c].get(a, 0.0) for a in ATTRIBUTES] for c in CLASSES[:3]],
            "class_embedding": [CLASS_EMBEDDING[c] for c in CLASSES[:3]],
            "attribute_embedding": [ATTRIBUTE_EMBEDDING[a] for a in ATTRIBUTES],
        },
        "class_names": CLASSES,
        "fitted_attributes": FITTED_ATTRIBUTES,
        "episode": {"classes": EPISODE_CLASSES, "support": SUPPORT, "query": QUERY},
        "systems": found,
        "loss": {"state": am3_state(MULTI_BLOCKS, 0.7), "labels": LOSS_LABELS,
                 "none": am3_loss(0, 0), "margins": am3_loss(0.8, 0.3)},
        "divergence": DIVERGENCES,
    }))
