#include "fewshot/plda/detail/own_directions.h"

namespace protocom {

std::vector<double> LabelledPlaces::weights() const {
  std::vector<double> count(static_cast<size_t>(classes)), weights;
  for (const int64_t own : label) count[static_cast<size_t>(own)] += 1;
  for (const int64_t own : label)
    weights.push_back(1 / (count[static_cast<size_t>(own)] * static_cast<double>(classes)));
  return weights;
}

}  // namespace protocom
