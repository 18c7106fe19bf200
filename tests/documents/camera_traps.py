"""Runs every block of docs/camera-traps.md in order, on a folder like a camera trap's that protocom draws: bursts of three frames and an empty photo,
with EXIF times, and MegaDetector's boxes. The table of visits must have a visit for each burst and no empty photo, and a photo that MegaDetector
could not read must be named.

    camera_traps.py PROGRAM PAGE WORK PYTHON"""
import csv
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

try:
    from PIL import Image
except ImportError:
    print("camera_traps: Pillow, which writes the EXIF times, is not installed: LEFT OUT")
    sys.exit()

program, page, work, python = sys.argv[1:]
page, work = pathlib.Path(page).read_text(), pathlib.Path(work)
VISITS, FRAMES, LABELLED = 9, 3, 6


def run(command, what):
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"camera_traps: {what} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def lay_out():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run([program, "--quiet", "synth", "drawn", "--image-size", "64", "--base", "8", "--val", "0", "--novel", "3", "--images-per-class", "10"], "synth")
    run([program, "--quiet", "pretrain", "drawn", "--image-size", "48", "--out", "encoder.npz", "--architecture", "conv4", "--epochs", "1", "--batch", "16"],
        "pretrain")
    classes = [line.split(",")[0] for line in (work / "drawn/split.csv").read_text().splitlines() if line.endswith(",novel")]
    drawn = {name: sorted((work / "drawn" / name).iterdir()) for name in classes}
    time = datetime.datetime(2026, 5, 1, 6)
    found = {"images": [], "detection_categories": {"1": "animal", "2": "person"}, "info": {"format_version": "1.3"}}
    labels = ["image,class"]
    for number in range(VISITS):
        name = classes[number % 3]
        time += datetime.timedelta(minutes=9)
        for frame in range(FRAMES + 1):
            path = f"{'north' if number % 2 else 'south'}/IMG_{number * 10 + frame:04d}.JPG"
            is_empty = frame == FRAMES
            taken = time + datetime.timedelta(seconds=30 if is_empty else frame)
            exif = Image.Exif()
            exif[0x8769] = {0x9003: taken.strftime("%Y:%m:%d %H:%M:%S")}  # DateTimeOriginal
            (work / "camera-trap" / path).parent.mkdir(parents=True, exist_ok=True)
            Image.open(drawn[name][-1 if is_empty else number // 3 * FRAMES + frame]).save(work / "camera-trap" / path, "JPEG", quality=95, exif=exif)
            box = {"category": "1", "conf": 0.9, "bbox": [0.05, 0.05, 0.9, 0.9]}
            found["images"].append({"file": path, "detections": [] if is_empty else [box]})
            if number < LABELLED and not is_empty:
                labels.append(f"camera-trap/{path},{name}")
    found["images"][-1] = {"file": path, "failure": "Failure image access"}
    (work / "megadetector.json").write_text(json.dumps(found))
    (work / "labels.csv").write_text("\n".join(labels))
    return classes, path


def run_blocks():
    printed = ""
    for kind, block in re.findall(r"```(\w+)\n(.*?)```", page, re.S):
        if kind == "python":
            printed += run([python, "-c", block], f"the block\n{block}")
            continue
        block = block.replace("create animals.pcm", "create animals.pcm --backbone encoder.npz")
        printed += run(["bash", "-c", f'set -e\nprotocom() {{ "{program}" "$@"; }}\n{block}'], f"the block\n{block}")
    return printed


def check(what, found, expected):
    if found != expected:
        sys.exit(f"camera_traps: {what}: expected {expected}, found {found}\n{printed}")


os.environ.pop("PROTOCOM_ENCODER", None)
classes, failed = lay_out()
printed = run_blocks()
check("labelled photos and moments", f"{LABELLED * FRAMES} photos, {LABELLED} moments" in printed, True)
rows = list(csv.DictReader((work / "visits.csv").open()))
check("warnings", sum(line.startswith("warning:") for line in printed.splitlines()), 4)  # one of each command
check("photos that MegaDetector could not read", printed.count(f"need not be empty, 1: {failed}\n"), 4)
check("rows", len(rows), VISITS * FRAMES)
check("visits", len({row["series"] for row in rows}), VISITS)
check("visits of one folder", {len({row["image"].split("/")[-2] for row in rows if row["series"] == one}) for one in {row["series"] for row in rows}}, {1})
check("classes", {row["class"] for row in rows} <= {*classes, "none of these"}, True)
check("what Python printed", f"{VISITS} visits" in printed, True)
check("rows for Timelapse", len((work / "timelapse.csv").read_text().splitlines()), 1 + VISITS * FRAMES)
classified = json.loads((work / "classified.json").read_text())
check("photos of MegaDetector's file", len(classified["images"]), VISITS * (FRAMES + 1))
check("boxes with a class", sum("classifications" in box for image in classified["images"] for box in image.get("detections", [])), VISITS * FRAMES)
print(f"camera_traps: {VISITS} visits")
