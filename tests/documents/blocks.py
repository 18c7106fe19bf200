"""Holds every code block of README.md, CONTRIBUTING.md and docs/ to the program and the tree as they are: commands of protocom exist with each option
that is given, targets of make and scripts exist, Python compiles, JSON and TOML are read, and C++ of the public headers compiles. What a block does is
tried elsewhere: the quick start (tests/documents/quick_start.py), own photos (tests/tour), encoders (tests/networks), Python (tests/python), the library
(tests/package).

    blocks.py PROGRAM ROOT COMPILER INCLUDES"""
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

program, root, compiler, includes = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4].split(":")
OPERATORS = {"|", ";", "&&", "||", "&", ">", "<", "2>", "2>&1", "(", ")"}
documents = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
found, counts = [], {}


@functools.lru_cache(None)
def help_of(words):
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def subcommands(text):
    return re.findall(r"^  ([a-z][a-z-]*)  ", text.partition("\nSubcommands")[2], re.M)


def options(text):
    return {option for line in re.findall(r"^  (-[^ ]*)", text, re.M) for option in line.split(",")}


def check_protocom(words, where):
    """`protocom [options] command [command] [arguments and options]`"""
    path, known = (), options(help_of(()))
    if words and re.fullmatch(r"[\w-]*photos/?", words[0]):
        words = ["new", *words]  # `protocom FOLDER`
    for word in words:
        if word in subcommands(help_of(path)):
            path += (word,)
            known |= options(help_of(path))
        elif word.startswith("-") and not re.fullmatch(r"-|-?[\d.]+", word) and word.partition("=")[0] not in known:
            found.append(f"{where}: protocom {' '.join(path)} has no option {word}")
    if words and not path and not {"--help", "--version"} & set(words) and not any(re.match(r"[A-Z.]|\W", word) for word in words[:1]):
        found.append(f"{where}: there is no command protocom {' '.join(words[:1])}")


def commands_of(block):
    """The words of each simple command, comments left out."""
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quotation over several lines: what follows is data
            continue
        command = []
        for word in [*words, ";"]:
            if word in OPERATORS or set(word) <= set("();<>|&"):
                yield command
                command = []
            else:
                command.append(word)


def check_shell(block, where):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.M))
    for command in commands_of(block):
        while command and (re.fullmatch(r"\w+=.*", command[0]) or command[0] in ("sudo", "env", "nohup", "time", "do", "then", "nice")):
            command = command[1:]
        if not command:
            continue
        name, words = command[0], command[1:]
        if name in ("protocom", "protocom-serve") or name.endswith("/protocom"):
            check_protocom(words, where)
        elif name == "make":
            found.extend(f"{where}: make has no target {word}" for word in words if re.fullmatch(r"[a-z-]+", word) and word not in targets)
        elif name.startswith(("scripts/", "benchmarks/")) and not (root / name).exists():
            found.append(f"{where}: there is no {name}")


def check_python(block, where):
    try:
        compile(block, where, "exec")
    except SyntaxError as error:
        found.append(f"{where}: {error}")


def check_json(block, where):
    try:
        json.loads(re.sub(r"\.\.\.,?|…,?", "", block))
    except ValueError as error:
        if "..." not in block and "…" not in block:
            found.append(f"{where}: {error}")


def check_cpp(block, where):
    """What names nothing but the public headers; lines that are no declarations are the body of a function."""
    if not re.search(r'#include <protocom/\w+\.h>', block) or '#include "' in block:
        return
    heads = [line for line in block.splitlines() if line.startswith("#include")]
    body = "\n".join(line for line in block.splitlines() if not line.startswith("#include"))
    if not re.search(r"^\}", body, re.M):
        body = "void block() {\n" + body + "\n}"
    text = "\n".join(heads) + "\n#include <cstdio>\n#include <vector>\n" + body + "\n"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "block.cc"
        file.write_text(text)
        done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", *(f"-I{one}" for one in includes), str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        found.append(f"{where}: {done.stderr.splitlines()[0:3]}")


CHECKS = {"sh": check_shell, "python": check_python, "json": check_json, "cpp": check_cpp}
for document in documents:
    text = document.read_text()
    for match in re.finditer(r"^( *)```(\w+)\n(.*?)^ *```", text, re.S | re.M):
        where = f"{os.path.relpath(document, root)}:{text[:match.start()].count(chr(10)) + 1}"
        block = re.sub(f"^{match[1]}", "", match[3], flags=re.M)
        counts[match[2]] = counts.get(match[2], 0) + 1
        if match[2] in CHECKS:
            CHECKS[match[2]](block, where)
for line in found:
    print(line)
if found:
    sys.exit(f"blocks: {len(found)} faults")
print("blocks: no fault in " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
