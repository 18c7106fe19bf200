#pragma once

/// Logarithm, exponential and cosine with results identical to the last bit on every processor and with every C
/// library, which <cmath> does not guarantee: they consist of additions, multiplications, divisions and roundings
/// defined by IEEE 754, and are compiled without contraction. For random draws, which are compared and repeated between
/// machines; elsewhere <cmath> is faster and slightly more accurate.
namespace protocom {

/// Returns the natural logarithm of a finite x > 0, within 1 unit in the last place. With x = 2^k (1 + f), 1 + f in
/// [sqrt(1/2), sqrt(2)), and s = f / (2 + f): log(x) = k log(2) + 2 (s + s^3/3 + s^5/5 + ...).
double portable_log(double x);

/// Returns e^x, within 1 unit in the last place if that is a normal number; 0 below, infinity above. With x = k log(2)
/// + r, |r| <= log(2)/2: 2^k times the Taylor series of e^r.
double portable_exp(double x);

/// Returns cos(2 pi u) for u in [0, 1], within 2 units in the last place. The distance to the nearest quarter of a turn
/// is exact; the rest uses Taylor series of sine and cosine on [-pi/4, pi/4].
double portable_cos_of_turns(double u);

}  // namespace protocom
