import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import protocom
from conftest import photo


@pytest.fixture
def mine(photos, tmp_path):
    return protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")


@pytest.fixture
def few(photos, few_photos, tmp_path):
    return protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=few_photos)


def test_paths_pictures_arrays_bytes_and_features_get_one_answer(mine, photos):
    image = pytest.importorskip("PIL.Image")
    paths = [photos / "holiday" / f"{i}.png" for i in (1, 2, 3)]
    answers = mine.classify(paths)
    assert [one.name for one in answers] == ["blue", "red", "green"]
    for given in ([str(one) for one in paths], [one.read_bytes() for one in paths], [image.open(one) for one in paths],
                  [np.asarray(image.open(one)) for one in paths], mine.features_of(paths)):
        assert [one.ranking for one in mine.classify(given)] == [one.ranking for one in answers]
    one = mine.classify(paths[0])
    assert (one.name, one.none_of_these) == ("blue", one.none >= 0.5) and one.nearest[0]["class"] == "blue"
    assert one.probability <= 1 and one.none + sum(share for _, share in one.ranking) == pytest.approx(1)


def test_pixels_and_files_are_taken_as_pillow_and_numpy_have_them(mine, photos):
    image = pytest.importorskip("PIL.Image")
    path = photos / "holiday" / "1.png"
    pixels = np.asarray(image.open(path).convert("RGB"))
    expected = mine.features_of(path)
    with open(path, "rb") as opened:
        assert opened.read(9)  # Pillow begins at the file's beginning, wherever it was read to
        for given in (opened, io.BytesIO(path.read_bytes()), bytearray(path.read_bytes()), memoryview(path.read_bytes()), pixels,
                      pixels / 255, (pixels / 255).astype(np.float32).transpose(2, 0, 1), pixels.transpose(2, 0, 1), memoryview(pixels),
                      np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])):
            np.testing.assert_array_equal(mine.features_of(given), expected)
            assert isinstance(mine.classify(given), protocom.Answer) and len(mine.classify([given, given])) == 2
    assert len(mine.classify(np.stack([pixels] * 3) / 255)) == 3, "several in one array"
    grey = pixels[..., 0]
    for given in (grey, grey[..., None], grey[None]):
        np.testing.assert_array_equal(mine.features_of(given), mine.features_of(np.dstack([grey] * 3)))
    clear = np.dstack([pixels, np.zeros(pixels.shape[:2], np.uint8)])
    np.testing.assert_array_equal(mine.features_of(clear), mine.features_of(np.full_like(pixels, 255)))
    with pytest.raises(protocom.Error, match="an image is None") as caught:
        mine.classify([path, None])
    assert caught.value.index == 1
    assert mine.classify([path, None], on_error="skip")[1] is None


def test_pictures_of_16_bits_or_with_clear_places_have_the_pixels_of_their_file(mine, tmp_path):
    image = pytest.importorskip("PIL.Image")
    ramp = np.linspace(0, 65535, 40 * 50).reshape(40, 50)
    clear = np.concatenate([photo("red", 1), np.full((40, 50, 1), 90, np.uint8)], axis=2)
    image.fromarray(ramp.astype(np.uint16)).save(tmp_path / "16.png")
    image.fromarray(np.dstack([ramp / 257, ramp / 300]).astype(np.uint8), "LA").save(tmp_path / "la.png")
    image.fromarray(clear).save(tmp_path / "clear.png")
    for name in ("16.png", "la.png", "clear.png"):
        opened = image.open(tmp_path / name)
        np.testing.assert_array_equal(mine.features_of(opened), mine.features_of(tmp_path / name), err_msg=f"{name} {opened.mode}")
    deep = image.fromarray(ramp.astype(np.uint16))
    expected = np.repeat(np.round(ramp.astype(np.uint16) / 257).astype(np.uint8)[..., None], 3, axis=2)
    for mode in (deep, deep.convert("I")):
        np.testing.assert_array_equal(mine.features_of(mode), mine.features_of(expected))
    with pytest.raises(protocom.Error, match="expected 0 to 65535"):
        mine.classify(image.fromarray(np.full((8, 8), 70000, np.int32)))
    with pytest.raises(protocom.Error, match="mode F"):
        mine.classify(image.fromarray(np.full((8, 8), 0.5, np.float32)))


def test_boxes_are_photos_of_their_own(mine, program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "cams" / "site1"
    folder.mkdir(parents=True)
    picture = np.concatenate([np.full((100, 100, 3), 90, np.uint8)] * 2, axis=1)  # 200 x 100
    picture[20:60, 10:50] = photo("red", 1)[:40, :40]
    picture[30:70, 130:170] = photo("blue", 2)[:40, :40]
    for name in ("a.png", "none.png"):
        image.fromarray(picture).save(folder / name)
    found = [("1", 0.9, [0.05, 0.2, 0.2, 0.4]), ("1", 0.8, [0.65, 0.3, 0.2, 0.4]), ("2", 0.9, [0, 0, 1, 1]), ("1", 0.1, [0, 0, 0.5, 1])]
    boxes = tmp_path / "md.json"
    boxes.write_text(json.dumps({
        "detection_categories": {"1": "animal", "2": "person"},
        "images": [{"file": "site1/a.png", "detections": [{"category": c, "conf": p, "bbox": b} for c, p, b in found]},
                   {"file": "site1/none.png", "detections": []}]}))
    crops = protocom.crops(tmp_path / "cams", protocom.Boxes(boxes, kinds="animal"))
    assert [(one.photo, one.kind, one.confidence) for one in crops] == [
        (str(folder / "a.png"), "animal", 0.9), (str(folder / "a.png"), "animal", 0.8)]
    assert pickle.loads(pickle.dumps(crops[0])).photo == crops[0].photo
    visits = mine.classify_series(tmp_path / "cams", by="folder", boxes=protocom.Boxes(boxes, kinds="animal"))
    assert [paths for paths, _ in visits] == [[str(one) for one in crops]]
    assert visits[0][1].ranking == mine.classify_series(crops).ranking
    answers = mine.classify(crops)
    assert [one.ranking[0][0] for one in answers] == ["red", "blue"]
    pictures = [image.fromarray(picture).crop(corners) for corners in ((6, 16, 54, 64), (126, 26, 174, 74))]  # a tenth on each side
    np.testing.assert_allclose(mine.features_of(crops), mine.features_of(pictures), atol=1e-6)
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(tmp_path / "cams"), "--boxes", str(boxes), "--box-kinds", "animal"]
    done = subprocess.run([*asked, "--format", "json"], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(one["image"], one["ranking"][0]["class"]) for one in lines] == [(str(folder / "a.png"), "red"), (str(folder / "a.png"), "blue")]
    assert lines[1]["box"] == {"x": pytest.approx(0.65), "y": 0.3, "width": 0.2, "height": 0.4, "relative": True}
    assert "1 of 2 photos, which have no box" in done.stderr
    wide = protocom.crops(tmp_path / "cams", protocom.Boxes(boxes, kinds="animal", margin=0.25))
    assert [str(one) for one in wide] == [f"{one}&margin=0.25" for one in crops]
    done = subprocess.run([*asked, "--box-margin", "0.25", "--format", "json"], capture_output=True, text=True)
    assert [json.loads(line)["familiarity"] for line in done.stdout.splitlines()] == [
        pytest.approx(one.familiarity, abs=1e-5) for one in mine.classify(wide)]
    unsure = subprocess.run([*asked, "--min-confidence", "0.95"], capture_output=True, text=True)
    assert unsure.returncode == 1 and "has no usable box" in unsure.stderr
    with pytest.raises(protocom.TypeRefused, match="boxes must be a protocom.Boxes or the path of its file, found list"):
        mine.classify(str(tmp_path), boxes=[(10, 10, 50, 50)])


