#!/usr/bin/env python3
"""Runs the published code of few-shot methods on an episode list that protocom saved, and compares the accuracy of every episode, every
answer and the processor time of one thread with protocom's.

  protocom evaluate --features features.npz --k-shot 1 --episodes 60 --methods METHODS --speed \\
      --save-episodes episodes.json --json ours.json --predictions ours.csv
  python3 benchmarks/peers/methods_against_official.py --realistic CHECKOUT --paddle CHECKOUT --ilpc CHECKOUT ... \\
      --features features.npz --episodes-file episodes.json --ours ours.json --predictions ours.csv

The checkouts, any of them: PROGRAMS below, whose adapters (official/) say what and with which settings. METHODS are those of their PEERS,
separated by commas, as --list prints them (but for those that take --texts); episodes have one number of shots, and their queries may be
unbalanced (--query-distribution dirichlet). It needs a Python with PyTorch, SciPy, scikit-learn and PyYAML.
"""
import sys

from checkouts import stub_what_is_not_needed
from official import bavardage, boudiaf, hu, lazarou, libfewshot, martin, martin_clip, veilleux, zhu, ziko
from peer_episodes import compare

PROGRAMS = {
    "realistic": veilleux.PEERS,
    "paddle": martin.PEERS,
    "tim": boudiaf.PEERS,
    "laplacian-shot": ziko.PEERS,
    "pt-map": hu.PEERS,
    "protolp": zhu.PEERS,
    "ilpc": lazarou.PEERS,
    "bavardage": bavardage.PEERS,
    "libfewshot": libfewshot.PEERS,
    "transductive-clip": martin_clip.PEERS,
}


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(",".join(dict.fromkeys(peer.method for peers in PROGRAMS.values() for peer in peers if not peer.with_texts)))
        sys.exit()
    stub_what_is_not_needed()
    compare(__doc__, PROGRAMS)
