"""What is written for other tools, read by their own code where it is installed: pip install pycocotools megadetector-utils."""
import json
import subprocess

import numpy as np
import pytest

import protocom
from conftest import photo


@pytest.fixture
def scene(photos, few_photos, tmp_path):
    """A recognizer, and two photos of two coloured things each: the paths, and boxes in pixels by photo."""
    image = pytest.importorskip("PIL.Image")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=few_photos)
    (tmp_path / "traps").mkdir()
    for name in ("1.png", "2.png"):
        picture = np.full((100, 200, 3), 90, np.uint8)
        picture[20:60, 10:50], picture[30:70, 130:170] = photo("red", 1)[:40, :40], photo("blue", 2)[:40, :40]
        image.fromarray(picture).save(tmp_path / "traps" / name)
    return mine, tmp_path / "traps", {name: [[10, 20, 40, 40], [130, 30, 40, 40]] for name in ("1.png", "2.png")}


def answered(program, scene, form, boxes, tmp_path, more=()):
    (tmp_path / "given.json").write_text(json.dumps(boxes))
    asked = [program, "classify", scene[0]._path, scene[1], "--boxes", tmp_path / "given.json", "--format", form, "--out", tmp_path / "out.json", *more]
    done = subprocess.run([str(one) for one in asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "out.json").read_text())


def test_pycocotools_reads_and_scores_the_answers(program, scene, tmp_path):
    coco = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    kinds = {"red": 5, "blue": 9}
    right = {"images": [], "annotations": [], "categories": [{"id": number, "name": name} for name, number in kinds.items()]}
    for number, (name, boxes) in enumerate(scene[2].items(), 1):
        right["images"].append({"id": number, "file_name": name, "width": 200, "height": 100})
        for box, kind in zip(boxes, kinds.values()):
            right["annotations"].append({"id": len(right["annotations"]) + 1, "image_id": number, "category_id": kind, "bbox": box,
                                         "area": box[2] * box[3], "iscrowd": 0})
    plain = json.loads(json.dumps(right))
    plain["categories"] = [{"id": 1, "name": "bird"}]
    for one in plain["annotations"]:
        one["category_id"] = 1
    made = answered(program, scene, "coco", plain, tmp_path)
    found = coco.COCO(str(tmp_path / "out.json"))
    names = {one["id"]: one["name"] for one in found.loadCats(found.getCatIds())}
    assert [[names[one["category_id"]] for one in found.loadAnns(found.getAnnIds(imgIds=number))] for number in (1, 2)] == [["red", "blue"]] * 2
    truth = coco.COCO()
    truth.dataset = right
    truth.createIndex()
    results = truth.loadRes([{"image_id": one["image_id"], "category_id": kinds[names[one["category_id"]]], "bbox": one["bbox"],
                              "score": one["score"]} for one in made["annotations"]])
    judged = COCOeval(truth, results, "bbox")
    judged.evaluate()
    judged.accumulate()
    judged.summarize()
    assert judged.stats[0] == pytest.approx(1)


@pytest.mark.parametrize("version", ["1.3", "1.6"])
def test_megadetectors_own_check_passes_the_answers(program, scene, tmp_path, version):
    check = pytest.importorskip("megadetector.postprocessing.validate_batch_results")
    boxes = {"info": {"format_version": version, "detector": "md_v5a.0.0.pt"}, "detection_categories": {"1": "animal", "2": "person"}, "images": []}
    for name, pixels in scene[2].items():
        found = [{"category": "1", "conf": 0.9, "bbox": [x / 200, y / 100, w / 200, h / 100]} for x, y, w, h in pixels]
        found.append({"category": "2", "conf": 0.2, "bbox": [0, 0, 1, 1], "classifications": [["0", 0.5]]})
        boxes["images"].append({"file": name, "detections": found})
    boxes["classification_categories"] = {"0": "old"}
    boxes["images"] += [{"file": "gone.png", "failure": "Failure image access", "detections": None}, {"file": "empty.png", "detections": []}]
    groups = tmp_path / "groups.csv"
    groups.write_text("class,group\n" + "".join(f"{name},colours\n" for name in scene[0].classes))
    for more in ([], ["--roll-up", "0.999", "--groups", groups]):
        made = answered(program, scene, "megadetector", boxes, tmp_path, ["--box-kinds", "animal", *more])
        options = check.ValidateBatchResultsOptions()
        options.raise_errors = True
        found = check.validate_batch_results(str(tmp_path / "out.json"), options)["validation_results"]
        assert found["errors"] == found["warnings"] == []
        kinds = made["classification_categories"]
        assert [[kinds[one["classifications"][0][0]] for one in image["detections"][:2]] for image in made["images"][:2]] == [["red", "blue"]] * 2 or more
        assert all("classifications" not in one for image in made["images"][:2] for one in image["detections"][2:])