def test_csv_has_a_row_an_image_and_timelapse_its_two_columns_of_paths(mine, photos, program, tmp_path):
    for k, place in enumerate(("site1/cam2", "site1")):
        (tmp_path / "cams" / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(photos / "holiday" / f"{k + 1}.png", tmp_path / "cams" / place / "1.png")
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(tmp_path / "cams"), "--top", "2", "--format"]

    def rows(form):
        done = subprocess.run([*asked, form], capture_output=True, text=True, check=True)
        return [line.split(",") for line in done.stdout.splitlines()]

    table = rows("csv")
    assert table[0][:5] == ["image", "class", "probability", "class_2", "probability_2"]
    assert [(row[0], row[1]) for row in table[1:]] == [(str(tmp_path / "cams/site1/1.png"), "red"), (str(tmp_path / "cams/site1/cam2/1.png"), "blue")]
    assert len(rows("csv-long")) == 5
    assert [row[:3] for row in rows("timelapse")] == [["File", "RelativePath", "class"], ["1.png", "site1", "red"], ["1.png", "site1\\cam2", "blue"]]
    two = subprocess.run([*asked, "timelapse", str(photos / "holiday")], capture_output=True, text=True)
    assert two.returncode == 2 and "takes one folder" in two.stderr


def test_features_are_written_beside_the_answers(mine, photos, program, tmp_path):
    images = [str(photos / "holiday" / f"{i}.png") for i in (1, 2, 3)]
    expected = mine.features_of(images)
    mine.close()
    asked = [program, "classify", str(tmp_path / "mine.pcm"), *images, images[0], "--format", "csv", "--features-out", str(tmp_path / "seen.npz")]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = protocom.FeatureSet.read(tmp_path / "seen.npz")
    assert list(np.load(tmp_path / "seen.npz")["paths"]) == images
    np.testing.assert_allclose(written.features, expected, rtol=1e-5, atol=1e-6)
    assert [written.names[label] for label in written.labels] == ["blue", "red", "green"]
    for more in (["--series", "time"], ["--explain"], ["--out", str(tmp_path / "lines.jsonl")]):
        form = ["--format", "json"] if more[0] != "--series" else []
        refused = subprocess.run([*asked[:4], *form, *asked[-2:], *more], capture_output=True, text=True)
        assert refused.returncode == 2 and "--features-out: leave out" in refused.stderr


def test_keywords_go_into_sidecars(mine, photos, program, tmp_path):
    shutil.copytree(photos / "holiday", tmp_path / "seen")
    other = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><!-- own --></rdf:RDF></x:xmpmeta>"
    (tmp_path / "seen" / "2.XMP").write_text(other)
    mine.rename("green", "plants/green")
    mine.close()
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(tmp_path / "seen"), "--format", "xmp"]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in (tmp_path / "seen").glob("*.xmp")) == ["1.png.xmp", "3.png.xmp"]
    assert "<rdf:li>blue</rdf:li>" in (tmp_path / "seen" / "1.png.xmp").read_text()
    own = (tmp_path / "seen" / "2.XMP").read_text()
    assert own.startswith(other[:other.index("</rdf:RDF>")]) and "<rdf:li>red</rdf:li>" in own
    levels = (tmp_path / "seen" / "3.png.xmp").read_text()
    assert "<rdf:li>plants</rdf:li><rdf:li>green</rdf:li>" in levels and "<rdf:li>plants|green</rdf:li>" in levels
    answers = subprocess.run([*asked[:-1], "json"], capture_output=True, text=True, check=True).stdout.splitlines()
    probability = json.loads(answers[1])["ranking"][0]["probability"]
    assert f"<protocom:Probability>{probability:.4f}</protocom:Probability>" in own
    again = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert (tmp_path / "seen" / "2.XMP").read_text() == own and "3" in again.stdout.split("had these keywords")[1].split("\n")[0]


def test_a_sidecar_that_is_none_keeps_no_other_from_its_keywords(mine, photos, program, tmp_path):
    shutil.copytree(photos / "holiday", tmp_path / "seen")
    (tmp_path / "seen" / "1.png.xmp").symlink_to(tmp_path / "elsewhere.xmp")
    (tmp_path / "seen" / "2.xmp").write_bytes("<x/>".encode("utf-16"))
    mine.close()
    done = subprocess.run([program, "classify", str(tmp_path / "mine.pcm"), str(tmp_path / "seen"), "--format", "xmp"], capture_output=True, text=True)
    assert done.returncode == 1 and "1.png.xmp is a dangling symbolic link" in done.stderr and "2.xmp: its text is UTF-16" in done.stderr
    assert "2" in done.stdout.split("not changed")[1].split("\n")[0]
    assert (tmp_path / "seen" / "3.png.xmp").exists() and not (tmp_path / "elsewhere.xmp").exists()


needs_exiftool = pytest.mark.skipif(shutil.which("exiftool") is None, reason="LEFT OUT: exiftool (libimage-exiftool-perl) is not here")


def exiftool(*words):
    return subprocess.run(["exiftool", *map(str, words)], capture_output=True, text=True, check=True).stdout


def xmp_of(sidecar):
    """What exiftool reads in a sidecar, by group and name."""
    return json.loads(exiftool("-j", "-a", "-G1", "-struct", "-XMP:all", sidecar))[0]


FOREIGN = """<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
 <rdf:Description rdf:about='' xmlns:trap='http://example.com/trap/1.0/' trap:Site='T-07'/></rdf:RDF></x:xmpmeta>"""


