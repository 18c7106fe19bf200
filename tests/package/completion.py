"""Completion in bash, zsh and fish, as each shell has it: the file is laid where the shell looks, and a line is completed.

    completion.py PACKAGING FOLDER_OF_PROGRAMS"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

packaging, programs = (pathlib.Path(one).resolve() for one in sys.argv[1:])
os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
os.environ["TERM"] = "dumb"

# What is offered for a line, and what is not.
LINES = {
    "protocom cla": (["classify", "classes"], ["calibrate"]),
    "protocom recognizer cr": (["create"], ["classify"]),
    "protocom recognizer create mine.pcm --im": (["--images"], ["--backbone"]),
    "protocom --quiet evaluate --k-s": (["--k-shot"], ["--n-way"]),
    "protocom-serve ke": (["keys"], ["pretrain"]),
    "protocom recognizer create --backbone enc": (["encoder.onnx"], []),
}
TEXTS = {  # of an option whose text stands behind it, and of one where it stands on the line below
    "protocom recognizer create --half": "Store features as float16",
    "protocom classify --form": "table, json (an object per line), csv (a row per image)",
}


def of_bash(line, folder, _):
    script = f"""source {packaging}/protocom.bash
read -ra COMP_WORDS <<<'{line}'; COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _protocom ${{COMP_WORDS[0]}}
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True, cwd=folder).stdout


def of_fish(line, folder, _):
    for program in ("protocom", "protocom-serve"):
        shutil.copy(packaging / "protocom.fish", folder / f"{program}.fish")
    script = f"set -p fish_complete_path {folder}; complete -C '{line}'"
    environment = {**os.environ, "HOME": str(folder)}
    return subprocess.run(["fish", "-c", script], check=True, capture_output=True, text=True, cwd=folder, env=environment).stdout


def of_zsh(line, folder, expected):
    """zsh completes in a terminal alone: a line is typed, and it is asked to list what it has, until that is `expected`."""
    shutil.copy(packaging / "protocom.zsh", folder / "_protocom")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "COLUMNS": "300", "LINES": "200"})
    try:
        type_in(terminal, f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PS1=; stty -echo cols 300 rows 200\n")
        type_in(terminal, "bindkey '^X' list-choices; zstyle ':completion:*' list-prompt ''; LISTMAX=0; print re''ady\n")
        read_until(terminal, ["ready"])
        type_in(terminal, f"{line}\x18")
        said = read_until(terminal, expected, line)
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
    return said.replace(line, "", 1)


def type_in(terminal, text):
    os.write(terminal, text.encode())


def read_until(terminal, words, typed=""):
    """What the terminal shows beside what was typed until it has shown all words, and what it shows at once behind them; or in a minute."""
    said, end, done = "", time.monotonic() + 60, False
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.3 if done else end - time.monotonic())
        if not ready:
            break
        said += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\x1b[=>]", "", os.read(terminal, 65536).decode(errors="replace"))
        done = all(one in said.replace(typed, "", 1) for one in words)
    return said


tried = 0
for shell, offers in {"bash": of_bash, "zsh": of_zsh, "fish": of_fish}.items():
    if not shutil.which(shell):
        print(f"completion: {shell} is not there: LEFT OUT")
        continue
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "encoder.onnx").touch()
        for line, (expected, others) in LINES.items():
            offered = offers(line, folder, expected)
            words = re.findall(r"[\w.-]+", offered)
            if not set(expected) <= set(words) or set(words) & set(others):
                sys.exit(f"completion: {shell} should offer {expected} and not {others} for '{line}', it offered:\n{offered}")
        for line, text in TEXTS.items() if shell != "bash" else ():
            offered = offers(line, folder, [text])
            if text not in offered:
                sys.exit(f"completion: {shell} should say '{text}' for '{line}', it said:\n{offered}")
    tried += 1
    print(f"completion: {shell} completes")
print(f"completion: {tried} of 3 shells tried")
