#!/usr/bin/env python3
"""The published CTM (github.com/Clarifai/few-shot-ctm) as a head on frozen feature maps: its module without its backbone, trained on tasks of
base classes with its own optimizer, and asked about tasks of another split. What it reaches says whether a `ctm` that is far behind its print
is ours or the method's, where the backbone is not trained with it.

  git clone https://github.com/Clarifai/few-shot-ctm
  protocom extract --images images.pack --backbone backbone.npz --out f.npz --maps maps.safetensors
  python3 benchmarks/peers/ctm_on_maps.py --checkout few-shot-ctm --features f.npz --feature-maps maps.safetensors --split val

Every 200 tasks of training the accuracy on the same 300 tasks of --held-out base classes is printed; the step that is best on them answers.
It needs a Python with PyTorch."""
import argparse
import copy
import importlib.util
import json
import pathlib
import struct
import types

import numpy
import torch


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=pathlib.Path, required=True)
    parser.add_argument("--features", required=True, help="labels and splits are its")
    parser.add_argument("--feature-maps", required=True)
    parser.add_argument("--split", default="val")
    parser.add_argument("--shots", type=int, default=1)
    parser.add_argument("--channels", type=int, default=64, help="of concentrator, projector and reshaper; a multiple of 4")
    parser.add_argument("--relation", action="store_true", help="the relation network instead of the distance")
    parser.add_argument("--blocks", choices=["resnet", "shallow"], default="resnet", help="five bottlenecks a network, or four")
    parser.add_argument("--manner", choices=["1", "2", "3"], default="1", help="dnet_supp_manner")
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--held-out", type=int, default=10, help="base classes that choose the step")
    parser.add_argument("--tasks", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def read_maps(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(size))["maps"]
        file.seek(8 + size + entry["data_offsets"][0])
        values = numpy.fromfile(file, numpy.float16, int(numpy.prod(entry["shape"])))
    return torch.from_numpy(values.reshape(entry["shape"]))


class AsItIs(torch.nn.Module):
    def forward(self, x):
        return x


def published(options, maps):
    """CTMNet whose backbone gives what it is given. Its constructor asks for options by name and measures its backbone."""
    spec = importlib.util.spec_from_file_location("ctm_model", options.checkout / "core/model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    channels, side = maps.shape[1], maps.shape[2]

    class Measured(torch.nn.Module):
        def forward(self, x):
            return torch.zeros(x.shape[0], channels, side, side)

    module.feat_extract = lambda *_, **__: Measured()
    group = types.SimpleNamespace
    settings = group(
        fsl=group(ctm=True, n_way=[5], k_shot=[options.shots]), logger=lambda *_: None, dataset=group(name="maps"),
        ctmnet=group(CE_use_relation=options.relation, dnet=True, dnet_out_c=options.channels, dnet_supp_manner=options.manner),
        model=group(resnet_pretrain=False, structure="resnet40" if options.blocks == "resnet" else "shallow", relation_net="res_block"),
        data=group(im_size=84), ctrl=group(device="cpu"))
    module.CTMNet.mp_mean, module.CTMNet.delete_mp, module.CTMNet.dnet_supp_manner = False, False, options.manner
    net = module.CTMNet(settings)
    net.repnet = AsItIs()
    return net


class Tasks:
    def __init__(self, maps, labels, classes, shots, queries, seed):
        self.maps, self.shots, self.queries = maps, shots, queries
        self.rows = [numpy.flatnonzero(labels == c) for c in classes]
        self.random = numpy.random.default_rng(seed)

    def draw(self):
        support, query = [], []
        for c in self.random.choice(len(self.rows), 5, replace=False):
            rows = self.random.choice(self.rows[c], self.shots + self.queries, replace=False)
            support.append(rows[:self.shots])
            query.append(rows[self.shots:])
        names = torch.arange(5)
        return (self.maps[numpy.concatenate(support)].float()[None], names.repeat_interleave(self.shots)[None],
                self.maps[numpy.concatenate(query)].float()[None], names.repeat_interleave(self.queries)[None])


def class_means(support, names, query):
    """Cosine to the mean of pooled maps, on the same tasks."""
    unit = torch.nn.functional.normalize
    means = unit(unit(support[0].mean((2, 3))).view(5, -1, support.shape[2]).mean(1))
    return (unit(query[0].mean((2, 3))) @ means.t()).argmax(1)


def accuracies(net, tasks):
    net.eval()
    found, plain = [], []
    with torch.no_grad():
        for support, names, query, targets in tasks:
            prediction, _ = net.forward_CTM(support, names, query, targets, train=False)
            found.append((prediction == targets[0]).float().mean().item())
            plain.append((class_means(support, names, query) == targets[0]).float().mean().item())
    net.train()
    return 100 * numpy.array(found), 100 * numpy.array(plain)


def main():
    options = parsed()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    data = numpy.load(options.features)
    labels, split, maps = data["labels"], data["split"], read_maps(options.feature_maps)
    base, asked = (numpy.flatnonzero(split == name) for name in ("base", options.split))
    base = numpy.random.default_rng(options.seed).permutation(base)
    learned, held_out = base[options.held_out:], base[:options.held_out]
    net = published(options, maps)
    optimizer = torch.optim.Adam(net.parameters(), options.learning_rate, weight_decay=0.0005)
    training = Tasks(maps, labels, learned, options.shots, 15, options.seed)
    judge = Tasks(maps, labels, held_out, options.shots, 15, 2)
    judging = [judge.draw() for _ in range(300)]
    best, kept, loss_sum = -1.0, None, 0.0
    for step in range(options.steps + 1):
        if step % 200 == 0:
            accuracy = accuracies(net, judging)[0].mean()
            print(f"{step} tasks: loss {loss_sum / 200:.3f}, held-out base classes {accuracy:.2f} %", flush=True)
            loss_sum = 0.0
            if accuracy > best:
                best, kept = accuracy, copy.deepcopy(net.state_dict())
        losses, _ = net.forward_CTM(*training.draw(), train=True)
        optimizer.zero_grad()
        losses[0, 0].backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        loss_sum += losses[0, 1].item()
    net.load_state_dict(kept)
    drawn = Tasks(maps, labels, asked, options.shots, 15, 3)
    found, plain = accuracies(net, (drawn.draw() for _ in range(options.tasks)))
    half = lambda values: 1.96 * values.std(ddof=1) / len(values) ** 0.5
    print(f"{options.split}, {options.tasks} tasks, {options.shots}-shot: published CTM {found.mean():.2f} ± {half(found):.2f}, class mean "
          f"{plain.mean():.2f} ± {half(plain):.2f}, difference {(found - plain).mean():+.2f} ± {half(found - plain):.2f}")


if __name__ == "__main__":
    main()
