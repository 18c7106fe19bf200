#pragma once
#include <string>
#include <vector>

#include "protocom/eval/evaluation.h"

namespace protocom {

/// "+4.0" or "−1.2", with a true minus sign; "0.0" for what rounds to nothing.
std::string signed_points(double value);

/// The finding in one sentence: the best method that looks at one query at a time (without one, the best of all) with
/// the fewest shots against the class mean, and whether the difference is beyond chance: the best of those for which it
/// is, if there is one.
std::string headline(const Evaluation& evaluation);

/// What goes with the headline: the best method that uses unlabelled images, and that it does. Empty where there is
/// none.
std::string caveat(const Evaluation& evaluation);

/// What knowledge is worth: to the methods that the same task has with and without it, with the fewest shots and on the
/// same episodes; then what `fit` and `complete` said of it. Empty where nothing tells.
std::vector<std::string> worth_of_knowledge(const Evaluation& evaluation);

}  // namespace protocom
