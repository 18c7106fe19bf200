"""Runs the commands of the README's "Five minutes with your own images" as they stand there, on photos that the demo's generator draws
at full size: JPEG of 1600 pixels (two of each class, the others are smaller: drawing them takes a second each), some as HEIC, some lying on
their side with the EXIF tag that says so, and a file that is no photo.

    tour.py PROGRAM README WORK

What the README calls okapi is one of the drawn classes here, its attributes are that class's, and encoder.pt is PROTOCOM_DATA's encoder."""
import csv
import json
import os
import pathlib
import re
import shutil
import struct
import signal
import subprocess
import sys
import urllib.request
import zipfile

program, readme, work = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
PHOTOS_PER_CLASS = 22  # five labelled images and fifteen queries, and two for later
LARGE_PER_CLASS = 2    # of those, the first
SIDEWAYS = 6           # EXIF's orientation: turn by 90 degrees clockwise to see it upright


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, cwd=work, **more)


def expect(holds, what):
    if not holds:
        sys.exit(f"tour: {what}")


def commands():
    """The sh blocks of that part of the README."""
    part = re.search(r"\n## Five minutes with your own images\n(.*?)\n## ", readme, re.S).group(1)
    blocks = re.findall(r"```sh\n(.*?)```", part, re.S)
    lines = [line.split("  #")[0].strip() for line in "".join(blocks).splitlines()]
    return [line for line in lines if line and not line.startswith("alias protocom=")]


def with_orientation(jpeg, orientation):
    """An EXIF segment of one tag behind the start of the JPEG."""
    tiff = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def lay_out():
    """photos/, split.csv, attributes.csv and what the README enrols and classifies. Returns the class that plays the okapi."""
    for folder, size, count in (("drawn", 320, PHOTOS_PER_CLASS), ("large", 1600, LARGE_PER_CLASS)):
        run(program, "--quiet", "synth", folder, "--image-size", size, "--images-per-class", count, "--base", 8, "--val", 3, "--novel", 6)
    drawn, photos = work / "drawn", work / "photos"
    for file in (work / "large").glob("*/*.jpg"):
        shutil.copy(file, drawn / file.relative_to(work / "large"))
    split = {row["class"]: row["split"] for row in csv.DictReader(open(drawn / "split.csv"))}
    novel = [name for name, part in split.items() if part == "novel"]
    okapi = novel[0]
    (work / "holiday").mkdir()
    for name in split:
        folder = photos / name
        folder.mkdir(parents=True)
        for i, file in enumerate(sorted((drawn / name).iterdir())):
            jpeg = file.read_bytes()
            target = folder / file.name
            if name == novel[-1] or i < PHOTOS_PER_CLASS - 2 or name not in novel:
                target.write_bytes(with_orientation(jpeg, SIDEWAYS if i == 1 else 1))
            else:
                (work / "holiday" / f"{name}-{file.name}").write_bytes(jpeg)
    for name in novel[1:]:  # enrolled as folders, two of them first with five photos each
        shutil.copytree(photos / name, work / "more-photos" / name)
    for name in novel[1:3]:
        (work / "my-photos" / name).mkdir(parents=True)
        for file in sorted((photos / name).iterdir())[:5]:
            shutil.copy(file, work / "my-photos" / name)
    first, second = sorted((photos / okapi).iterdir())[:2]
    shutil.copy(first, work / "okapi1.jpg")
    run("heif-enc", "-q", 60, second, "-o", "okapi2.heic", stdout=subprocess.DEVNULL)
    one = next((photos / next(iter(split))).iterdir())
    run("heif-enc", "-q", 60, one, "-o", one.with_suffix(".heic"), stdout=subprocess.DEVNULL)
    one.unlink()
    (photos / okapi / "notes.txt").write_text("not a photo\n")
    for file in ("split.csv", "attributes.csv"):
        shutil.copy(drawn / file, work / file)
    return okapi


def lay_out_encoder(encoder):
    """The file of that encoder takes pixels from 0 to 1; the README's three lines write such words into it."""
    shutil.copy(encoder, work / "encoder.pt")
    with zipfile.ZipFile(work / "encoder.pt", "a") as file:
        folder = file.namelist()[0].split("/")[0]
        file.writestr(f"{folder}/extra/preprocessing.json",
                      json.dumps({"image_size": 224, "resize": 224, "mean": [0, 0, 0], "std": [1, 1, 1]}))


def attributes_of(name):
    rows = csv.DictReader(open(work / "attributes.csv"))
    return [row["attribute"] for row in rows if row["class"] == name and float(row.get("weight") or 1) > 0]


def look_at(line):
    """A server, as far as its page and its end. Returns the page."""
    server = subprocess.Popen([program, *line.split()[1:], "--port", "0"], cwd=work, stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline())
        expect(address, f"`{line}` does not say where it serves")
        page = urllib.request.urlopen(address.group(), timeout=60).read().decode()
    finally:
        server.send_signal(signal.SIGTERM)
        expect(server.wait(timeout=60) == 0, f"`{line}` ended with {server.returncode} when it was asked to")
    return page


def walk_through(okapi):
    """Every command in order, in one shell as a user has it. Returns what each printed."""
    named = ",".join(attributes_of(okapi)[:2])
    printed = {}
    for line in commands():
        if line.split()[1] == "serve":
            printed["serve"] = look_at(line)
            continue
        line = line.replace("--attributes stripes,hooves", f"--attributes '{named}'").replace("--class okapi", f"--class {okapi}")
        shown = subprocess.run(["bash", "-c", f'protocom() {{ "{program}" "$@"; }}; {line}'], cwd=work, capture_output=True, text=True)
        print(f"$ {line}\n{shown.stdout}", end="", flush=True)
        expect(shown.returncode == 0, f"`{line}` ended with {shown.returncode}:\n{shown.stderr}")
        printed[line.split()[1]] = shown.stdout + shown.stderr
    return printed


def check(printed, okapi):
    expect("notes.txt" in printed["inspect"] or "1 file" in printed["inspect"], "inspect does not say that notes.txt was skipped")
    results = {(r["method"], r["k_shot"]): r["accuracy"] for r in json.loads((work / "results.json").read_text())["results"]}
    for method in ("plda", "plda-vb"):
        for k in (1, 5):
            expect(results[(method, k)] > 40, f"{method} has {results[(method, k)]:.1f} % from {k} images a class, where chance is 20")
    expect("What is it?" in printed["serve"], "the server's page does not ask what an image is")
    expect("<h1>" in (work / "report.html").read_text(), "the report is no page")
    holiday = list((work / "holiday").iterdir())
    answered = [file.name for file in holiday if file.name in printed["classify"]]
    expect(len(answered) == len(holiday), f"{len(holiday) - len(answered)} of {len(holiday)} photos have no answer")
    expect(okapi in printed["classify"], f"{okapi} is never named")


def main():
    data = os.environ.get("PROTOCOM_DATA", "")
    encoder = pathlib.Path(data) / "mobilenet-v1-imagenet.pt"
    if not data or not encoder.exists():
        print("tour: PROTOCOM_DATA has no mobilenet-v1-imagenet.pt: LEFT OUT")
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    lay_out_encoder(encoder)
    okapi = lay_out()
    check(walk_through(okapi), okapi)
    print("tour: the README's commands do what it says")


main()
