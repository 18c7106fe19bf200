#include "trainers/detail/epoch_sums.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <csignal>
#include <utility>

#include "distributed/tensor_sums.h"

namespace protocom {
namespace {

/// Sums on a GPU are read only now and then: reading them waits for everything that it still computes.
constexpr size_t kStepsBetweenReadings = 32;

}  // namespace

nlohmann::json to_json(const EpochSums& sums) {
  return {{"loss", sums.loss}, {"correct", sums.correct}, {"count", sums.count}, {"seconds", sums.seconds}};
}

EpochSums sums_from(const nlohmann::json& saved) {
  return {saved.at("loss"), saved.at("correct"), saved.at("count"), saved.at("seconds")};
}

SumsReader::SumsReader(const ProcessGroup& group, const StopSignal* asked, StopSignal& agreed, NotFinite not_finite)
    : group_(group), asked_(asked), agreed_(agreed), not_finite_(std::move(not_finite)) {}

void SumsReader::add(int64_t step, const at::Tensor& sums, EpochSums& total) {
  unread_.push_back({step, sums});
  if (unread_.size() >= kStepsBetweenReadings || !sums.is_cuda() || !group_.is_single()) read(total);
}

void SumsReader::read(EpochSums& total) {
  if (unread_.empty()) return;
  std::vector<at::Tensor> rows;
  for (const Unread& step : unread_) rows.push_back(step.sums);
  const at::Tensor all = at::stack(rows).cpu();  // [steps, 3]
  const double* row = all.data_ptr<double>();
  for (const Unread& step : std::exchange(unread_, {})) {
    const bool asked = asked_ != nullptr && asked_->requested();
    std::array<double, 4> sums = {row[0], row[1], row[2], asked ? 1.0 : 0.0};
    sum(group_, at::from_blob(sums.data(), {4}, at::kDouble));
    const auto [loss, correct, count, stops] = sums;
    if (stops > 0) agreed_.request(asked ? asked_->signal() : SIGTERM);
    if (!std::isfinite(loss)) not_finite_(loss, step.step);
    total.loss += loss;
    total.correct += correct;
    total.count += count;
    row += 3;
  }
}

}  // namespace protocom
