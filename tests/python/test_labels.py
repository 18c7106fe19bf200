"""Labels: what to label next, what looks misplaced, sets of classes; series of photos."""
import pickle
import shutil

import numpy as np
import pytest

import protocom
from conftest import COLOURS, photo


@pytest.fixture
def mine(photos, tmp_path):
    return protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")


def test_suggests_new_images_of_which_it_is_in_doubt(mine, photos):
    images = [photo("red", 500), photo("blue", 501), photo("green", 502)]
    mixed = (photo("red", 503).astype(float) + photo("blue", 504)) / 2
    found = mine.suggest([*images, mixed.astype(np.uint8), photos / "my-photos" / "red" / "0.png"], count=9)
    assert len(found) == 4 and {one["row"] for one in found} == {0, 1, 2, 3}, "the last one is enrolled"
    by_row = {one["row"]: one for one in found}
    for row, image in enumerate(images):
        answer = mine.classify(image)
        assert by_row[row]["class"] == answer.ranking[0][0]
    assert max(found, key=lambda one: one["doubt"])["row"] == 3
    assert sum(one["share"] for one in found) == pytest.approx(1, abs=1e-5), "all of the doubt is taken"
    by_features = mine.suggest(mine.features_of([*images, mixed.astype(np.uint8)]), 2)
    assert [one["row"] for one in by_features] == [one["row"] for one in found[:2]]
    with pytest.raises(protocom.UsageError, match="count"):
        mine.suggest(images, 0)


def test_explains_which_part_made_an_answer(mine):
    half = np.concatenate([photo("red", 510)[:, :25], photo("blue", 511)[:, 25:]], axis=1)
    found = mine.explain(half, "red")
    assert found["class"] == "red" and found["effects"].shape == (7, 7) and found["effects"].dtype == np.float64
    assert found["effects"][:, :3].sum() > found["effects"][:, 4:].sum(), "what is red speaks for red"
    assert mine.explain(half)["class"] == max(mine.classes, key=lambda name: mine.explain(half, name)["probability"])
    for wrong, what in [(mine.features_of([half])[0], "not its features"), ([half, half], "one image")]:
        with pytest.raises(protocom.UsageError, match=what):
            mine.explain(wrong)
    with pytest.raises(protocom.Error, match="no class 'cow'"):
        mine.explain(half, "cow")


def test_names_images_that_lie_in_the_wrong_class(photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "more.pcm", backbone=photos / "encoder.pt")
    for colour in COLOURS:
        mine.enrol(colour, [photo(colour, 600 + i) for i in range(8)])
    assert mine.check_labels()["misplaced"] == []
    mine.enrol("red", photo("blue", 700))
    mine.enrol("green", photo("red", 600))
    found = mine.check_labels()
    assert found["asked"] == 26 and found["false_rate"] > 0
    assert ("red", "blue") in [(one["class"], one["likelier"]) for one in found["misplaced"]]
    copies = [(one["class"], one["twin_class"]) for one in found["shared"] if one["copy"]]
    assert copies == [("red", "green")], "others are merely alike: here all red photos are"
    assert {one["class"] for one in found["classes"]} == set(COLOURS)
    wrong = [one["example"] for one in found["misplaced"] if one["likelier"] == "blue"]
    mine.confirm_examples(wrong)
    assert [one["example"] for one in mine.examples("red") if one["confirmed"]] == wrong
    left = [one for one in protocom.Recognizer.open(mine._path).check_labels()["misplaced"] if one["likelier"] == "blue"]
    assert left == [], "the recognizer keeps what was said of them"
    mine.undo()
    assert [one["example"] for one in mine.check_labels()["misplaced"] if one["likelier"] == "blue"] == wrong


def test_answers_hold_sets_of_classes_where_they_are_asked_for(mine, photos):
    image = photo("red", 800)
    assert mine.classify(image).set == []
    asked = protocom.Recognizer(mine._path, coverage=0.9).classify(image)
    assert asked.set[0] == asked.ranking[0][0]
    with pytest.raises(protocom.Error, match="needs 99 photos"):
        protocom.Recognizer(mine._path, coverage=0.99).classify(image)
    with pytest.raises(protocom.UsageError, match="between 0 and 1"):
        protocom.Recognizer(mine._path, coverage=2).classify(image)


def test_answers_name_a_group_of_classes_only_where_names_have_levels(mine, photos):
    image = photo("red", 800)
    assert protocom.Recognizer(mine._path, roll_up=0.999999).classify(image).group is None
    with pytest.raises(protocom.UsageError, match="roll_up: expected a number between 0 and 1"):
        protocom.Recognizer(mine._path, roll_up=2).classify(image)


