#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "protocom/answer.h"

namespace protocom {

/// The levels of a class's title or name, from the widest on: "animals", "birds", "robin" of animals/birds/robin,
/// animals|birds|robin, animals;birds;robin or animals > birds > robin. Empty ones, and the identifier (a UUID) before
/// SpeciesNet's levels, are left out.
std::vector<std::string> class_levels(const std::string& title);

/// The narrowest group that holds class `best` and is at least as probable as requested, by the sum of its classes'
/// probabilities [c]: the class itself, or the classes that share its first levels ("animals/birds"). `levels`: of each
/// class, [c]. Nothing if even the widest is less probable.
std::optional<RankedClass> probable_group(const std::vector<std::vector<std::string>>& levels,
                                          const Eigen::VectorXd& probabilities, int64_t best, double least);

}  // namespace protocom
