#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/estimate.h"

namespace protocom::v0 {

/// The result of one method under one protocol.
struct MethodResult {
  std::string method;
  std::string mode;  ///< "inductive", "transductive" or "semi-supervised"
  int64_t n_way = 0;
  int64_t k_shot = 0;      ///< in a ragged task the fewest
  int64_t most_shots = 0;  ///< above k_shot the task is ragged
  int64_t n_query = 0;
  std::string task;  ///< "5-way 1-shot", and other properties of the episodes
  int64_t episodes = 0;
  Estimate accuracy;                               ///< percent, 0..100
  std::optional<Estimate> cosine;                  ///< between the prototypes and the classes' true centres
  std::vector<double> per_episode;                 ///< percent; empty if the file has none
  std::optional<double> episodes_per_second = {};  ///< per core, if measured
  std::optional<Estimate> gain = {};  ///< points over the baseline on the same episodes; empty for the baseline itself
};

}  // namespace protocom::v0

namespace protocom {
using v0::MethodResult;
}  // namespace protocom