@needs_exiftool
@pytest.mark.parametrize("compact", ["", "Shorthand"])
def test_sidecars_of_exiftool_get_the_keywords_and_keep_all_else(mine, photos, program, tmp_path, compact):
    shutil.copytree(photos / "holiday", tmp_path / "seen")
    sidecar = tmp_path / "seen" / "2.xmp"
    sidecar.write_text(FOREIGN)
    exiftool("-overwrite_original", *(["-api", f"Compact={compact}"] if compact else []), "-XMP-dc:Subject=holiday", "-XMP-dc:Subject=tit & <robin>",
             "-XMP-lr:HierarchicalSubject=Places|Garden", "-XMP-xmp:Rating=4", "-XMP-dc:Title=Gr\u00fcn", "-XMP-digiKam:PickLabel=2", sidecar)
    before = xmp_of(sidecar)
    assert before["XMP-trap:Site"] == "T-07" and before["XMP-xmp:Rating"] == 4 and before["XMP-dc:Subject"] == ["holiday", "tit & <robin>"]
    mine.rename("red", "plants/Red_Campion")
    mine.close()
    done = subprocess.run([program, "classify", str(tmp_path / "mine.pcm"), str(tmp_path / "seen"), "--format", "xmp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = xmp_of(sidecar)
    assert 0 < after.pop("XMP-protocom:Probability") <= 1
    assert after == {**before, "XMP-dc:Subject": ["holiday", "tit & <robin>", "plants", "Red Campion"],
                     "XMP-lr:HierarchicalSubject": ["Places|Garden", "plants|Red Campion"]}
    made = xmp_of(tmp_path / "seen" / "1.png.xmp")
    assert made["XMP-dc:Subject"] in ("blue", ["blue"]) and "XMP-lr:HierarchicalSubject" not in made
    assert exiftool("-s3", "-Validate", tmp_path / "seen" / "1.png.xmp").strip() == "OK"


@needs_exiftool
def test_keywords_that_exiftool_wrote_into_photos_are_classes(photos, program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    tags = {"red": ["-XMP-lr:HierarchicalSubject=Animals|Birds|Robin", "-XMP-dc:Subject=Robin", "-XMP-dc:Subject=Animals"],
            "blue": ["-IPTC:CodedCharacterSet=UTF8", "-IPTC:Keywords=Zaunk\u00f6nig"], "green": ["-XMP-dc:Subject=Wren & co"]}
    (tmp_path / "tagged").mkdir()
    for colour, words in tags.items():
        for k in range(4):
            path = tmp_path / "tagged" / f"{colour}{k}.{'jpg' if colour == 'blue' else 'png'}"
            image.fromarray(photo(colour, k)).save(path)
        exiftool("-overwrite_original", *words, *(tmp_path / "tagged").glob(f"{colour}*"))
    exiftool("-o", tmp_path / "tagged" / "red0.xmp", "-XMP-lr:HierarchicalSubject=Animals|Birds|Tit", "-XMP-dc:Subject=Tit")
    made = subprocess.run([program, "recognizer", "create", str(tmp_path / "made.pcm"), "--backbone", str(photos / "encoder.pt"), "--images",
                           str(tmp_path / "tagged"), "--classes-from", "keywords"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "do not name one class: 1" in made.stderr, made.stderr
    with protocom.Recognizer(tmp_path / "made.pcm") as own:
        assert own.classes == {"Robin": 3, "Wren & co": 4, "Zaunk\u00f6nig": 4}


def test_a_renewal_by_a_named_encoder_needs_no_default_one(mine, photos, program, tmp_path):
    mine.close()
    asked = [program, "recognizer", "renew", str(tmp_path / "mine.pcm"), "--backbone", str(photos / "encoder.pt"), "--out", str(tmp_path / "new.pcm")]
    done = subprocess.run(asked, capture_output=True, text=True, env={**os.environ, "PROTOCOM_ENCODER": "absent"})
    assert done.returncode == 0, done.stderr
    assert "the former encoder" in done.stdout.split("before: ")[1].split("\n")[0]


def two_birds(tmp_path, image):
    """A photo of a red thing at the left and a blue one at the right, and MegaDetector's boxes of both."""
    picture = np.full((100, 200, 3), 90, np.uint8)
    picture[20:60, 10:50] = photo("red", 1)[:40, :40]
    picture[30:70, 130:170] = photo("blue", 2)[:40, :40]
    image.fromarray(picture).save(tmp_path / "two.png")
    found = [{"category": "1", "conf": 0.9, "bbox": [0.05, 0.2, 0.2, 0.4]}, {"category": "1", "conf": 0.05, "bbox": [0, 0, 0.5, 1]},
             {"category": "1", "conf": 0.8, "bbox": [0.65, 0.3, 0.2, 0.4], "classifications": [["9", 0.7]]}]
    (tmp_path / "md.json").write_text(json.dumps({
        "info": {"detector": "md_v5a.0.0.pt"}, "detection_categories": {"1": "animal"}, "classification_categories": {"9": "old"},
        "images": [{"file": "gone.png", "failure": "Failure image access", "detections": None}, {"file": "two.png", "detections": found}]}))
    return tmp_path / "two.png", tmp_path / "md.json"


def test_two_birds_side_by_side_have_an_answer_each(few, program, tmp_path):
    path, boxes = two_birds(tmp_path, pytest.importorskip("PIL.Image"))
    answers = few.classify(path, boxes=boxes)
    assert [(one.name, one.box.kind, one.box.photo) for one in answers] == [("red", "animal", str(path)), ("blue", "animal", str(path))]
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(path), "--boxes", str(boxes)]
    table = subprocess.run([*asked, "--format", "csv", "--top", "1"], capture_output=True, text=True, check=True).stdout
    header, *rows = [line.split(",") for line in table.splitlines()]
    assert [[row[header.index(name)] for name in ("image", "class", "x", "width")] for row in rows] == [
        [str(path), "red", "0.05", "0.2"], [str(path), "blue", "0.65", "0.2"]]
    out = tmp_path / "answered.json"
    subprocess.run([*asked, "--format", "megadetector", "--out", str(out)], capture_output=True, check=True)
    made, given = json.loads(out.read_text()), json.loads(boxes.read_text())
    names = made["classification_categories"]
    detections = made["images"][1]["detections"]
    assert [[names[number] for number, _ in one.pop("classifications", [])][:1] for one in detections] == [["red"], [], ["blue"]]
    assert sorted(names.values()) == sorted(few.classes)
    given["images"][1]["detections"][2].pop("classifications")
    assert made["images"] == given["images"] and made["info"]["detector"] == "md_v5a.0.0.pt", "all else is as it was"
    other = subprocess.run([*asked, "--format", "coco"], capture_output=True, text=True)
    assert other.returncode == 2 and "has no annotations" in other.stderr
    assert subprocess.run([*asked[:4], "--format", "coco"], capture_output=True).returncode == 2, "no boxes"


def test_boxes_outside_their_photo_are_named_by_row_and_write_nothing(few, program, tmp_path):
    path, _ = two_birds(tmp_path, pytest.importorskip("PIL.Image"))
    table = "image,x,y,width,height\n"
    (tmp_path / "bad.csv").write_text(table + "two.png,900,20,40,40\ntwo.png,10,700,40,40\n")
    few.close()
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(path), "--boxes", str(tmp_path / "bad.csv")]
    for form in (["--format", "csv"], ["--format", "json", "--series", "time"], []):
        done = subprocess.run([*asked, *form, "--out", str(tmp_path / "out")], capture_output=True, text=True)
        assert done.returncode == 1 and "2 of 2 images could not be read" in done.stderr, done.stderr
        assert f"bad.csv:2: {path}#xywh=900,20,40,40: " in done.stderr and "bad.csv:3: " in done.stderr
        assert not list(tmp_path.glob("out*")), form
    (tmp_path / "bad.csv").write_text(table + "two.png,900,20,40,40\ntwo.png,10,20,40,40\n")
    done = subprocess.run([*asked, "--format", "csv", "--out", str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode == 1 and "bad.csv:2: " in done.stderr and len((tmp_path / "out").read_text().splitlines()) == 2


def test_coco_gets_the_recognizers_categories(few, program, tmp_path):
    path, _ = two_birds(tmp_path, pytest.importorskip("PIL.Image"))
    boxes = tmp_path / "coco.json"
    boxes.write_text(json.dumps({
        "images": [{"id": 4, "file_name": "two.png", "width": 200, "height": 100}], "categories": [{"id": 1, "name": "bird"}],
        "annotations": [{"id": 7, "image_id": 4, "category_id": 1, "bbox": [130, 30, 40, 40], "iscrowd": 0},
                        {"id": 8, "image_id": 4, "category_id": 1, "bbox": [10, 20, 0, 40]},
                        {"id": 9, "image_id": 4, "category_id": 1, "bbox": [10, 20, 40, 40]}]}))
    asked = [program, "classify", str(tmp_path / "mine.pcm"), str(path), "--boxes", str(boxes), "--format", "coco"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)
    names = {one["id"]: one["name"] for one in made["categories"]}
    assert sorted(names.values()) == sorted(few.classes)
    assert [(one["id"], names[one["category_id"]], one["bbox"]) for one in made["annotations"]] == [
        (7, "blue", [130, 30, 40, 40]), (9, "red", [10, 20, 40, 40])]
    assert all(0.3 < one["score"] <= 1 for one in made["annotations"])
    assert "annotations[1]: a box of no size" in done.stderr


def test_a_folder_of_yolo_is_its_boxes_classes_for_every_command(photos, program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    for split, first, shots in (("train", 0, 3), ("test", 50, 2)):
        for folder in ("images", "labels"):
            (tmp_path / "birds" / split / folder).mkdir(parents=True)
        for k in range(first, first + shots):
            both = np.concatenate([photo("red", k), photo("blue", 100 + k)], axis=1)  # 40 x 100
            image.fromarray(both).save(tmp_path / "birds" / split / "images" / f"{k}.png")
            (tmp_path / "birds" / split / "labels" / f"{k}.txt").write_text("0 0.25 0.5 0.5 1\n1 0.75 0.5 0.5 1\n")
    (tmp_path / "birds" / "data.yaml").write_text("train: ../train/images\nnc: 2\nnames: ['red', 'blue']\n")
    asked = {"cwd": tmp_path, "capture_output": True, "text": True}
    both = subprocess.run([program, "birds", "--backbone", str(photos / "encoder.pt")], **asked)
    assert both.returncode == 0 and "birds: using train, leaving out test (2 images)" in both.stderr, both.stderr
    tested = subprocess.run([program, "test", "birds.pcm", "birds", "--json"], **asked)
    assert json.loads(tested.stdout)["images"] == 4 and "using test, leaving out train (3 images)" in tested.stderr
    with protocom.Recognizer(tmp_path / "birds.pcm") as own:
        assert own.classes == {"blue": 3, "red": 3}
    made = subprocess.run([program, "birds/train", "--backbone", str(photos / "encoder.pt")], **asked)
    assert made.returncode == 0, made.stderr
    with protocom.Recognizer(tmp_path / "train.pcm") as own:
        assert own.classes == {"blue": 3, "red": 3}
        assert own.test(tmp_path / "birds" / "test").accuracy == 1
    tested = subprocess.run([program, "test", "train.pcm", "birds/test", "--json"], **asked)
    assert tested.returncode == 0 and json.loads(tested.stdout)["images"] == 4, tested.stderr
    (tmp_path / "none.csv").write_text("image,x,y,width,height,class\n0.png,1,2,0,4,red\n")
    bad = subprocess.run([program, "recognizer", "create", "bad.pcm", "--backbone", str(photos / "encoder.pt"), "--images",
                          "birds/train", "--boxes", "none.csv"], **asked)
    assert bad.returncode == 1 and "1 cannot be cut out" in bad.stderr and not (tmp_path / "bad.pcm").exists()


def test_a_column_names_the_moments_of_photos(photos, program, tmp_path):
    rows = ["image,visit", *(f"{image.parent.name}/{image.name},{int(image.stem) // 2}" for image in sorted((photos / "my-photos").rglob("*.png")))]
    (tmp_path / "visits.csv").write_text("\n".join(rows))
    column, given = f"{tmp_path / 'visits.csv'}:visit", {"backbone": photos / "encoder.pt", "images": photos / "my-photos"}
    promises = [protocom.Recognizer.create(tmp_path / f"{i}.pcm", moments=one, **given).expected_accuracy()
                for i, one in enumerate([column, False, "off"])]
    assert f"{len(rows) - 1} photos, {len(rows) // 2} moments" in promises[0]
    assert "moments" not in promises[1] and promises[1] == promises[2]
    made = subprocess.run([program, "recognizer", "create", tmp_path / "made.pcm", "--backbone", given["backbone"], "--images", given["images"],
                           "--moments", column], capture_output=True, text=True)
    assert f"{len(rows) - 1} photos, {len(rows) // 2} moments" in made.stdout, made.stderr
    for wrong, said in ((f"{column}s", "visits"), ("visit", "unknown 'moments' 'visit'"), (3, "moments must be a str")):
        with pytest.raises(protocom.Error, match=said):
            protocom.Recognizer.create(tmp_path / "bad.pcm", moments=wrong, **given)


def test_a_list_of_photos_makes_a_recognizer(photos, program, tmp_path):
    shown = sorted((photos / "my-photos").rglob("*.png"))
    (tmp_path / "labels.csv").write_text("image,class,visit\n" + "".join(f"{one},{one.parent.name},{i // 2}\n" for i, one in enumerate(shown)))
    given = {"backbone": photos / "encoder.pt"}
    with protocom.Recognizer.create(tmp_path / "list.pcm", images=tmp_path / "labels.csv", moments="visit", **given) as own, \
            protocom.Recognizer.create(tmp_path / "folder.pcm", images=photos / "my-photos", **given) as same:
        assert own.classes == same.classes
        assert f"{len(shown)} photos, {len(shown) // 2} moments" in own.expected_accuracy()
    (tmp_path / "labels.csv").write_text("image,class\ngone.png,red\n")
    with pytest.raises(protocom.Error, match="1 rows, 0 files found, such as gone.png"):
        protocom.Recognizer.create(tmp_path / "bad.pcm", images=tmp_path / "labels.csv", **given)
    with pytest.raises(protocom.Error, match="expected a folder of images or a list of them"):
        protocom.Recognizer.create(tmp_path / "bad.pcm", images=shown[0], **given)


def test_photos_taken_within_two_seconds_are_of_one_moment(photos, program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    for label in ("red", "blue"):
        (tmp_path / "bursts" / label).mkdir(parents=True)
        for k, seconds in enumerate((0, 2, 4, 30, 33, 36)):
            taken = image.Exif()
            taken[0x8769] = {0x9003: f"2026:05:17 06:00:{seconds:02d}"}  # DateTimeOriginal
            image.fromarray(photo(label, k)).save(tmp_path / "bursts" / label / f"{k}.jpg", quality=95, exif=taken)
    given = {"backbone": photos / "encoder.pt", "images": tmp_path / "bursts"}
    with protocom.Recognizer.create(tmp_path / "auto.pcm", **given) as auto:
        assert "12 photos, 8 moments" in auto.expected_accuracy()
    for how in ("path", "bytes"):  # in parts, of which the second ends bursts of the first
        with protocom.Recognizer.create(tmp_path / f"{how}.pcm", backbone=photos / "encoder.pt") as parts:
            for k in range(6):
                for label in ("red", "blue"):
                    shot = tmp_path / "bursts" / label / f"{k}.jpg"
                    parts.enrol(label, [shot if how == "path" else shot.read_bytes()])
            assert "12 photos, 8 moments" in parts.expected_accuracy()
    with protocom.Recognizer.create(tmp_path / "off.pcm", moments=False, **given) as off:
        assert "moments" not in off.expected_accuracy()


def test_boxes_with_classes_make_a_recognizer(photos, program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    rows, shots = ["image,x,y,width,height,class"], 3
    (tmp_path / "shots").mkdir()
    for k in range(shots):
        image.fromarray(np.concatenate([photo("red", k), photo("blue", 9 + k)], axis=1)).save(tmp_path / "shots" / f"{k}.png")
        rows += [f"{k}.png,0,0,50,40,red", f"{k}.png,50,0,50,40,blue"]
    (tmp_path / "boxes.csv").write_text("\n".join([*rows, "gone.png,1,1,2,2,red", "0.png,900,0,5,5,red"]))
    made = subprocess.run([program, "recognizer", "create", str(tmp_path / "made.pcm"), "--backbone", str(photos / "encoder.pt"),
                           "--images", str(tmp_path / "shots"), "--boxes", str(tmp_path / "boxes.csv"), "--moments", "off"],
                          capture_output=True, text=True)
    assert made.returncode == 1 and "images enrolled: 6" in made.stderr, "one box could not be cut out"
    assert "gone.png" in made.stderr and "0.png#xywh=900,0,5,5" in made.stderr
    recognizer = protocom.Recognizer(tmp_path / "made.pcm")
    assert recognizer.classes == {"blue": shots, "red": shots}
    assert recognizer.classify(photos / "holiday" / "1.png").name == "blue"
    extracted = subprocess.run([program, "extract", "--images", str(tmp_path / "shots"), "--boxes", str(tmp_path / "boxes.csv"), "--backbone",
                                str(photos / "encoder.pt"), "--split", str(tmp_path / "split.csv"), "--out", str(tmp_path / "f.npz")],
                               capture_output=True, text=True)
    assert extracted.returncode == 1 and "split.csv" in extracted.stderr
    (tmp_path / "split.csv").write_text("class,split\nred,base\nblue,novel\n")
    extracted = subprocess.run(extracted.args, capture_output=True, text=True)
    assert extracted.returncode == 0, extracted.stderr
    features = np.load(tmp_path / "f.npz", allow_pickle=False)
    assert features["features"].shape[0] == 2 * shots
    enrolled = subprocess.run([program, "enrol", str(tmp_path / "made.pcm"), str(tmp_path / "shots" / "0.png"), "--class", "scarlet", "--boxes",
                               str(tmp_path / "boxes.csv"), "--box-kinds", "red"], capture_output=True, text=True)
    assert "0.png#xywh=900,0,5,5" in enrolled.stderr, "a box that is no part of the picture"
    assert protocom.Recognizer(tmp_path / "made.pcm").classes["scarlet"] == 1


def test_features_are_those_of_the_encoder(mine, photos):
    paths = sorted((photos / "holiday").iterdir())
    encoder = protocom.Backbone(photos / "encoder.pt")
    features = encoder.extract(paths)
    assert features.shape == (3, encoder.dim) == (3, 48) and features.dtype == np.float32
    np.testing.assert_allclose(features, mine.features_of(paths), atol=1e-5)


def test_unlabelled_images_count_as_on_the_command_line(photos, few_photos, tmp_path, program, few):
    parts = {"backbone": photos / "encoder.pt", "images": few_photos}
    made = protocom.Recognizer.create(tmp_path / "pool.pcm", unlabelled=photos / "holiday", **parts)
    told = [argument for name, path in parts.items() for argument in ("--" + name, path)]
    subprocess.run([program, "--quiet", "recognizer", "create", tmp_path / "same.pcm", *told, "--unlabelled", photos / "holiday"], check=True,
                   stdout=subprocess.DEVNULL)
    pool = sorted((photos / "holiday").iterdir())
    features = few.features_of(pool)
    between = (features + features[[1, 2, 0]]) / 2
    answers = [one.ranking for one in made.classify(between)]
    assert answers == [one.ranking for one in protocom.Recognizer.open(tmp_path / "same.pcm").classify(between)]
    assert answers != [one.ranking for one in few.classify(between)]
    listed = protocom.Recognizer.create(tmp_path / "listed.pcm", unlabelled=[str(one) for one in pool], **parts)
    assert answers == [one.ranking for one in listed.classify(between)]
    later = protocom.Recognizer.create(tmp_path / "later.pcm", **parts)
    assert later.add_unlabelled(pool[:2]) == 2 and later.add_unlabelled(pool) == 1 and later.unlabelled == 3
    for one in (made, later):  # the first threshold was set without them
        one.calibrate()
    answers = [one.ranking for one in made.classify(between)]
    assert answers == [one.ranking for one in later.classify(between)]
    assert "without the 3 unlabelled ones" in later.expected_accuracy()
    assert later.remove_unlabelled() == 3 and later.unlabelled == 0
    assert later.add_unlabelled(features) == 3
    assert answers == [one.ranking for one in later.classify(between)]
    with pytest.raises(protocom.Error, match="nowhere"):
        protocom.Recognizer.create(tmp_path / "none.pcm", unlabelled=[tmp_path / "nowhere"], **parts)
    assert not (tmp_path / "none.pcm").exists()


def onnx_of_two_outputs():
    """The mean and the largest value of each channel, as an ONNX file: protobuf by hand, as nobody needs its library."""
    def field(number, value):
        if isinstance(value, int):
            return bytes([number << 3, value])
        data = value.encode() if isinstance(value, str) else value
        return bytes([number << 3 | 2, len(data) & 127 | 128, len(data) >> 7]) + data

    def value(number, name, sizes):
        shape = b"".join(field(1, field(1, size)) for size in sizes)
        return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))

    def node(op, taken, given):
        return field(1, field(1, taken) + field(2, given) + field(4, op))

    graph = node("GlobalAveragePool", "images", "a") + node("Flatten", "a", "mean")
    graph += node("GlobalMaxPool", "images", "b") + node("Flatten", "b", "largest")
    graph += value(11, "images", (1, 3, 32, 32)) + value(12, "mean", (1, 3)) + value(12, "largest", (1, 3))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


def test_the_output_of_an_onnx_file_is_chosen_by_name(photos, tmp_path):
    (tmp_path / "encoder.onnx").write_bytes(onnx_of_two_outputs())
    paths = sorted((photos / "holiday").iterdir())
    with pytest.raises(protocom.Error, match="mean .*largest"):
        protocom.Backbone(tmp_path / "encoder.onnx", preprocess="plain:size=32")
    mean, largest = (protocom.Backbone(tmp_path / "encoder.onnx", preprocess="plain:size=32", output=name).extract(paths)
                     for name in ("mean", "largest"))
    assert (largest > mean).all()
    made = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess="plain:size=32", output="largest")
    np.testing.assert_allclose(made.features_of(paths), largest, atol=1e-6)


def test_create_checks_its_options_before_it_embeds_anything(tmp_path, photos):
    for options, error in [({"top": 0}, protocom.UsageError), ({"topp": "mean"}, TypeError)]:
        with pytest.raises(error, match="top"):
            protocom.Recognizer.create(tmp_path / "a.pcm", backbone=tmp_path / "nowhere.onnx", images=photos / "my-photos", **options)


def test_enrols_undoes_renames_and_removes(mine, photos):
    assert mine.classes == {"blue": 4, "green": 4, "red": 4}
    made = mine.enrol("okapi", [photo("red", 50), photos / "holiday" / "1.png"])
    assert made["classes"] == [{"class": "okapi", "is_new": True, "added": 2, "images": 2}]
    assert mine.enrol("okapi", photo("red", 50))["classes"][0]["added"] == 0  # it is there already
    mine.enrol("okapi", mine.features_of([photo("green", 51)]))
    assert mine.classes["okapi"] == 3
    assert "okapi" in mine.undo() and mine.classes["okapi"] == 2
    assert "okapi" in mine.redo() and mine.classes["okapi"] == 3
    with pytest.raises(protocom.Error, match="nothing to redo"):
        mine.redo()
    mine.rename("okapi", "tapir")
    mine.merge("tapir", "green")
    assert mine.classes == {"blue": 4, "green": 7, "red": 4}
    mine.undo()
    first = mine.examples("tapir")[0]["example"]
    assert mine.move_examples([first], to="green") == 1
    assert mine.classes == {"blue": 4, "green": 5, "red": 4, "tapir": 2}
    mine.undo()
    mine.remove_examples([first])
    assert mine.classes["tapir"] == 2
    mine.remove("red")
    assert set(protocom.Recognizer.open(mine._path).classes) == {"blue", "green", "tapir"}


def test_calibrates_and_says_none_of_these(mine):
    found = mine.calibrate(false_accept=0.2)
    assert found["false_accept"] == 0.2 and found["accepted"] > 0
    assert mine.calibration["method"] == "plda"
    answer = mine.classify(photo("red", 60))
    assert answer.none_of_these is not None and answer.none_of_these == (answer.none >= 0.5)
    assert answer.none + sum(share for _, share in answer.ranking) == pytest.approx(1)
    assert mine.calibrate(similar=True)["balanced"]
    assert not mine.calibrate()["similar"]


def test_what_is_none_of_these_has_no_name(mine):
    mine.calibrate(false_accept=0.2)
    others = [np.broadcast_to(np.array(colour, np.uint8), (64, 64, 3)) for colour in ((0, 0, 0), (255, 255, 255), (255, 255, 0))]
    answers = mine.classify([photo("red", 60), *others])
    assert [bool(one.none_of_these) for one in answers] == [not one.name for one in answers]
    assert all(one.name in ("", one.ranking[0][0]) for one in answers) and not all(one.name for one in answers)


def test_known_shares_of_classes_count_and_are_never_ignored(mine, photos):
    paths = [photos / "holiday" / f"{i}.png" for i in (1, 2, 3)]
    of_blue = [dict(protocom.Recognizer.open(mine._path, shares={"blue": share}).classify(paths)[1].ranking)["blue"]
               for share in (0.0001, 0.9999)]
    assert of_blue[1] > of_blue[0]
    with pytest.raises(protocom.UsageError, match="ignores them"):
        protocom.Recognizer.open(mine._path, method="plda", shares={"blue": 0.5})


def test_shows_its_classes_in_a_notebook(mine):
    shown = mine._repr_html_()
    assert shown.count("<img") == 12 and "<td>red</td><td>4</td>" in shown
    assert "red" in mine.classify(photo("red", 61))._repr_html_()
    assert "3 classes, 12 images" in repr(mine)
    assert "%" in mine.expected_accuracy()


def test_two_threads_classify_at_once(mine):
    images = [photo(colour, 70) for colour in ("red", "green", "blue")]
    expected, found = [one.ranking for one in mine.classify(images)], []
    threads = [
        threading.Thread(target=lambda: found.extend([a.ranking for a in mine.classify(images)] for _ in range(5)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 10


def test_what_cannot_be_made_is_not_left_behind(photos, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(protocom.Error):
        protocom.Recognizer.create(tmp_path / "a.pcm", backbone=photos / "encoder.pt", images=tmp_path / "empty")
    assert not (tmp_path / "a.pcm").exists()


CYCLES = """
import gc, resource, sys, protocom
def rss():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
features = protocom.Recognizer.open(sys.argv[1]).features_of([sys.argv[2]])
def cycles(count):
    for _ in range(count):
        mine = protocom.Recognizer.open(sys.argv[1])
        assert mine.classify(features)[0].name == "blue" and len(mine.classes) == 3
cycles(200)
before = rss()
cycles(1000)
grown = rss() - before
assert grown < 8e6, grown  # a recognizer's file is 100 kB, so a thousand leaked ones would be far more
import os
assert len(os.listdir("/proc/self/fd")) < 20
"""


def test_a_thousand_recognizers_opened_and_closed_leak_nothing(mine, photos):
    arguments = [str(mine._path), str(photos / "holiday" / "1.png")]
    subprocess.run([sys.executable, "-c", CYCLES, *arguments], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def test_an_encoder_that_is_not_named_is_the_default_one(photos, tmp_path, monkeypatch):
    (tmp_path / "encoders").mkdir()
    shutil.copy(photos / "encoder.pt", tmp_path / "encoders" / "test-mine.pt")
    monkeypatch.setenv("PROTOCOM_ENCODERS", str(tmp_path / "encoders"))
    monkeypatch.setenv("PROTOCOM_ENCODER", "test-mine")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", images=photos / "my-photos")
    same = protocom.Recognizer.create(tmp_path / "same.pcm", backbone="test-mine", images=photos / "my-photos")
    named = protocom.Recognizer.create(tmp_path / "named.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    asked = next((photos / "my-photos").glob("*/*"))
    answers = [one.classify(asked).probability for one in (mine, same, named)]
    assert answers[0] == answers[1] == answers[2]
    monkeypatch.setenv("PROTOCOM_ENCODER", "test-gone")
    with pytest.raises(protocom.Error, match="PROTOCOM_ENCODER is test-gone"):
        protocom.Recognizer.create(tmp_path / "none.pcm", images=photos / "my-photos")
    assert not (tmp_path / "none.pcm").exists()


# -- several images, and one that cannot be read


def test_one_bad_photo_does_not_lose_the_others(mine, photos, tmp_path, caplog):
    (tmp_path / "bad.png").write_text("no image")
    paths = [photos / "holiday" / "1.png", tmp_path / "bad.png", photos / "holiday" / "2.png", b"no"]
    expected = [one.ranking for one in mine.classify([paths[0], paths[2]])]
    answers = mine.classify(paths, on_error="skip")
    assert [None if one is None else one.ranking for one in answers] == [expected[0], None, expected[1], None]
    assert "bad.png" in caplog.text and "image 3" in caplog.text
    assert mine.classify(tmp_path / "bad.png", on_error="skip") is None and mine.classify(paths[3:], on_error="skip") == [None]
    for given, index, path in ((paths, 1, str(paths[1])), (paths[2:], 1, None), ([paths[0]] * 30 + [paths[1]], 30, str(paths[1]))):
        with pytest.raises(protocom.Error, match="bad.png" if path else "image 1") as caught:
            mine.classify(given)
        assert (caught.value.index, caught.value.path) == (index, path) and "\n" not in str(caught.value)
    with pytest.raises(protocom.UsageError, match="on_error must be 'raise' or 'skip'"):
        mine.classify(paths, on_error="ignore")


def test_images_are_taken_as_they_come(mine, photos):
    paths = sorted(str(one) for one in (photos / "holiday").iterdir())
    assert protocom.images_in(photos / "holiday") == protocom.images_in(str(photos / "holiday" / "*.png")) == paths
    expected = [one.ranking for one in mine.classify(paths * 12)]
    held, most = set(), []

    def images():
        for i, path in enumerate(paths * 12):
            held.add(i)
            most.append(len(held))
            yield Held(path, lambda i=i: held.discard(i))

    class Held:
        def __init__(self, path, gone):
            self.path, self.gone = path, gone

        def __fspath__(self):
            return self.path

        def __del__(self):
            self.gone()

    os.PathLike.register(Held)
    assert [one.ranking for one in mine.classify(images())] == expected and max(most) <= 34
    most.clear()
    mine.enrol("okapi", images())
    assert mine.undo() and max(most) <= 34
    encoder = protocom.Backbone(photos / "encoder.pt")
    most.clear()
    assert encoder.extract(images()).shape == (36, 48) and len(held) <= 1
    assert mine.features_of(iter(paths)).shape == (3, 48)
    for given, words in (([], "expected at least one image"), (iter(()), "expected at least one image"), (str(photos / "*.png"), "there is no image in")):
        with pytest.raises(protocom.Error, match=words):
            mine.classify(given)
    with pytest.raises(protocom.Error, match="there is no image in .*none"):
        protocom.images_in(photos / "none")


def test_a_folder_or_a_pattern_is_classified_as_its_images_are(mine, photos, tmp_path):
    paths = protocom.images_in(photos / "holiday")
    expected = [one.ranking for one in mine.classify(paths)]
    for given in (photos / "holiday", str(photos / "holiday"), str(photos / "holiday" / "*.png"), str(photos / "holiday" / "[123].png")):
        assert [one.ranking for one in mine.classify(given)] == expected
    assert len(mine.classify(str(photos / "holiday" / "1*.png"))) == 1, "a list for a pattern, whatever it matches"
    named = shutil.copy(paths[0], tmp_path / "[1]*.png")
    alone = mine.classify(str(named))
    assert isinstance(alone, protocom.Answer) and alone.ranking == mine.classify(paths[0]).ranking, "a file of such a name is one image"
    (tmp_path / "a.png").write_text("no image")
    assert [one and one.ranking for one in mine.classify(tmp_path, on_error="skip")] == [alone.ranking, None]
    with pytest.raises(protocom.UsageError, match="takes one image"):
        mine.explain(photos / "holiday")


@pytest.fixture
def with_a_bad_one(photos, tmp_path):
    """A folder with a folder: three photos and a file that is none."""
    shutil.copytree(photos / "holiday", tmp_path / "seen" / "day")
    (tmp_path / "seen" / "bad.png").write_text("no image")
    return tmp_path / "seen"


def test_changes_take_folders_patterns_and_generators_and_leave_bad_ones_out(few, photos, with_a_bad_one):
    good = protocom.images_in(photos / "holiday")
    folder, pattern, below = str(with_a_bad_one), str(with_a_bad_one / "*" / "*.png"), with_a_bad_one / "day"
    for given in (below, pattern, [below], iter(good), (open(one, "rb") for one in good), [good[0], str(below / "[23].png")]):
        done = few.enrol("okapi", given)
        assert (few.classes["okapi"], done["unreadable"]) == (3, []), given
        few.undo()
    with pytest.raises(protocom.Error, match="bad.png") as caught:
        few.enrol("okapi", folder)
    assert (caught.value.index, caught.value.path) == (0, os.path.join(folder, "bad.png")) and "okapi" not in few
    done = few.enrol("okapi", [folder, b"no", good[0]], on_error="skip")
    assert few.classes["okapi"] == 3, "of equal photos one counts"
    assert [("bad.png" in one, "image 4" in one) for one in done["unreadable"]] == [(True, False), (False, True)]
    few.undo()
    with pytest.raises(protocom.Error, match="none of the images can be read: .*bad.png"):
        few.enrol("okapi", str(with_a_bad_one / "bad.png"), on_error="skip")
    with pytest.raises(protocom.UsageError, match="on_error must be"):
        few.enrol("okapi", folder, on_error="ignore")
    assert "okapi" not in few


def test_unlabelled_images_come_from_folders_too(few, with_a_bad_one):
    with pytest.raises(protocom.Error, match="bad.png") as caught:
        few.add_unlabelled(with_a_bad_one)
    assert caught.value.index == 0 and few.unlabelled == 0
    assert few.add_unlabelled(with_a_bad_one, on_error="skip") == few.unlabelled == 3


def test_unknown_images_come_from_folders_too(mine, with_a_bad_one):
    before = mine.calibration
    with pytest.raises(protocom.Error, match="bad.png") as caught:
        mine.calibrate(with_a_bad_one)
    assert caught.value.index == 0 and mine.calibration == before
    skipped = mine.calibrate(with_a_bad_one, on_error="skip")
    alone = mine.calibrate(mine.features_of(with_a_bad_one / "day"))
    assert skipped["unknown"] == alone["unknown"] == 3 and skipped["threshold"] == pytest.approx(alone["threshold"], abs=1e-4)
    with pytest.raises(protocom.Error, match="none of the images can be read"):
        mine.calibrate([b"no"], on_error="skip")


def test_rows_of_images_that_cannot_be_read_are_not_numbers(mine, photos, with_a_bad_one):
    encoder, told = protocom.Backbone(photos / "encoder.pt"), []
    good = encoder.extract(photos / "holiday")
    np.testing.assert_array_equal(encoder.extract(protocom.images_in(photos / "holiday")), good)
    for extract in (encoder.extract, mine.features_of):
        with pytest.raises(protocom.Error, match="bad.png"):
            extract(with_a_bad_one)
        found = extract([b"no", with_a_bad_one, b"no"], on_error="skip")
        assert found.dtype == np.float32 and np.isnan(found[[0, 1, 5]]).all()
        np.testing.assert_allclose(found[2:5], good, atol=1e-6)
        assert np.isnan(extract([b"no"], on_error="skip")).all()
    encoder.extract([photos / "holiday" / "1.png"] * 130, progress=lambda *given: told.append(given))
    assert [one[:3] for one in told] == [("extract", done, 130) for done in (0, 64, 128, 130)]


def test_suggestions_leave_bad_ones_out(mine, photos, with_a_bad_one):
    with pytest.raises(protocom.Error, match="bad.png") as caught:
        mine.suggest(with_a_bad_one)
    assert (caught.value.index, caught.value.path) == (0, str(with_a_bad_one / "bad.png"))
    found = mine.suggest(with_a_bad_one, on_error="skip")
    below = [str(with_a_bad_one / "day" / f"{i}.png") for i in (1, 2, 3)]
    assert sorted((one["row"], one["image"]) for one in found) == list(zip((1, 2, 3), below)), "rows count those left out"
    found = mine.suggest([b"no", photo("red", 501), b"no", photo("blue", 502)], on_error="skip")
    assert sorted((one["row"], one["image"]) for one in found) == [(1, "1"), (3, "3")]
    with pytest.raises(protocom.Error, match="none of the images can be read: image 0"):
        mine.suggest([b"no"], on_error="skip")
    for given in (below, mine.features_of(below)):
        with pytest.raises(protocom.UsageError, match="on_error must be 'raise' or 'skip'"):
            mine.suggest(given, on_error="ignore")


def test_every_error_has_an_index_and_a_path(mine, tmp_path):
    with pytest.raises(protocom.Error) as caught:
        protocom.make("no-such-method")
    assert (caught.value.index, caught.value.path) == (None, None)
    bad = tmp_path / "bad.png"
    bad.write_text("no image")
    with pytest.raises(protocom.Error, match="bad.png") as caught:
        mine.explain(bad)
    assert (caught.value.index, caught.value.path) == (0, str(bad))
    with pytest.raises(protocom.Error, match="no class 'cow'") as caught:
        mine.explain(photo("red", 1), "cow")
    assert (caught.value.index, caught.value.path) == (None, None), "the error is not about the image"


def test_a_test_leaves_bad_ones_out(mine, photos, with_a_bad_one):
    images = [*protocom.images_in(with_a_bad_one)[:1], *(open(one, "rb").read() for one in protocom.images_in(photos / "holiday"))]
    names = ["red", "blue", "red", "red"]
    with pytest.raises(protocom.Error, match="bad.png"):
        mine.test(images, names)
    found = mine.test(iter(images), names, on_error="skip")
    assert found.images == 3 and [(one["image"], one["class"]) for one in found.tested] == [("1", "blue"), ("2", "red"), ("3", "red")]
    assert len(found.unreadable) == 1 and "bad.png" in found.unreadable[0] and found.to_dict()["unreadable"] == found.unreadable
    with pytest.raises(protocom.Error, match="expected one label per image, found 3 labels and 4 images"):
        mine.test(images, names[:3], on_error="skip")


def test_a_picture_whose_file_is_cut_off_is_a_bad_photo(mine, photos):
    image = pytest.importorskip("PIL.Image")
    whole = (photos / "holiday" / "1.png").read_bytes()
    cut = image.open(io.BytesIO(whole[: len(whole) // 2]))
    assert mine.classify([cut, whole], on_error="skip")[0] is None
    with pytest.raises(protocom.Error, match="image 1: an image cannot be read: ") as caught:
        mine.classify([whole, image.open(io.BytesIO(whole[: len(whole) // 2]))])
    assert caught.value.index == 1


def test_a_recognizer_is_a_collection_that_closes_and_is_pickled_by_its_path(mine, photos):
    assert len(mine) == 3 and list(mine) == list(mine.classes) and "blue" in mine and "pink" not in mine and 3 not in mine
    expected = mine.classify(photos / "holiday" / "1.png").ranking
    with pickle.loads(pickle.dumps(mine)) as again:
        assert again.classify(photos / "holiday" / "1.png").ranking == expected
    with pytest.raises(protocom.UsageError, match=r"mine\.pcm is closed: open it again"):
        again.classify(photos / "holiday" / "1.png")
    assert "closed" in repr(again) and mine.classify(photos / "holiday" / "1.png").ranking == expected
    again.close()
