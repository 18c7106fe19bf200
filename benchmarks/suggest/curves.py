"""Which unlabelled images to label next: accuracy against the number of labelled images, for several rules.

    python benchmarks/suggest/curves.py choose birds=cub-100-resnet12.npz flowers=oxford_flowers.npz --divisions 40 --out choose.json

From 3 images of each of 10 classes on, three batches of 20 images of an unbalanced pile (5 to 40 of each class) are labelled. All rules see
the same divisions; a difference is paired with "random". Inductive: accuracy is measured on images outside the pile, by plda. "choose"
takes the classes of the split val (where a file has none, every second class), "report" those of novel (the others).
"""
import argparse
import json

import numpy as np
import protocom

WAY, SHOTS, BATCH, ROUNDS, TEST = 10, 3, 20, 3, 20


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def likeness(pool):
    """Cosines of features less their mean, from 0 to 1."""
    points = unit(pool - pool.mean(0))
    return np.clip(points @ points.T, 0, 1)


def margins(chance):
    two = np.sort(chance, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def random_rule(chance, pool, count, rng):
    return rng.permutation(len(pool))[:count]


def least_certain(chance, pool, count, rng):
    return np.argsort(margins(chance), kind="stable")[:count]


def entropy(chance, pool, count, rng):
    return np.argsort(np.sum(chance * np.log(np.maximum(chance, 1e-12)), axis=1), kind="stable")[:count]


def uncertain_apart(chance, pool, count, rng):
    """The least certain, times how unlike they are to those that are chosen."""
    doubt, alike = 1 - margins(chance), likeness(pool)
    apart, chosen = np.ones(len(pool)), []
    for _ in range(min(count, len(pool))):
        score = doubt * apart
        score[chosen] = -1
        chosen.append(int(np.argmax(score)))
        apart = np.minimum(apart, 1 - alike[chosen[-1]])
    return np.array(chosen)


def covered_doubt(power):
    """Greedily the image that takes most of the pile's doubt that is left: doubt of each image times likeness."""
    def rule(chance, pool, count, rng):
        doubt, alike = 1 - margins(chance), likeness(pool) ** power
        covered, chosen = np.zeros(len(pool)), []
        for _ in range(min(count, len(pool))):
            gain = np.maximum(alike - covered, 0) @ doubt
            gain[chosen] = -1
            chosen.append(int(np.argmax(gain)))
            covered = np.maximum(covered, alike[chosen[-1]])
        return np.array(chosen)
    return rule


def badge(chance, pool, count, rng):
    """k-means++ on gradients of the last layer (Ash et al., ICLR 2020), features less their mean."""
    points = unit(pool - pool.mean(0))
    error = np.eye(chance.shape[1])[chance.argmax(1)] - chance
    inner = (error @ error.T) * (points @ points.T)
    squares = np.diag(inner)
    chosen = [int(np.argmax(squares))]
    nearest = squares + squares[chosen[0]] - 2 * inner[chosen[0]]
    while len(chosen) < min(count, len(pool)):
        nearest = np.maximum(nearest, 0)
        nearest[chosen] = 0
        total = nearest.sum()
        pick = int(rng.choice(len(pool), p=nearest / total)) if total > 0 else int(np.setdiff1d(np.arange(len(pool)), chosen)[0])
        chosen.append(pick)
        nearest = np.minimum(nearest, squares + squares[pick] - 2 * inner[pick])
    return np.array(chosen)


def each_class_in_turn(chance, pool, count, rng):
    """The least certain of those taken for each class, class by class."""
    order = np.argsort(margins(chance), kind="stable")
    queues = {k: [i for i in order if chance[i].argmax() == k] for k in range(chance.shape[1])}
    chosen = []
    while len(chosen) < min(count, len(pool)):
        for queue in queues.values():
            if queue and len(chosen) < count:
                chosen.append(queue.pop(0))
    return np.array(chosen)


RULES = {"random": random_rule, "least certain": least_certain, "entropy": entropy, "uncertain, apart": uncertain_apart,
         "covered doubt": covered_doubt(1), "covered doubt, cubed": covered_doubt(3), "badge": badge, "each class in turn": each_class_in_turn}


def classes_of(file, part):
    labels = np.unique(file["labels"])
    split = file["split"].astype(str) if "split" in file else np.array([])
    if (split == "val").any():
        sides = dict(zip(file["labels"].tolist(), split)) if len(split) == len(file["labels"]) else dict(zip(labels.tolist(), split))
        wanted = "val" if part == "choose" else "novel"
        return np.array([k for k in labels if sides[int(k)] == wanted])
    return labels[0::2] if part == "choose" else labels[1::2]


def division(labels, classes, rng):
    """Labelled, pile and test images of ten classes."""
    big = [k for k in classes if (labels == k).sum() >= SHOTS + TEST + 5]
    own, pile, test = [], [], []
    for k in rng.choice(big, WAY, replace=False):
        rows = rng.permutation(np.flatnonzero(labels == k))
        own.extend(rows[:SHOTS])
        test.extend(rows[SHOTS:SHOTS + TEST])
        pile.extend(rows[SHOTS + TEST:][:rng.integers(5, 41)])
    return own, pile, test


def run(features, labels, classes, rules, divisions, seed):
    found = {name: [] for name in rules}
    for number in range(divisions):
        own, pile, test = division(labels, classes, np.random.default_rng([seed, number]))
        for name in rules:
            rng = np.random.default_rng([seed, number, 1])
            known, left, curve = list(own), list(pile), []
            for step in range(ROUNDS + 1):
                model = protocom.Classifier("plda").fit(features[known], labels[known])
                chance = model.predict_proba(features[test + left])
                right = model.classes_[chance[:len(test)].argmax(1)] == labels[test]
                curve.append(100 * right.mean())
                if step == ROUNDS:
                    break
                picked = RULES[name](chance[len(test):], features[left], BATCH, rng)
                known += [left[i] for i in picked]
                left = [row for i, row in enumerate(left) if i not in set(int(p) for p in picked)]
            found[name].append(curve)
    return {name: np.array(curves) for name, curves in found.items()}


def summary(values):
    return [[round(float(m), 2), round(float(1.96 * s / np.sqrt(len(values))), 2)]
            for m, s in zip(values.mean(0), values.std(0, ddof=1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["choose", "report"])
    parser.add_argument("sets", nargs="+", help="NAME=FILE.npz")
    parser.add_argument("--rules", default=",".join(RULES).replace("uncertain, apart", "uncertain; apart").replace("doubt, cubed", "doubt; cubed"))
    parser.add_argument("--divisions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out")
    asked = parser.parse_args()
    rules = [name.replace(";", ",") for name in asked.rules.split(",")]
    made = {"part": asked.part, "divisions": asked.divisions, "seed": asked.seed, "mode": "inductive",
            "labelled": [WAY * SHOTS + BATCH * i for i in range(ROUNDS + 1)], "sets": {}}
    for text in asked.sets:
        name, path = text.split("=", 1)
        file = np.load(path)
        features, labels = file["features"].astype(np.float32), file["labels"]
        curves = run(features, labels, classes_of(file, asked.part), rules, asked.divisions, asked.seed)
        made["sets"][name] = {rule: {"accuracy": summary(curves[rule]), "over_random": summary(curves[rule] - curves["random"])}
                              for rule in rules}
        for rule, figures in made["sets"][name].items():
            print(f"{name:10} {rule:22} " + "  ".join(f"{m:5.1f}" for m, _ in figures["accuracy"]) + "   over random "
                  + "  ".join(f"{m:+.1f}±{s:.1f}" for m, s in figures["over_random"][1:]), flush=True)
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as out:
            json.dump(made, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
