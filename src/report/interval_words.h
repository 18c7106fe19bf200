#pragma once
#include <string>
#include <vector>

#include "protocom/eval/statistics.h"

namespace protocom {

/// What an interval allows to say of a difference.
enum class Verdict { kLess, kUnclear, kMore };

/// Half of the last decimal that is shown: points have one, cosines three.
inline constexpr double kLeastPoints = 0.05;
inline constexpr double kLeastCosine = 0.0005;

/// Unclear where the interval reaches 0, or where the difference is below `least`.
Verdict verdict_of(const Estimate& difference, double least = kLeastPoints);

/// a - b of different episodes: the two intervals' root sum of squares.
Estimate difference_of(const Estimate& a, const Estimate& b);

/// "gains 3.2 ± 0.4 points", "loses 1.2 ± 0.4 points", "does not change measurably".
std::string change_words(const Estimate& change);

/// "adds 3.2 ± 0.4 points", "costs 1.2 ± 0.4 points", "adds nothing measurable".
std::string worth_words(const Estimate& worth);

/// "+0.052 ± 0.011"
std::string signed_interval(const Estimate& change, int decimals);

/// The places of the largest value and, by falling value, of those whose intervals reach into its own. At least one
/// value.
std::vector<size_t> not_measurably_below_best(const std::vector<Estimate>& values);

/// The same of methods by their values on the same episodes: those whose paired difference to the best is unclear. One
/// episode tells nothing.
std::vector<size_t> not_measurably_below_best(const std::vector<std::vector<double>>& episodes, double least);

/// "a", "a and b", "a, b and c", and of more than three "a, b and 4 others".
std::string listed(const std::vector<std::string>& names);

}  // namespace protocom
