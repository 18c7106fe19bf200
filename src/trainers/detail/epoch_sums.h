#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/stop_signal.h"
#include "jobs/process_group.h"

namespace protocom {

/// Sums over the steps of the current epoch, of all processes.
struct EpochSums {
  double loss = 0;
  double correct = 0;
  double count = 0;  ///< number of what a trainer averages over: images, tasks, episodes
  double seconds = 0;

  [[nodiscard]] double mean_loss() const { return loss / count; }
  [[nodiscard]] double accuracy() const { return correct / count; }
  [[nodiscard]] double per_second() const { return count / seconds; }
};

nlohmann::json to_json(const EpochSums& sums);
EpochSums sums_from(const nlohmann::json& saved);

/// Collects the sums of steps, which a GPU may still be computing.
class SumsReader {
 public:
  /// Called for a step whose loss is not finite; throws.
  using NotFinite = std::function<void(double loss, int64_t step)>;

  /// The processes of `group` tell each other with every step whether a stop was requested (`asked`, may be null);
  /// `agreed` is then requested at the same step in all of them. A request that arrives after a step's sums were sent
  /// waits for the next step: acted on at once, it would leave the others waiting for this process.
  SumsReader(const ProcessGroup& group, const StopSignal* asked, StopSignal& agreed, NotFinite not_finite);

  /// Takes this process's sums of a step, float64 [3]: loss, correct, count. On the CPU, or with several processes,
  /// they are added to `total` at once.
  void add(int64_t step, const at::Tensor& sums, EpochSums& total);
  /// Adds everything that has not been added yet.
  void read(EpochSums& total);

 private:
  struct Unread {
    int64_t step = 0;
    at::Tensor sums;
  };

  const ProcessGroup& group_;
  const StopSignal* asked_;
  StopSignal& agreed_;
  NotFinite not_finite_;
  std::vector<Unread> unread_;
};

}  // namespace protocom
