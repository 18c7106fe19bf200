#!/usr/bin/env python3
"""Small ONNX files, each around one operator, with what ONNX Runtime makes of them.

    tests/golden/onnx_operators.py > tests/golden/onnx_operators.json

Needs NumPy, onnx and onnxruntime. Images are those of tests/golden/made_up.py (8 x 8 pixels), one at a time: a network that quantises by the range of
its values must not give other features for other images beside. Files are in hexadecimal digits.
Signed weights keep to 7 bits: on processors without instructions for it ONNX Runtime adds pairs of products in 16 bits, which larger ones overflow.
"""
import json
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper as nh

SIDE = 8


def noise(*shape, shift=0.0):
    """As made_up.py's."""
    value = 43758.5453 * np.sin(12.9898 * np.arange(np.prod(shape)) + shift)
    return (2 * (value - np.floor(value)) - 1).reshape(shape).astype(np.float32)


def whole(values, kind):
    return np.rint(values * 100 + (100 if kind == np.uint8 else 0)).astype(kind)


IMAGES = 0.5 + 0.5 * noise(2, 3, SIDE, SIDE)
FILTER = 0.4 * noise(4, 3, 3, 3, shift=1)
POOL = [("GlobalAveragePool", ["maps"], ["mean"]), ("Flatten", ["mean"], ["features"])]
TOKENS = [("Reshape", ["images", "shape"], ["tokens"])]
CONSTANTS = {
    "filter": FILTER, "filter8": whole(FILTER, np.int8), "unsigned": whole(noise(4, 3, 3, 3, shift=5), np.uint8), "bias": 0.1 * noise(4, shift=2),
    "bias32": np.array([300, -1200, 40, 900], np.int32), "fine": np.float32(1 / 255), "scales": np.float32([0.01, 0.02, 0.005, 0.004]),
    "scales3": np.float32([0.01, 0.004, 0.006]), "zeros3": np.array([0, 100, 7], np.uint8), "zeros4": np.array([0, 3, -2, 5], np.int8),
    "coarse": np.float32(0.013), "none": np.uint8(0), "zero": np.uint8(117), "below": np.int8(-9), "minus": np.int8(-128),
    "matrix": noise(16, 6, shift=3), "matrix7": whole(0.5 * noise(16, 6, shift=3), np.int8), "square": noise(16, 16, shift=4), "gain": 1 + 0.2 * noise(16, shift=6),
    "shape": np.array([1, 12, 16], np.int64), "one": np.array([1], np.int64), "axis2": np.int64(2), "axis1": np.int64(-2),
    "pairs": np.array([[[0, 1], [0, -1], [0, 2], [0, 0]]], np.int64), "singles": np.array([[[3], [-1]]], np.int64),
    "places": np.array([[[0, -1, 3, 2, 5]] * 12], np.int64), "updates": noise(1, 12, 5, shift=8), "heads3": np.array([1, 3, 4, 16], np.int64),
    "heads1": np.array([1, 1, 12, 16], np.int64), "seen": noise(1, 1, 4, 4, shift=9) > -0.4, "added": noise(12, 12, shift=10),
}


def pooled(op, inputs, **attributes):
    return [(op, inputs, ["maps"], attributes), *POOL]


def on_tokens(*nodes):
    return [*TOKENS, *nodes, ("Flatten", ["y"], ["features"])]


def average(**attributes):
    return [("AveragePool", ["images"], ["y"], attributes), ("Flatten", ["y"], ["features"])]


def einsum(equation, *inputs):
    return on_tokens(("Einsum", [*inputs], ["y"], {"equation": equation}))


