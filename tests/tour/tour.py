"""Runs the commands of docs/own-photos.md from "With base classes" on as they stand there, on photos that the demo's generator draws
at full size: JPEG of 1200 pixels (one of each class, the others are smaller: drawing them takes half a second each), some as HEIC, some lying on
their side with the EXIF tag that says so, and a file that is no photo. The holiday photos have names that tell nothing, and most of them must
be named rightly; one of each class lies on its side and must be answered as the same photo upright is.

    tour.py PROGRAM GUIDE WORK

What the guide calls okapi is one of the drawn classes here, its attributes are that class's, and encoder.pt is PROTOCOM_DATA's encoder."""
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
import zlib

program, guide, work = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
PHOTOS_PER_CLASS = 22  # five labelled images and fifteen queries, and two for later
LARGE_PER_CLASS = 1    # of those, the first
UPRIGHT = 1            # EXIF's orientation
SIDEWAYS = 6           # the same: turn by 90 degrees clockwise to see it upright
RIGHT_SHARE = 0.6      # of the holiday photos, of six classes of which chance names a sixth


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, cwd=work, **more)


def expect(holds, what):
    if not holds:
        sys.exit(f"tour: {what}")


def commands():
    """The sh blocks of that part of the guide, a command a line."""
    part = guide.split("\n## With base classes\n")[1]
    blocks = "".join(re.findall(r"```sh\n(.*?)```", part, re.S)).replace("\\\n", " ")
    lines = [line.split("  #")[0].strip() for line in blocks.splitlines()]
    return [" ".join(line.split()) for line in lines if line]


def with_orientation(jpeg, orientation):
    """An EXIF segment of one tag behind the start of the JPEG."""
    tiff = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def convert(source, target):
    """By libheif's programs, from or to HEIC."""
    program = ["heif-enc", "-q", 95, source, "-o", target] if target.suffix == ".heic" else ["heif-convert", "-q", 98, source, target]
    run(*program, stdout=subprocess.DEVNULL)


def rows_of_png(data):
    """Pixels of an RGB PNG of 8 bits: a list of rows, each a list of three bytes."""
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + size]
        at += 12 + size
    width, height, depth, colours = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    expect((depth, colours) == (8, 2), f"a PNG of libheif has {depth} bits of kind {colours}, expected 8 bits of RGB")
    raw, rows, above = zlib.decompress(chunks[b"IDAT"]), [], bytearray(3 * width)
    for y in range(height):
        filtering, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(3 * width):
            a, b, c = (line[i - 3] if i > 2 else 0), above[i], (above[i - 3] if i > 2 else 0)
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[filtering]) & 255
        rows.append([bytes(line[i:i + 3]) for i in range(0, 3 * width, 3)])
        above = line
    return rows


