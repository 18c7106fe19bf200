"""The expected values of tests/base/rng_test.cc and portable_math_test.cc, without the library.

    python3 tests/golden/draws.py

Random bits are those of the published xoshiro256** and splitmix64. What is made of them is computed twice: by mpmath with 200 bits
and one rounding at the end, which the library must meet within a few units in the last place, and in Python's doubles by the series
that portable_math.h and rng.h name, whose bits the library must give exactly. Needs python3-mpmath; the tests do not.
"""
import math
import struct

from mpmath import mp, mpf

mp.prec = 200
MASK = (1 << 64) - 1


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def uniforms(seed):
    """Multiples of 2^-53 in [0, 1), exact."""
    words = splitmix(seed)
    s = [next(words) for _ in range(4)]
    while True:
        product = s[1] * 5 & MASK
        yield mpf((((product << 7 | product >> 57) & MASK) * 9 & MASK) >> 11) / 2**53
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = (s[3] << 45 | s[3] >> 19) & MASK


def normal(u):
    radius = mp.sqrt(-2 * mp.log(1 - next(u)))
    return radius * mp.cos(2 * mp.pi * next(u))


def gamma(u, shape):
    if shape < 1:
        larger = gamma(u, shape + 1)
        return larger * mp.power(1 - next(u), 1 / mpf(shape))
    d = mpf(shape) - mpf(1) / 3
    c = 1 / mp.sqrt(9 * d)
    while True:
        x = normal(u)
        v = (1 + c * x) ** 3
        if v <= 0:
            continue
        if mp.log(1 - next(u)) < x * x / 2 + d - d * v + d * mp.log(v):
            return d * v


LOG2_HIGH = float.fromhex("0x1.62e42feep-1")
LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


def double_log(x):
    fraction, k = math.frexp(x)
    if fraction < math.sqrt(0.5):
        fraction, k = 2 * fraction, k - 1
    f = fraction - 1
    s = f / (2 + f)
    series = 0.0
    for i in range(21, 2, -2):
        series = s * s * (2.0 / i + series)
    return k * LOG2_HIGH - ((s * (f - series) - k * LOG2_LOW) - f)


def double_exp(x):
    k = math.floor(x * float.fromhex("0x1.71547652b82fep+0") + 0.5)
    high = x - k * LOG2_HIGH
    r = high - k * LOG2_LOW
    series = 1.0
    for i in range(15, 2, -1):
        series = 1 + r / i * series
    rest = (high - r) - k * LOG2_LOW
    return math.ldexp(1 + (r + (0.5 * r * r * series + rest)), k)


def double_cos_of_turns(u):
    quarters = math.floor(4 * u + 0.5)
    x = (4 * u - quarters) * float.fromhex("0x1.921fb54442d18p+0")
    series = 0.0
    for i in range(16, 1, -2) if quarters % 2 else range(15, 2, -2):
        series = (1 - series) * (x * x) / (i * (i + 1))
    if quarters % 2:
        return (x - x * series) * (1 if quarters == 3 else -1)
    half = 0.5 * (x * x)
    return (1 - (half - half * series)) * (-1 if quarters == 2 else 1)


def double_normal(u):
    radius = math.sqrt(-2.0 * double_log(1.0 - float(next(u))))
    return radius * double_cos_of_turns(float(next(u)))


def double_gamma(u, shape):
    if shape < 1:
        larger = double_gamma(u, shape + 1)
        return larger * double_exp(double_log(1.0 - float(next(u))) / shape)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = double_normal(u)
        root = 1.0 + c * x
        v = root * root * root
        if v > 0 and double_log(1.0 - float(next(u))) < 0.5 * x * x + d - d * v + d * double_log(v):
            return d * v


def digest(values):
    """The exclusive or of the bits of all."""
    bits = 0
    for value in values:
        bits ^= struct.unpack("<Q", struct.pack("<d", value))[0]
    return hex(bits)


def row(name, values):
    print(name, ", ".join(float(value).hex() for value in values))


if __name__ == "__main__":
    for seed in (1, 42):
        u = uniforms(seed)
        row(f"normal, seed {seed}:", [normal(u) for _ in range(6)])
    for shape in (0.5, 2, 7.25):
        u = uniforms(3)
        row(f"gamma({shape}), seed 3:", [gamma(u, shape) for _ in range(4)])
    u = uniforms(7)
    print("bits of 1000 normals, seed 7:", digest(double_normal(u) for _ in range(1000)))
    for shape in (0.5, 2):
        u = uniforms(7)
        print(f"bits of 1000 gamma({shape}), seed 7:", digest(double_gamma(u, shape) for _ in range(1000)))
    for name, function, arguments in (
        ("log", mp.log, (2**-53, 1e-300, 0.25, 0.7071067811865475, 0.7071067811865476, 1 - 2**-53, 1.0, 1.4142135623730951, 3.0, 1e300)),
        ("exp", mp.exp, (-745.0, -700.5, -1.0, -1e-9, 0.0, 0.34657359027997264, 1.0, 2.5, 700.5)),
        ("cos of turns", lambda t: mp.cos(2 * mp.pi * t), (0.0, 1e-9, 0.1, 0.125, 0.24999999, 0.3, 0.5, 0.7, 0.75000001, 0.9, 1.0)),
    ):
        row(f"{name}, of:", arguments)
        row(f"{name}:", [function(mpf(x)) for x in arguments])
