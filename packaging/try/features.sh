# What a user does without LibTorch, in an empty folder of a bare system (TRY_TORCH=0 scripts/try-debian).
python3 - <<'PYTHON'
import numpy
import protocom
random = numpy.random.default_rng(0)
centres = random.normal(size=(40, 32))
y = numpy.repeat(numpy.arange(40), 30)
X = (centres[y] + random.normal(size=(len(y), 32))).astype(numpy.float32)
protocom.FeatureSet(X, y, ["base"] * 25 + ["val"] * 5 + ["novel"] * 10).save("features.npz")
accuracy = (protocom.PLDA().fit(X[::30], y[::30]).predict(X) == y).mean()
print(f"use: 40 classes of one example each: {100 * accuracy:.1f} %")
assert accuracy > 0.5
PYTHON
protocom fit --features features.npz --method plda --out plda.npz
protocom evaluate --features features.npz --fitted plda.npz --methods mean,plda --episodes 50

# One sentence says what is missing.
touch encoder.onnx
! protocom recognizer create mine.pcm --backbone encoder.onnx 2>refused || exit 1
cat refused
grep -q "needs LibTorch: libprotocom-torch.so is not installed" refused
