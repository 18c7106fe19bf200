"""Recognizers as ONNX files, in ONNX Runtime and by ONNX's own checker where those are installed."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import protocom

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "benchmarks"))
import in_browser  # noqa: E402
from conftest import COLOURS  # noqa: E402

SIDE = 32


def encoder_of(onnx, opset, branch=False):
    """A network whose values are called as those of an export; with a branch only ONNX Runtime computes it."""
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    values = {"probabilities": np.cos(np.arange(12 * 27, dtype=np.float32)).reshape(12, 3, 3, 3)}
    middle = helper.make_node("Abs", ["label"], ["familiarity"])
    if branch:
        values["choice"] = np.array(False)
        graphs = {
            name: helper.make_graph([helper.make_node(op, ["label"], [op])], name, [], [helper.make_tensor_value_info(op, number, None)])
            for name, op in (("then_branch", "Relu"), ("else_branch", "Abs"))
        }
        middle = helper.make_node("If", ["choice"], ["familiarity"], **graphs)
    nodes = [
        helper.make_node("Conv", ["image", "probabilities"], ["label"], strides=[4, 4]),
        middle,
        helper.make_node("GlobalAveragePool", ["familiarity"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["features"]),
    ]
    image = helper.make_tensor_value_info("image", number, ["n", 3, SIDE, SIDE])
    features = helper.make_tensor_value_info("features", number, ["n", 12])
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "encoder", [image], [features], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def squares(paths):
    """uint8 [n, h, w, 3] of photos that are as large as the encoder takes them."""
    image = pytest.importorskip("PIL.Image")
    return np.stack([np.asarray(image.open(one)) for one in paths])


@pytest.fixture
def squared(photos, tmp_path):
    """Photos of SIDE pixels, so that nothing is resized: a folder of classes, and a list."""
    image = pytest.importorskip("PIL.Image")
    for path in sorted(photos.rglob("*.png")):
        place = tmp_path / path.relative_to(photos)
        place.parent.mkdir(parents=True, exist_ok=True)
        image.open(path).crop((4, 4, 4 + SIDE, 4 + SIDE)).save(place)
    return tmp_path / "my-photos", sorted((tmp_path / "holiday").iterdir())


@pytest.mark.parametrize("opset", [13, 17, 18, 21])
def test_onnx_runtime_answers_as_the_recognizer(squared, tmp_path, opset):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    enrolled, asked = squared
    onnx.save(encoder_of(onnx, opset), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled, moments=False)
    mine.calibrate()
    answers = mine.classify(asked)
    for uint8 in (False, True):
        path = tmp_path / f"mine-{uint8}.onnx"
        mine.to_onnx(path, uint8=uint8, with_feature=True)
        onnx.checker.check_model(str(path), full_check=True)
        session = runtime.InferenceSession(str(path))
        classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
        assert path.with_suffix(".labels.txt").read_text().split("\n")[:-1] == classes == list(mine.classes)
        pixels = squares(asked)
        images = pixels if uint8 else (pixels.transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)
        for some in (slice(0, 1), slice(0, 3), slice(1, 3)):
            shares, none, familiarity, label, feature = session.run(None, {"image": images[some]})
            assert none.shape == familiarity.shape == label.shape == (len(pixels[some]),)
            np.testing.assert_allclose(feature, mine.features_of(asked[some]), rtol=1e-4, atol=1e-5)
            for i, answer in enumerate(answers[some]):
                assert classes[label[i]] == answer.ranking[0][0]
                assert none[i] == pytest.approx(answer.none, abs=1e-4) and familiarity[i] == pytest.approx(answer.familiarity, rel=1e-4, abs=1e-4)
                assert dict(zip(classes, shares[i])) == pytest.approx(dict(answer.ranking), abs=1e-4)


def test_a_network_with_branches_is_kept(squared, tmp_path):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    enrolled, asked = squared
    onnx.save(encoder_of(onnx, 17, branch=True), tmp_path / "encoder.onnx")
    try:
        mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                          images=enrolled)
    except protocom.Error as error:
        pytest.skip(f"only ONNX Runtime computes branches: {error}")
    mine.to_onnx(tmp_path / "mine.onnx")
    onnx.checker.check_model(str(tmp_path / "mine.onnx"), full_check=True)
    images = (squares(asked).transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)
    label = runtime.InferenceSession(str(tmp_path / "mine.onnx")).run(["label"], {"image": images})[0]
    assert [list(mine.classes)[k] for k in label] == [one.name for one in mine.classify(asked)]


def test_weights_lie_smaller_in_the_file(squared, tmp_path):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    enrolled, asked = squared
    helper, number, draw = onnx.helper, onnx.TensorProto.FLOAT, np.random.default_rng(1)
    made = encoder_of(onnx, 13)
    made.graph.node.extend([helper.make_node("MatMul", ["features", "wide"], ["wider"]),
                            helper.make_node("Gemm", ["wider", "last"], ["embedded"], transB=1)])
    for name, sizes in (("wide", (12, 256)), ("last", (64, 256))):
        made.graph.initializer.append(onnx.numpy_helper.from_array(draw.normal(size=sizes).astype(np.float32), name))
    del made.graph.output[:]
    made.graph.output.append(helper.make_tensor_value_info("embedded", number, ["n", 64]))
    onnx.save(made, tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled, moments=False)
    images = (squares(asked).transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)
    sizes, features = [], []
    for weights in ({}, {"half": True}, {"int8": True}):
        path = tmp_path / f"mine-{len(sizes)}.onnx"
        mine.to_onnx(path, with_feature=True, **weights)
        onnx.checker.check_model(str(path), full_check=True)
        sizes.append(path.stat().st_size)
        features.append(runtime.InferenceSession(str(path)).run(["feature"], {"image": images})[0])
    assert sizes[2] < sizes[1] - 64 * 256 + 1000 < sizes[0] - 2 * 64 * 256
    whole = np.linalg.norm(features[0])
    assert 0 < np.linalg.norm(features[1] - features[0]) < 2e-3 * whole
    assert 0 < np.linalg.norm(features[2] - features[0]) < 2e-2 * whole
    with pytest.raises(protocom.UsageError, match="cannot be combined"):
        mine.to_onnx(tmp_path / "both.onnx", half=True, int8=True)


def test_what_smaller_weights_cost_is_said_as_on_the_command_line(squared, program, tmp_path):
    onnx = pytest.importorskip("onnx")
    enrolled, _ = squared
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled, moments=False)
    plain = mine.to_onnx(tmp_path / "mine.onnx")
    assert plain["bytes"] == (tmp_path / "mine.onnx").stat().st_size and (plain["classes"], plain["measured"]) == (3, None)
    assert [plain[name] for name in ("model", "labels", "data", "page")] == [str(tmp_path / "mine.onnx"), str(tmp_path / "mine.labels.txt"), None, None]
    assert plain["input"] == f"image float32 [n, 3, {SIDE}, {SIDE}]" and plain["outputs"].startswith("probabilities [n, 3]")
    made = mine.to_onnx(tmp_path / "half.onnx", half=True)
    found = made["measured"]
    assert found["bytes_float32"] == plain["bytes"] and found["photos"] == 12 and found["engine"]
    assert found["milliseconds"] > 0 and found["milliseconds_float32"] > 0
    assert abs(found["accuracy"] - found["accuracy_float32"]) * 12 <= found["changed"] <= 12
    assert mine.to_onnx(tmp_path / "half.onnx", half=True, features=True)["measured"] is None
    said = subprocess.run([program, "recognizer", "export-onnx", tmp_path / "mine.pcm", tmp_path / "said.onnx", "--half"], capture_output=True,
                          text=True, check=True).stdout
    assert found["sentence"].split("leave-one-out")[1] in said and f"said.onnx: {made['bytes']} bytes" in said
    os.rename(enrolled, tmp_path / "moved")
    unseen = mine.to_onnx(tmp_path / "half.onnx", half=True)["measured"]
    assert (unseen["photos"], unseen["accuracy"], unseen["accuracy_float32"]) == (0, None, None) and "('images' FOLDER)" in unseen["sentence"]
    told = []
    for images in (tmp_path / "moved", [str(tmp_path / "moved")]):
        again = mine.to_onnx(tmp_path / "half.onnx", half=True, images=images, progress=lambda *given: told.append(given))["measured"]
        assert [again[name] for name in ("photos", "accuracy", "changed")] == [found[name] for name in ("photos", "accuracy", "changed")]
    assert told and told[-1][1] == told[-1][2] == 12


def test_weights_lie_beside_the_file(squared, tmp_path):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    enrolled, asked = squared
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled, moments=False)
    (tmp_path / "apart").mkdir()
    mine.to_onnx(tmp_path / "mine.onnx")
    mine.to_onnx(tmp_path / "apart/mine.onnx", external_data=True)
    onnx.checker.check_model(str(tmp_path / "apart/mine.onnx"), full_check=True)
    outside = [one for one in onnx.load(str(tmp_path / "apart/mine.onnx"), load_external_data=False).graph.initializer if one.external_data]
    assert outside
    for one in outside:
        place = {entry.key: entry.value for entry in one.external_data}
        assert re.fullmatch(r"mine\.onnx\.[0-9a-f]{16}\.data", place["location"]) and int(place["offset"]) % 64 == 0
    images = (squares(asked).transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)
    answers = [runtime.InferenceSession(str(path)).run(None, {"image": images}) for path in (tmp_path / "mine.onnx", tmp_path / "apart/mine.onnx")]
    for one, other in zip(*answers):
        np.testing.assert_array_equal(one, other)


def python_of_the_document():
    return re.findall(r"```python\n(.*?)```", (pathlib.Path(__file__).parent.parent.parent / "docs/elsewhere.md").read_text(), re.S)


def test_the_lines_of_the_document_classify_a_photo(photos, tmp_path, monkeypatch, capsys):
    """The Python blocks of docs/elsewhere.md; that of OpenCV where it is installed."""
    onnx = pytest.importorskip("onnx")
    for needed in ("onnxruntime", "PIL.Image"):
        pytest.importorskip(needed)
    block, head, opencv = python_of_the_document()
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize=36",
                                      images=photos / "my-photos")
    mine.to_onnx(tmp_path / "mine.onnx")
    photo = sorted((photos / "holiday").iterdir())[0]
    (tmp_path / "holiday").mkdir()
    os.symlink(photo, tmp_path / "holiday/1.jpg")
    said = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    answer = mine.classify([photo])[0]
    assert said[0] == answer.ranking[0][0] and float(said[1]) == pytest.approx(dict(answer.ranking)[answer.ranking[0][0]], abs=0.05)
    if importlib.util.find_spec("cv2"):
        lines = f"{block}\nby_runtime = label, probabilities\n{opencv}\nassert label == by_runtime[0] and numpy.allclose(probabilities, by_runtime[1], atol=1e-4)"
        subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, check=True)
    mine.to_onnx(tmp_path / "head.onnx", features=True)
    truth = sorted(COLOURS).index
    monkeypatch.chdir(tmp_path)
    names = {"photos": sorted((photos / "holiday").iterdir()), "truth": [truth("blue"), truth("red"), truth("green")]}
    exec(compile(head, "docs/elsewhere.md", "exec"), names)  # pylint: disable=exec-used
    assert capsys.readouterr().out.startswith("accuracy 1.0 log loss ") and names["features"].shape == (3, 12)


CPP = """#include <onnxruntime_cxx_api.h>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>
int main() {
  std::ifstream file("rgb", std::ios::binary);
  std::vector<uint8_t> rgb(std::istreambuf_iterator<char>(file), {});
%s  std::cout << label;
}
"""


def test_the_cpp_of_the_document_classifies_a_photo(squared, tmp_path):
    """The C++ block of docs/elsewhere.md, where ONNX Runtime's headers are (PROTOCOM_ONNXRUNTIME_HEADERS), with Python's library."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    enrolled, asked = squared
    places = [os.environ.get("PROTOCOM_ONNXRUNTIME_HEADERS"), "/usr/include/onnxruntime", "/usr/local/include/onnxruntime"]
    headers = next((place for place in places if place and pathlib.Path(place, "onnxruntime_cxx_api.h").exists()), None)
    library = next(pathlib.Path(runtime.__file__).parent.glob("capi/libonnxruntime.so*"), None)
    compiler = shutil.which("c++")
    if headers is None or library is None or compiler is None:
        pytest.skip("no headers of ONNX Runtime (PROTOCOM_ONNXRUNTIME_HEADERS): the C++ of the document is NOT TRIED")
    (block,) = re.findall(r"```cpp\n(.*?)```", (pathlib.Path(__file__).parent.parent.parent / "docs/elsewhere.md").read_text(), re.S)
    block, count = re.subn("224, 224", f"{SIDE}, {SIDE}", block)
    assert count == 1
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled)
    mine.to_onnx(tmp_path / "mine.onnx", uint8=True)
    os.symlink(library, tmp_path / "libonnxruntime.so.1")
    (tmp_path / "block.cc").write_text(CPP % block)
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Werror", "-isystem", headers, "block.cc", "libonnxruntime.so.1", f"-Wl,-rpath,{tmp_path}",
                    "-o", "block"], cwd=tmp_path, check=True)
    for photo, answer in zip(asked, mine.classify(asked)):
        (tmp_path / "rgb").write_bytes(squares([photo]).tobytes())
        said = subprocess.run(["./block"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert list(mine.classes)[int(said)] == answer.ranking[0][0]


def test_other_encoders_are_left_out(photos, tmp_path):
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    with pytest.raises(protocom.Error, match="give the encoder as ONNX"):
        mine.to_onnx(tmp_path / "mine.onnx")
    assert not (tmp_path / "mine.onnx").exists() and not (tmp_path / "mine.labels.txt").exists()
    mine.to_onnx(tmp_path / "mine.onnx", features=True)
    assert (tmp_path / "mine.labels.txt").read_text() == "blue\ngreen\nred\n"
    with pytest.raises(protocom.UsageError, match="without the encoder"):
        mine.to_onnx(tmp_path / "mine.onnx", features=True, uint8=True)


def test_methods_that_are_no_formula_are_refused_with_what_to_use(photos, tmp_path):
    protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    for method, why in (("plda-vb", "classifies all images jointly; use 'plda' or 'mean'"), ("gda", "needs all labelled images for each answer; use 'plda' or 'mean'"),
                        ("bavardage", "needs features of base classes, which a recognizer does not keep: use 'plda' instead"),
                        ("completed", "needs a completion model, which this recognizer was made without (Recognizer.create(..., model=...)): use 'plda'")):
        with pytest.raises(protocom.UsageError) as caught:
            protocom.Recognizer.open(tmp_path / "mine.pcm", method=method).to_onnx(tmp_path / "mine.onnx", features=True)
        assert str(caught.value).startswith(f"'{method}' ") and str(caught.value).endswith(why)
        assert not (tmp_path / "mine.onnx").exists()


def modules_of_node():
    """The folder node_modules with npm's onnxruntime-web and onnxruntime-node."""
    folder = os.environ.get("PROTOCOM_NODE_MODULES")
    if not folder:
        pytest.skip("PROTOCOM_NODE_MODULES (npm install --ignore-scripts onnxruntime-web onnxruntime-node): JavaScript is NOT TRIED")
    return pathlib.Path(folder)


def test_node_answers_as_the_recognizer(squared, tmp_path):
    onnx, modules = pytest.importorskip("onnx"), modules_of_node()
    enrolled, asked = squared
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize={SIDE}",
                                      images=enrolled, moments=False)
    mine.calibrate()
    mine.to_onnx(tmp_path / "mine.onnx")
    images = (squares(asked).transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)
    (tmp_path / "images").write_bytes(images.tobytes())
    script = pathlib.Path(__file__).parent.parent.parent / "benchmarks/node_answers.cjs"
    shape = ",".join(map(str, images.shape))
    said = subprocess.run(["node", script, modules, tmp_path / "mine.onnx", tmp_path / "images", shape, "2"], capture_output=True, text=True, check=True)
    found = json.loads(said.stdout)
    assert len(found["label"]) == len(asked)
    for i, answer in enumerate(mine.classify(asked)):
        assert list(mine.classes)[found["label"][i]] == answer.ranking[0][0]
        assert found["none_of_these"][i] == pytest.approx(answer.none, abs=1e-4)
        assert dict(zip(mine.classes, found["probabilities"][i])) == pytest.approx(dict(answer.ranking), abs=1e-4)


def test_the_javascript_of_the_document_classifies_a_photo(photos, tmp_path):
    """The JavaScript block of docs/elsewhere.md, in Chromium with npm's onnxruntime-web."""
    onnx, modules = pytest.importorskip("onnx"), modules_of_node()
    chromium = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)
    if chromium is None:
        pytest.skip("no Chromium: the JavaScript of the document is NOT TRIED")
    (block,) = re.findall(r"```js\n(.*?)```", (pathlib.Path(__file__).parent.parent.parent / "docs/elsewhere.md").read_text(), re.S)
    block, count = re.subn(r"resize = \d+, crop = \d+", f"resize = 36, crop = {SIDE}", block)
    assert count == 1
    onnx.save(encoder_of(onnx, 17), tmp_path / "encoder.onnx")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=tmp_path / "encoder.onnx", preprocess=f"half:size={SIDE}:resize=36",
                                      images=photos / "my-photos")
    mine.to_onnx(tmp_path / "mine.onnx", uint8=True)
    photo = sorted((photos / "holiday").iterdir())[0]
    (tmp_path / "photo.png").write_bytes(photo.read_bytes())
    os.symlink(modules / "onnxruntime-web/dist", tmp_path / "ort")
    (tmp_path / "index.html").write_text(f"""<script type="module">
import * as ort from './ort/ort.wasm.bundle.min.mjs';
ort.env.wasm.numThreads = 1;
const say = text => fetch('said', {{method: 'POST', body: text}}), file = await (await fetch('photo.png')).blob();
console.log = say;
try {{
{block}
}} catch (error) {{ say('failed: ' + error); }}
</script>""")
    assert in_browser.said_by_page(chromium, tmp_path) == mine.classify([photo])[0].name
