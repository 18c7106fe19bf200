"""Runs every block of docs/quick-start.md as it stands there, in order, on photos that protocom draws: sh by bash, Python by the package of this
build, C++ by the compiler against its library.

    quick_start.py PROGRAM PAGE WORK INCLUDES LIBRARIES PYTHON PYTHONPATH

INCLUDES, LIBRARIES: folders with `:` between them; PYTHON may be empty where the package was not built."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

program, page, work, includes, libraries, python, python_path = sys.argv[1:]
page, work = pathlib.Path(page).read_text(), pathlib.Path(work)
ENCODER = """
import sys, torch
class Encoder(torch.nn.Module):
    def forward(self, images):
        return torch.nn.functional.avg_pool2d(images, 56).flatten(1)
torch.onnx.export(Encoder(), torch.zeros(1, 3, 224, 224), sys.argv[1])
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


port = str(free_port())
environment = {**os.environ, "no_proxy": "*", "LD_LIBRARY_PATH": libraries, "PYTHONPATH": python_path,
               "PROTOCOM_ENCODER": str(work / "encoder.onnx")}
before = f"""set -eo pipefail
protocom() {{ "{program}" --quiet "$@"; }}
pkg-config() {{ echo "{' '.join('-I' + one for one in includes.split(':'))} {' '.join('-L' + one for one in libraries.split(':'))} -lprotocom"; }}
"""


def run(command, what):
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"quick_start: {what} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def lay_out():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run([program, "--quiet", "synth", "drawn", "--image-size", "96", "--base", "8", "--val", "0", "--novel", "5", "--images-per-class", "8"], "synth")
    for folder in ("my-photos", "holiday"):
        (work / folder).mkdir()
    classes = [line.split(",")[0] for line in (work / "drawn/split.csv").read_text().splitlines() if line.endswith(",novel")]
    for number, name in enumerate(classes):
        photos = sorted((work / "drawn" / name).iterdir())
        if number == 4:  # plays the okapi
            shutil.copy(photos[0], work / "okapi1.jpg")
            shutil.copy(photos[1], work / "okapi2.jpg")
            continue
        (work / "my-photos" / name).mkdir()
        for photo in photos[:4]:
            shutil.copy(photo, work / "my-photos" / name)
        shutil.copy(photos[5], work / "holiday" / f"{number + 1}.jpg")
    (work / "encoder.py").write_text(ENCODER)
    run([python or sys.executable, "-W", "ignore", "encoder.py", "encoder.onnx"], "the export of an encoder")


def serve(line):
    """In the background, from when it says its address on."""
    words = line.split("#")[0].split()[1:]
    server = subprocess.Popen([program, *words, "--port", port], cwd=work, stdout=subprocess.PIPE, text=True, env=environment)
    if f":{port}" not in server.stdout.readline():
        sys.exit(f"quick_start: `{line}` does not say where it serves")
    return server


def run_blocks():
    servers, counts = [], {}
    try:
        for kind, block in re.findall(r"```(\w+)\n(.*?)```", page, re.S):
            if kind == "python" and not python:
                print("quick_start: the Python package was not built: its blocks are LEFT OUT")
                continue
            if kind == "sh":
                serving = [line for line in block.splitlines() if line.startswith("protocom serve")]
                rest = "\n".join(line for line in block.splitlines() if line not in serving).replace("localhost:8080", f"127.0.0.1:{port}")
                print(run(["bash", "-c", before + rest], f"the block\n{block}"), end="")
                servers += [serve(line) for line in serving]
            elif kind == "python":
                print(run([python, "-W", "ignore", "-c", block], f"the block\n{block}"), end="")
            else:
                (work / "quick.cc").write_text(block)
            counts[kind] = counts.get(kind, 0) + 1
    finally:
        for server in servers:
            server.send_signal(signal.SIGTERM)
            server.wait()
    return counts


lay_out()
counts = run_blocks()
if not {"sh", "cpp"} <= counts.keys() or "<h1" not in (work / "report.html").read_text():
    sys.exit(f"quick_start: the page is another one than this test knows: {counts}")
print("quick_start: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + " blocks ran")
