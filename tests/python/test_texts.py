"""Texts: their vectors, and classes that are described by them."""
import logging

import numpy as np
import pytest

import protocom
from conftest import noise, photo


def test_vectors_are_those_of_transformers(clip_folder, golden_texts):
    encoder = protocom.TextEncoder(clip_folder)
    texts = golden_texts["texts"][:200]
    vectors = encoder.encode(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (200, encoder.dim) == (200, 24)
    rows = noise(3 * 24, 3).reshape(3, 24)  # golden vectors are known by their products with noise
    np.testing.assert_allclose(vectors.astype(np.float64) @ rows.T, golden_texts["clip"]["vectors"][:200], atol=1e-4)
    np.testing.assert_array_equal(encoder.encode(texts[3])[0], encoder.encode([texts[3]])[0])
    assert encoder.compares_with_images and encoder.longest == 77
    assert encoder.encode([]).shape == (0, 24)


def test_what_is_no_text_and_no_encoder_is_said(clip_folder, tmp_path, caplog):
    encoder = protocom.TextEncoder(clip_folder)
    with pytest.raises(protocom.Error, match="a text must be a str, found int"):
        encoder.encode(["a bird", 5])
    with pytest.raises(protocom.Error, match="has no tokens"):
        encoder.encode([" "])
    with pytest.raises(protocom.Error, match="config.json"):
        protocom.TextEncoder(tmp_path)
    with caplog.at_level(logging.WARNING, "protocom"):
        encoder.encode("bird " * 200)
    assert "1 of 1 texts are longer" in caplog.text


def test_classes_are_described_with_and_without_images(clip_folder, photos, tmp_path):
    made = protocom.Recognizer.create(tmp_path / "words.pcm", backbone=clip_folder, text_encoder=clip_folder, images=photos / "my-photos")
    assert made.method == "plda:prior=text"
    assert made.enrol("robin", descriptions=["a small brown bird", "it sings"])["classes"] == [
        {"class": "robin", "is_new": True, "added": 0, "images": 0}]
    made.enrol("okapi", photo("red", 50), descriptions="a brown animal with striped legs")
    made.enrol("emu", made.features_of([photo("blue", 51)]), descriptions="a tall grey bird")
    assert made.classes == {"blue": 4, "emu": 1, "green": 4, "okapi": 1, "red": 4, "robin": 0}
    assert len(made.classify(photo("red", 52)).ranking) == 5
    again = protocom.Recognizer.open(tmp_path / "words.pcm")
    with pytest.raises(protocom.UsageError, match="text_encoder"):
        again.enrol("twin", descriptions="a small brown bird")
    again = protocom.Recognizer.open(tmp_path / "words.pcm", text_encoder=protocom.TextEncoder(clip_folder), top=9)
    again.enrol("twin", descriptions=["a small brown bird", "it sings"])
    share = dict(again.classify(photo("green", 53)).ranking)
    assert share["twin"] == pytest.approx(share["robin"], abs=1e-5)


def test_a_recognizer_without_texts_takes_no_words(clip_folder, photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    mine = protocom.Recognizer.open(tmp_path / "mine.pcm", text_encoder=clip_folder)
    with pytest.raises(protocom.UsageError, match="no knowledge"):
        mine.enrol("robin", descriptions="a small brown bird")
    with pytest.raises(protocom.UsageError, match="text encoder"):
        protocom.Recognizer.create(tmp_path / "other.pcm", backbone=photos / "encoder.pt", text_encoder=clip_folder)
