"""`benchmarks/results_tables --check` on the tree, and on copies of it with one fault each: every fault is found.

    results_tables.py ROOT WORK"""
import pathlib
import re
import shutil
import subprocess
import sys

root, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PAGE, DATA = "docs/results/own-photos.md", "docs/results/data/unlabelled.json"


def check(tree):
    done = subprocess.run([sys.executable, tree / "benchmarks/results_tables", "--check"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy():
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(root / "docs/results", work / "docs/results")
    (work / "benchmarks").mkdir()
    shutil.copy(root / "benchmarks/results_tables", work / "benchmarks")
    shutil.copy(root / "README.md", work)
    shutil.copy(root / "docs/elsewhere.md", work / "docs")


def exchange(path, pattern, by):
    text = (work / path).read_text()
    changed = re.sub(pattern, by, text, count=1, flags=re.S)
    if changed == text:
        sys.exit(f"results_tables: {path} has no '{pattern}' to change")
    (work / path).write_text(changed)


FAULTS = {
    "a cell of a page": (PAGE, r"\| 83\.8 ± 1\.6 \|", "| 84.8 ± 1.6 |", "is not what"),
    "a cell of a file": (DATA, r"\[83\.8, 1\.6\]", "[84.8, 1.6]", "is not what"),
    "a figure in the text": (PAGE, r"\Z", "\nIt has 10.7 %.\n", "says 10.7"),
    "a table by hand": (PAGE, r"\Z", "\n| a | b |\n|---|---|\n| 1 | 2 |\n", "of no file"),
    "a table twice": ("docs/results/model.md", r"\Z", None, "one place"),
    "a figure of README.md": ("README.md", r"\Z", "\nIt has 10.7 %.\n", "README.md says 10.7"),
    "a figure of another page": ("docs/elsewhere.md", r"\Z", "\nIt has 10.7 %.\n", "elsewhere.md says 10.7"),
}

code, said = check(root)
if code:
    sys.exit(said)
for fault, (path, pattern, by, expected) in FAULTS.items():
    copy()
    place = re.search(r"<!-- table: unlabelled -->.*?<!-- end -->\n", (work / PAGE).read_text(), re.S)[0]
    exchange(path, pattern, lambda match, by=by: place if by is None else by)
    code, answer = check(work)
    if code == 0 or expected not in answer:
        sys.exit(f"results_tables: {fault} was not found: {answer}")
print(f"{said.strip()}; {len(FAULTS)} faults are found")