def test_answers_name_the_groups_that_are_given(photos, few_photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "few.pcm", backbone=photos / "encoder.pt", images=few_photos)
    classes, image = list(mine), ((photo("red", 503).astype(float) + photo("blue", 504)) / 2).astype(np.uint8)
    table = tmp_path / "groups.csv"
    table.write_text("class,taxonomy\n" + "".join(f"{name},things;colours\n" for name in classes), encoding="utf-8")
    first = mine.classify(image)
    least = (1 + first.ranking[0][1]) / 2
    for groups in ({name: "things/colours" for name in classes}, table, str(table)):
        asked = protocom.Recognizer(mine._path, roll_up=least, groups=groups)
        name, probability = asked.classify(image).group
        assert name == "things/colours" and probability >= least
        assert pickle.loads(pickle.dumps(asked)).classify(image).group == (name, probability)
    assert pickle.loads(pickle.dumps(mine)).classify(image).group is None
    with pytest.raises(protocom.UsageError, match="groups are for roll_up"):
        protocom.Recognizer(mine._path, groups={classes[0]: "colours"})
    with pytest.raises(protocom.Error, match="expected groups of the recognizer's classes, such as .*, found only those of others"):
        protocom.Recognizer(mine._path, roll_up=least, groups={"okapi": "animals"}).classify(image)


def test_a_series_has_one_answer(mine, photos, tmp_path):
    frames = [photo("red", 900), photo("red", 901)]
    features = mine.features_of(frames)
    expected = mine.classify(features.astype(np.float64).mean(0).astype(np.float32)).ranking
    assert mine.classify_series(frames).ranking == expected
    assert mine.classify_series(features).ranking == expected
    groups = mine.classify_series(photos / "my-photos", by="folder")
    assert [len(paths) for paths, _ in groups] == [len(protocom.images_in(photos / "my-photos" / colour)) for colour in sorted(COLOURS)]
    assert sorted(answer.ranking[0][0] for _, answer in groups) == sorted(COLOURS)
    table = tmp_path / "visits.csv"
    table.write_text("image,visit\n" + "".join(f"{path},{i // 2}\n" for i, path in enumerate(protocom.images_in(photos / "my-photos"))))
    visits = mine.classify_series(photos / "my-photos", by=f"{table}:visit")
    assert [len(paths) for paths, _ in visits] == [2] * (len(protocom.images_in(photos / "my-photos")) // 2)
    bad = tmp_path / "bad.png"
    bad.write_text("no image")
    with pytest.raises(protocom.Error, match="bad.png"):
        mine.classify_series([*frames, bad])
    assert mine.classify_series([*frames, bad], on_error="skip").ranking == expected
    assert mine.classify_series([tmp_path], by="folder", on_error="skip") == [([str(bad)], None)]
    with pytest.raises(protocom.UsageError, match="paths of photos"):
        mine.classify_series(frames, by="time")
    with pytest.raises(protocom.UsageError, match="time, folder or TABLE.csv:COLUMN"):
        mine.classify_series(photos / "my-photos", by="day")


def test_a_question_of_label_studio_names_the_classes(photos, tmp_path):
    folder = tmp_path / "studio"
    folder.mkdir()
    rows = ["annotation_id,annotator,id,image,animal,weather"]
    for number, colour in enumerate(("blue", "blue", "red", "red")):
        shutil.copy(photos / "my-photos" / colour / f"{number}.png", folder)
        rows.append(f"{number},1,{number},{number}.png,{'jay' if colour == 'blue' else 'robin'},sunny")
    (folder / "export.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(protocom.Error, match="several questions"):
        protocom.Recognizer.create(tmp_path / "none.pcm", backbone=photos / "encoder.pt", images=folder)
    birds = protocom.Recognizer.create(tmp_path / "birds.pcm", backbone=photos / "encoder.pt", images=folder, question="animal")
    assert birds.classes == {"jay": 2, "robin": 2}
    with pytest.raises(protocom.Error, match="several questions"):
        birds.enrol_folder(folder)
    assert {one["class"]: one["added"] for one in birds.enrol_folder(folder, question="weather")["classes"]} == {"sunny": 4}
    with pytest.raises(protocom.Error, match="all 4 images are enrolled"):
        birds.test(folder, question="animal")
    with pytest.raises(protocom.UsageError, match="question, annotator and classes_from need the path"):
        birds.test([folder / "0.png"], ["jay"], question="animal")
    with pytest.raises(protocom.UsageError, match="question must be a str"):
        birds.enrol_folder(folder, question=7)
