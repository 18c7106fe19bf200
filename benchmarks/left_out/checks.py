"""Misplaced images found, and coverage of sets of classes, both by leaving images out.

    python benchmarks/left_out/checks.py birds=cub-100-resnet12.npz --draws 40 --out checks.json

Recognizers of 10 classes drawn from a file, K images each. In the planted ones 5 % of the images lie in another class. An image is named as
misplaced where the probability of its own class, by the others, is below the value that a right class falls below in `rate` of all cases by
the probabilities themselves. Coverage: sets of the classes whose probability reaches the conformal quantile of the images left out, on 20
new images of each class. Inductive, by plda.
"""
import argparse
import json

import numpy as np
import protocom

WAY, TEST, FOLDS = 10, 20, 10


def left_out(features, labels):
    """Probabilities of each image by the others, one of each class left out at a time (or a tenth of it)."""
    chance = np.zeros((len(labels), WAY))
    fold = np.zeros(len(labels), int)
    for k in range(WAY):
        rows = np.flatnonzero(labels == k)
        fold[rows] = np.arange(len(rows)) % min(FOLDS, len(rows))
    for number in range(fold.max() + 1):
        out = fold == number
        model = protocom.Classifier("plda").fit(features[~out], labels[~out])
        chance[np.ix_(out, model.classes_.astype(int))] = model.predict_proba(features[out])
    return chance


def bound(chance, rate):
    values = np.sort(chance.ravel())
    below = np.cumsum(values) <= rate * len(chance)
    return values[below.sum()] if below.sum() < len(values) else 1.0


def tempered(chance, labels, wrong=0.05):
    """The probabilities with the power that makes the labels most likely, where a share of them is wrong, with a normal prior on its
    logarithm."""
    logs = np.log(np.maximum(chance, 1e-300))
    own, best, best_cost = np.arange(len(labels)), chance, np.inf
    for power in np.exp(np.linspace(-3, 3, 121)):
        made = np.exp(power * (logs - logs.max(1, keepdims=True)))
        made /= made.sum(1, keepdims=True)
        cost = -np.log((1 - wrong) * made[own, labels] + wrong / chance.shape[1]).sum() + np.log(power) ** 2 / 2
        if cost < best_cost:
            best, best_cost = made, cost
    return best


def named(chance, labels, rate):
    chance = tempered(chance, labels)
    own = chance[np.arange(len(labels)), labels]
    return (own < bound(chance, rate)) & (chance.argmax(1) != labels)


def coverage(chance, labels, new, right, asked):
    own = np.sort(chance[np.arange(len(labels)), labels])
    place = int(np.floor((len(own) + 1) * (1 - asked)))
    if place < 1:
        return None
    sets = new >= own[place - 1]
    sets[np.arange(len(new)), new.argmax(1)] = True
    return sets[np.arange(len(new)), right].mean(), sets.sum(1).mean()


def draw(features, labels, classes, shots, rng):
    big = [k for k in classes if (labels == k).sum() >= shots + TEST]
    picked = [rng.permutation(np.flatnonzero(labels == k)) for k in rng.choice(big, WAY, replace=False)]
    own = np.concatenate([rows[:shots] for rows in picked])
    test = np.concatenate([rows[shots:shots + TEST] for rows in picked])
    return features[own], np.repeat(np.arange(WAY), shots), features[test], np.repeat(np.arange(WAY), TEST)


def one(features, labels, classes, shots, rng, rates):
    x, y, new, right = draw(features, labels, classes, shots, rng)
    chance = left_out(x, y)
    model = protocom.Classifier("plda").fit(x, y)
    answers = model.predict_proba(new)
    found = {"accuracy": float((answers.argmax(1) == right).mean())}
    for asked in (0.8, 0.9, 0.95):
        made = coverage(chance, y, answers, right, asked)
        if made:
            found[f"covered {asked}"], found[f"size {asked}"] = map(float, made)
    for rate in rates:
        found[f"false {rate}"] = float(named(chance, y, rate).mean())
    planted = rng.choice(len(y), max(1, round(0.05 * len(y))), replace=False)
    moved = y.copy()
    moved[planted] = (y[planted] + rng.integers(1, WAY, len(planted))) % WAY
    chance = left_out(x, moved)
    wrong = np.isin(np.arange(len(y)), planted)
    for rate in rates:
        hit = named(chance, moved, rate)
        found[f"found {rate}"] = float(hit[wrong].mean())
        found[f"false beside {rate}"] = float(hit[~wrong].mean())
    own = chance[np.arange(len(y)), moved] / chance.max(1)
    found["found among as many first"] = float(wrong[np.argsort(own, kind="stable")[:len(planted)]].mean())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", help="NAME=FILE.npz[:split]")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shots", default="3,5,10,20")
    parser.add_argument("--rates", default="0.01,0.02,0.05")
    parser.add_argument("--out")
    asked = parser.parse_args()
    made = {"draws": asked.draws, "seed": asked.seed, "mode": "inductive", "sets": {}}
    rates = [float(rate) for rate in asked.rates.split(",")]
    for text in asked.sets:
        name, path = text.split("=", 1)
        path, _, part = path.partition(":")
        file = np.load(path)
        features, labels = file["features"].astype(np.float32), file["labels"].astype(int)
        classes = np.unique(labels)
        if part:
            split = file["split"].astype(str)
            classes = np.array([k for k in classes if split[k] == part])
        for shots in map(int, asked.shots.split(",")):
            found = [one(features, labels, classes, shots, np.random.default_rng([asked.seed, shots, i]), rates) for i in range(asked.draws)]
            keys = [key for key in found[0]]
            mean = {key: [round(100 * float(np.mean([f[key] for f in found])), 2) if "size" not in key else round(float(np.mean([f[key] for f in found])), 2),
                          round(100 * float(1.96 * np.std([f[key] for f in found], ddof=1) / np.sqrt(len(found))), 2)] for key in keys}
            made["sets"].setdefault(name, {})[shots] = mean
            print(name, shots, {key: f"{m}±{s}" for key, (m, s) in mean.items()}, flush=True)
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as out:
            json.dump(made, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
