"""Photos that protocom and Python cut the same pixels out of, and features of them by both."""
import copy
import pathlib
import subprocess
import sys

import numpy
import torch
import torchvision

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Photos:
    """A folder of two classes in `work`, PNG, which keeps every pixel; the shorter side is `side`, of which an encoder takes the `crop`."""

    def __init__(self, program, work, side, crop, mean=MEAN, std=STD):
        self.mean, self.std = mean, std
        self.program, self.work, self.edge, self.crop = program, pathlib.Path(work), (side - crop) // 2, crop
        self.pixels = {}  # uint8 [3, side, side]
        for name in ("a/1.png", "a/2.png", "b/1.png"):
            coarse = torch.rand(1, 3, 8, 8) * 255
            pixels = torch.nn.functional.interpolate(coarse, side, mode="bilinear").squeeze(0).byte()
            (self.work / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
            torchvision.io.write_png(pixels, str(self.work / "photos" / name))
            self.pixels[name] = pixels
        (self.work / "split.csv").write_text("class,split\na,base\nb,novel\n")

    def by_python(self, net, dtype=torch.float32):
        cut = slice(self.edge, self.edge + self.crop)
        batch = torch.stack([photo[:, cut, cut] for photo in self.pixels.values()]).float() / 255
        with torch.no_grad():
            return net.to(dtype)(torchvision.transforms.functional.normalize(batch, self.mean, self.std).to(dtype)).numpy()

    def by_protocom(self, encoder, *more):
        command = [self.program, "--quiet", "extract", "photos", "--split", "split.csv", "--backbone", encoder, "--out", "features.npz", *more]
        subprocess.run(command, cwd=self.work, check=True, stdout=subprocess.DEVNULL)
        found = numpy.load(self.work / "features.npz")
        features = dict(zip((str(name) for name in found["paths"]), found["features"]))
        return numpy.stack([features[name] for name in self.pixels])

    def compare(self, what, net, got, tolerance):
        expected = self.by_python(net)
        if got.shape != expected.shape:
            sys.exit(f"encoders: {what}: features {got.shape}, Python's are {expected.shape}")
        # Deep networks round: Python's own features are so far from those in double precision, and other orders of sums a little more or less.
        exact = self.by_python(copy.deepcopy(net), torch.float64)
        rounding = abs(expected - exact).max() / abs(exact).max()
        tolerance = max(tolerance, 3 * rounding)
        apart = abs(got - exact).max() / abs(exact).max()
        between = abs(expected[0] - expected[1]).max() / abs(expected).max()
        print(f"{what}: {expected.shape[1]} dimensions, {apart:.1e} apart (Python {rounding:.1e}), two photos {between:.1e}", flush=True)
        if not apart < tolerance < between / 10:
            sys.exit(f"encoders: {what}: features differ by {apart:.1e} of the largest, at most {tolerance:.1e} may; two photos differ by {between:.1e}")


def with_statistics(net):
    """Batch norms that have seen something, so that leaving them out would show."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    return net
