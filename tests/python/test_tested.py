import math
import os
import subprocess

import numpy as np
import pytest

import protocom
from conftest import COLOURS, photo


@pytest.fixture
def mine(photos, tmp_path):
    return protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")


@pytest.fixture
def labelled():
    colours = [colour for colour in COLOURS for _ in range(3)]
    return [photo(colour, 200 + i) for i, colour in enumerate(colours)], colours


def test_says_how_good_it_is_on_labelled_images(mine, labelled, photos):
    images, labels = labelled
    found = mine.test([*images, photo("red", 300), photos / "my-photos" / "red" / "0.png"], [*labels, "pink", "red"])
    assert (found.images, found.unknown, found.already_enrolled, found.enrolled) == (9, 1, 1, 3)
    assert found.accuracy == found.right / 9 and found.low < found.accuracy <= found.high
    assert found.mode == "inductive" and found.calibrated and found.top5 is None
    answers = mine.classify(images)
    for one, answer in zip(found.tested, answers):
        assert one["answer"] == answer.ranking[0][0] and one["certainty"] * (1 - answer.none) == pytest.approx(answer.probability)
        assert math.exp(-one["log_loss"]) * (1 - answer.none) == pytest.approx(dict(answer.ranking)[one["class"]], abs=1e-5)
    assert found.log_loss == pytest.approx(np.mean([one["log_loss"] for one in found.tested[:9]]))
    assert found.to_dict()["right"] == found.right and f"{found.right} of 9" in repr(found)
    assert "<td>green</td><td>3</td>" in found._repr_html_()


def test_takes_features_and_folders(mine, labelled, photos):
    images, labels = labelled
    by_images, by_features = mine.test(images, labels), mine.test(mine.features_of(images), labels)
    assert by_features.accuracy == by_images.accuracy
    assert by_features.log_loss == pytest.approx(by_images.log_loss, abs=1e-5)
    with pytest.raises(protocom.Error, match="all 12 images are enrolled"):
        mine.test(photos / "my-photos")
    mine.undo()
    mine.enrol("red", photo("red", 1))  # red/1.png, told by its feature
    mine.enrol("blue", photo("blue", 1))
    of_folder = mine.test(photos / "my-photos")
    assert (of_folder.images, of_folder.unknown, of_folder.already_enrolled) == (7, 4, 1) and "red" in of_folder.tested[-1]["image"]


def test_two_tests_of_the_same_images_are_compared(mine, labelled, tmp_path, photos):
    other = protocom.Recognizer.create(tmp_path / "other.pcm", backbone=photos / "encoder.pt")
    for colour in COLOURS:
        other.enrol(colour, photo("red", 400 + len(colour)))
    one, two = mine.test(*labelled), other.test(*labelled)
    with pytest.raises(protocom.Error, match="other must be a TestResult, found dict"):
        one.compare(two.to_dict())
    found = one.compare(two)
    assert found["difference"] == pytest.approx(one.accuracy - two.accuracy)
    assert found["low"] <= found["difference"] <= found["high"] and found["images"] == 9
    assert found["second_only"] - found["first_only"] == one.right - two.right


def test_tables_and_pages_are_those_of_the_command_line(mine, photos, few_photos, program, tmp_path):
    mine.undo()
    mine.enrol("red", photo("red", 300))
    mine.enrol("blue", photo("blue", 301))
    other = protocom.Recognizer.create(tmp_path / "other.pcm", backbone=photos / "encoder.pt")
    other.enrol("red", photo("blue", 300))
    other.enrol("blue", photo("red", 301))
    one, two = mine.test(photos / "my-photos"), other.test(photos / "my-photos")
    for own, others, files in ((one, (), ["mine.pcm"]), (one, (two,), ["mine.pcm", "other.pcm"])):
        made = [tmp_path / f"{len(files)}.csv", tmp_path / f"{len(files)}.html"]
        subprocess.run([program, "test", *files, photos / "my-photos", "--csv", made[0], "--html", made[1]], cwd=tmp_path, capture_output=True,
                       check=True)
        own.to_csv(tmp_path / "own.csv", *others)
        own.to_html(tmp_path / "own.html", *others)
        assert (tmp_path / "own.csv").read_text() == made[0].read_text()
        page = (tmp_path / "own.html").read_text()
        assert page.replace(str(tmp_path) + os.sep, "") == made[1].read_text() and ("data:image/jpeg" in page or len(files) == 1)
    one.to_html(tmp_path / "fewer.html", two, worst=0)
    assert (tmp_path / "fewer.html").stat().st_size < (tmp_path / "own.html").stat().st_size
    for write in (one.to_csv, one.to_html):
        with pytest.raises(protocom.Error, match="same images"):
            write(tmp_path / "no", mine.test(few_photos))
        with pytest.raises(protocom.TypeRefused, match="other must be a TestResult, found dict"):
            write(tmp_path / "no", two.to_dict())
    with pytest.raises(protocom.UsageError, match="worst"):
        one.to_html(tmp_path / "no", worst=-1)
    assert not (tmp_path / "no").exists()


def test_what_cannot_be_tested_is_refused(mine, labelled):
    with pytest.raises(protocom.Error, match="expected one label per image, found 1 labels and 9 images"):
        mine.test(labelled[0], ["red"])
    with pytest.raises(protocom.UsageError, match="without labels"):
        mine.test(labelled[0])
    with pytest.raises(protocom.Error, match="none of the 1 classes"):
        mine.test(photo("red", 1), "pink")
