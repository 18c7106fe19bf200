#pragma once
#include <string>

#include "protocom/eval/evaluation.h"

namespace protocom {

/// "+4.0" or "−1.2", with a true minus sign; "0.0" for what rounds to nothing.
std::string signed_points(double value);

/// The finding in one sentence: the best method with the fewest shots against the class mean, and whether the
/// difference is beyond chance.
std::string headline(const Evaluation& evaluation);

/// What a reader of the headline must know: that its method uses unlabelled images, and which method that does not is
/// best. Empty otherwise.
std::string caveat(const Evaluation& evaluation);

}  // namespace protocom