QUANTISED = ("QuantizeLinear", ["images", "fine", "none"], ["q"])
RANGE = ("DynamicQuantizeLinear", ["tokens"], ["q", "scale", "of"])
BACK = [("DequantizeLinear", ["r", "coarse", "zero"], ["maps"]), *POOL]
CASES = {
    "cast-like-of-a-constant": (18, [("CastLike", ["bias", "images"], ["b"]), *pooled("Conv", ["images", "filter", "b"])]),
    "average-wider-than-its-maps": (20, average(kernel_shape=[16, 16], strides=[16, 16], ceil_mode=1)),
    "average-over-the-edge": (20, average(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)),
    "average-over-the-edge-with-padding": (20, average(kernel_shape=[3, 3], strides=[4, 4], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1)),
    "average-of-uneven-padding": (20, average(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])),
    "quantize": (13, [QUANTISED, ("DequantizeLinear", ["q", "fine", "none"], ["d"]), *pooled("Conv", ["d", "filter"])]),
    "quantize-per-channel": (13, [("QuantizeLinear", ["images", "scales3", "zeros3"], ["q"], {"axis": 1}), ("DequantizeLinear", ["q", "scales3", "zeros3"], ["d"], {"axis": 1}),
                                  *pooled("Conv", ["d", "filter"])]),
    "dequantized-weights": (13, [("DequantizeLinear", ["filter8", "scales", "zeros4"], ["w"], {"axis": 0}), *pooled("Conv", ["images", "w", "bias"])]),
    "quantize-to-signed": (21, [("QuantizeLinear", ["images", "fine"], ["q"], {"output_dtype": T.INT8}), ("DequantizeLinear", ["q", "fine"], ["d"]), *pooled("Conv", ["d", "filter"])]),
    "dynamic-matmul": (13, on_tokens(RANGE, ("MatMulInteger", ["q", "matrix7", "of", "below"], ["sums"]), ("Cast", ["sums"], ["s"], {"to": T.FLOAT}), ("Mul", ["s", "scale"], ["y"]))),
    "conv-integer": (13, [QUANTISED, ("ConvInteger", ["q", "unsigned", "none", "zero"], ["s"], {"pads": [1, 1, 1, 1]}), ("Cast", ["s"], ["maps"], {"to": T.FLOAT}), *POOL]),
    "qlinear-conv": (13, [QUANTISED, ("QLinearConv", ["q", "fine", "none", "filter8", "scales", "zeros4", "coarse", "zero", "bias32"], ["r"], {"pads": [1, 1, 1, 1], "strides": [2, 2]}), *BACK]),
    "qlinear-matmul": (13, on_tokens(("QuantizeLinear", ["tokens", "fine", "zero"], ["q"]), ("QLinearMatMul", ["q", "fine", "zero", "matrix7", "coarse", "below", "coarse", "zero"], ["r"]),
                                     ("DequantizeLinear", ["r", "coarse", "zero"], ["y"]))),
    "einsum-of-two": (13, einsum("btc, cd -> bdt", "tokens", "matrix")),
    "einsum-of-three": (13, einsum("btc,cd,ce->bde", "tokens", "matrix", "square")),
    "einsum-with-dots": (13, einsum("...tc,...sc->...ts", "tokens", "tokens")),
    "einsum-without-a-result": (13, einsum("btc,cd", "tokens", "matrix")),
    "gather-nd": (13, on_tokens(("GatherND", ["tokens", "pairs"], ["y"]))),
    "gather-nd-within-batch": (13, on_tokens(("GatherND", ["tokens", "singles"], ["y"], {"batch_dims": 1}))),
    "gather-elements": (13, on_tokens(("GatherElements", ["tokens", "places"], ["y"], {"axis": 2}))),
    "scatter-elements": (13, on_tokens(("ScatterElements", ["tokens", "places", "updates"], ["y"], {"axis": 2}))),
    "scatter-elements-added": (18, on_tokens(("ScatterElements", ["tokens", "places", "updates"], ["y"], {"axis": -1, "reduction": "add"}))),
    "cumulative-sum": (13, on_tokens(("CumSum", ["tokens", "axis2"], ["y"]))),
    "cumulative-sum-back": (13, on_tokens(("CumSum", ["tokens", "axis1"], ["y"], {"exclusive": 1, "reverse": 1}))),
    "rms-norm": (23, on_tokens(("RMSNormalization", ["tokens", "gain"], ["y"], {"epsilon": 1e-3}))),
    "attention": (23, [("Reshape", ["images", "heads3"], ["q"]), ("Attention", ["q", "q", "q", "seen"], ["y"]), ("Flatten", ["y"], ["features"])]),
    "attention-of-joined-heads": (23, on_tokens(("Attention", ["tokens", "tokens", "tokens", "added"], ["y"], {"q_num_heads": 4, "kv_num_heads": 4, "scale": 0.3}))),
}


def file_of(opset, nodes):
    made = [h.make_node(op, inputs, outputs, **(rest[0] if rest else {})) for op, inputs, outputs, *rest in nodes]
    named = {name for node in made for name in node.input}
    constants = [nh.from_array(np.asarray(value), name) for name, value in CONSTANTS.items() if name in named]
    images = h.make_tensor_value_info("images", T.FLOAT, [1, 3, SIDE, SIDE])
    graph = h.make_graph(made, "g", [images], [h.make_tensor_value_info("features", T.FLOAT, None)], constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=10).SerializeToString()


def main():
    golden = {}
    for name, (opset, nodes) in CASES.items():
        data = file_of(opset, nodes)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        rows = [session.run(["features"], {"images": image[None]})[0][0] for image in IMAGES]
        step = max(1, len(rows[0]) // 24)
        golden[name] = {"file": data.hex(), "dim": len(rows[0]), "step": step, "features": [[float(f"{v:.7g}") for v in row[::step]] for row in rows]}
    text = json.dumps(golden, separators=(",", ":"))
    sys.stdout.write(re.sub(r'("[a-z0-9-]+":\{)', r"\n\1", text) + "\n")


main()