def png_of_rows(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + b"".join(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def jpeg_of_rows(rows, orientation):
    png, heic, jpeg = work / "turned.png", work / "turned.heic", work / "turned.jpg"
    png.write_bytes(png_of_rows(rows))
    convert(png, heic)
    convert(heic, jpeg)
    return with_orientation(jpeg.read_bytes(), orientation)


def upright_and_sideways(photo):
    """The photo as a JPEG, and one whose pixels lie on their left side with the tag that says so."""
    heic, png = work / "straight.heic", work / "straight.png"
    convert(photo, heic)
    convert(heic, png)
    rows = rows_of_png(png.read_bytes())
    turned = [list(column) for column in zip(*rows)][::-1]
    return jpeg_of_rows(rows, UPRIGHT), jpeg_of_rows(turned, SIDEWAYS)


def lay_out_holiday(taken):
    """holiday/ with photos of `taken`, (class, file) in order: the first of each class on its side, with itself in upright/, the last one as
    HEIC. Returns the class of each name."""
    for folder in ("holiday", "upright"):
        (work / folder).mkdir()
    truth, turned = {}, set()
    for number, (name, file) in enumerate(taken):
        photo = work / "holiday" / f"IMG_{number:04}.jpg"
        if name not in turned:
            upright, sideways = upright_and_sideways(file)
            photo.write_bytes(sideways)
            (work / "upright" / photo.name).write_bytes(upright)
            turned.add(name)
        elif number == len(taken) - 1:
            photo = photo.with_suffix(".heic")
            convert(file, photo)
        else:
            shutil.copy(file, photo)
        truth[photo.name] = name
    return truth


def lay_out():
    """photos/, split.csv, attributes.csv and what the guide enrols and classifies. Returns the class that plays the okapi, and of what
    class each holiday photo is."""
    for folder, size, count in (("drawn", 320, PHOTOS_PER_CLASS), ("large", 1200, LARGE_PER_CLASS)):
        run(program, "--quiet", "synth", folder, "--image-size", size, "--images-per-class", count, "--base", 8, "--val", 3, "--novel", 6)
    drawn, photos = work / "drawn", work / "photos"
    for file in (work / "large").glob("*/*.jpg"):
        shutil.copy(file, drawn / file.relative_to(work / "large"))
    split = {row["class"]: row["split"] for row in csv.DictReader(open(drawn / "split.csv"))}
    novel = [name for name, part in split.items() if part == "novel"]
    okapi = novel[0]
    taken = []
    for number, name in enumerate(split):
        folder = photos / name
        folder.mkdir(parents=True)
        for i, file in enumerate(sorted((drawn / name).iterdir())):
            if name == novel[-1] or i < PHOTOS_PER_CLASS - 2 or name not in novel:
                shutil.copy(file, folder / file.name)
            else:
                taken.append((name, file))
        if number % 2 == 0:
            small = sorted(folder.iterdir())[LARGE_PER_CLASS]
            small.write_bytes(upright_and_sideways(small)[1])
    truth = lay_out_holiday(taken)
    for name, file in taken:
        (work / "labelled-photos" / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, work / "labelled-photos" / name)
        (work / "unsorted").mkdir(exist_ok=True)
        shutil.copy(file, work / "unsorted" / f"{name}-{file.name}")
    for name in novel[1:]:  # enrolled as folders, two of them first with five photos each
        shutil.copytree(photos / name, work / "more-photos" / name)
    for name in novel[1:3]:
        (work / "my-photos" / name).mkdir(parents=True)
        for file in sorted((photos / name).iterdir())[:5]:
            shutil.copy(file, work / "my-photos" / name)
    first, second = sorted((photos / okapi).iterdir())[:2]
    shutil.copy(first, work / "okapi1.jpg")
    run("heif-enc", "-q", 60, second, "-o", "okapi2.heic", stdout=subprocess.DEVNULL)
    one = sorted((photos / next(iter(split))).iterdir())[0]
    run("heif-enc", "-q", 60, one, "-o", one.with_suffix(".heic"), stdout=subprocess.DEVNULL)
    one.unlink()
    (photos / okapi / "notes.txt").write_text("not a photo\n")
    for file in ("split.csv", "attributes.csv"):
        shutil.copy(drawn / file, work / file)
    return okapi, truth


def lay_out_encoder(encoder):
    """The default encoder of the tour. Its file takes pixels from 0 to 1; the three lines of docs/encoders.md write that into it."""
    shutil.copy(encoder, work / "encoder.pt")
    os.environ["PROTOCOM_ENCODER"] = str(work / "encoder.pt")
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
        page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address.group(), timeout=60).read().decode()
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


# Probabilities of a photo and of the same one turned: both are compressed again, by other blocks, which moves log odds by .2; near a tie that is .05.
NEAR = 0.1


def answers(folder):
    """The ranking of each photo of a folder, by its name."""
    shown = run(program, "--quiet", "classify", "animals.pcm", folder, "--format", "json", stdout=subprocess.PIPE, text=True).stdout
    found = [json.loads(line) for line in shown.splitlines()]
    return {pathlib.Path(one["image"]).name: one["ranking"] for one in found}


def check_holiday(truth):
    found = answers("holiday")
    expect(found.keys() == truth.keys(), f"{len(truth)} holiday photos have {len(found)} answers")
    right = sum(found[photo][0]["class"] == name for photo, name in truth.items())
    expect(right >= RIGHT_SHARE * len(truth), f"{right} of {len(truth)} holiday photos are named rightly, expected {RIGHT_SHARE:.0%}")
    for photo, ranking in answers("upright").items():
        first, upright = found[photo][0], ranking[0]
        expect(first["class"] == upright["class"] and abs(first["probability"] - upright["probability"]) < NEAR,
               f"{photo} is {first} on its side with the tag that says so, and {upright} upright")
    print(f"{right} of {len(truth)} holiday photos are named rightly")


def check(printed, okapi, truth):
    expect("\n1 file is ignored: 1 .txt\n" in printed["inspect"], "inspect does not say that notes.txt was skipped")
    results = {(r["method"], r["k_shot"]): r["accuracy"] for r in json.loads((work / "results.json").read_text())["results"]}
    for method in ("plda", "plda-vb"):
        for k in (1, 5):
            expect(results[(method, k)] > 40, f"{method} has {results[(method, k)]:.1f} % from {k} images per class, where chance is 20")
    expect("Drop photos here" in printed["serve"], "the server's page does not ask for photos")
    expect("<h1" in (work / "report.html").read_text(), "the report is no page")
    lines = [line for line in printed["classify"].splitlines() if re.match(r"IMG_\d{4}\.\w+ ", line)]
    expect(len(lines) == len(truth), f"{len(lines)} of {len(truth)} photos have an answer")
    expect(any(okapi in line for line in lines), f"{okapi} is never named")
    check_holiday(truth)


def main():
    data = os.environ.get("PROTOCOM_DATA", "")
    encoder = pathlib.Path(data) / "mobilenet-v1-imagenet.pt"
    if not data or not encoder.exists():
        print("tour: PROTOCOM_DATA has no mobilenet-v1-imagenet.pt: LEFT OUT")
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    lay_out_encoder(encoder)
    okapi, truth = lay_out()
    check(walk_through(okapi), okapi, truth)
    print("tour: the guide's commands do what it says")


main()
