#include "train/completion_history.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kHistory = "history";
constexpr const char* kScores = "validation_scores";

/// The scores of all validations, [validations * methods, 2, episodes]; undefined when there was none.
at::Tensor scores_of(const std::vector<CompleteEpoch>& epochs) {
  std::vector<at::Tensor> rows;
  for (const CompleteEpoch& epoch : epochs) {
    for (const MethodScores& scores : epoch.validation)
      rows.push_back(at::stack({at::tensor(scores.accuracy, at::kDouble), at::tensor(scores.cosine, at::kDouble)}));
  }
  return rows.empty() ? at::Tensor() : at::stack(rows);
}

std::vector<double> to_vector(const at::Tensor& row) {
  const at::Tensor plain = row.contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

}  // namespace

void save_history(const std::vector<CompleteEpoch>& epochs, Checkpoint& checkpoint) {
  json history = json::array();
  for (const CompleteEpoch& epoch : epochs) {
    json methods = json::array();
    for (const MethodScores& scores : epoch.validation) methods.push_back({scores.method, scores.mode});
    history.push_back({{"epoch", epoch.epoch}, {"loss", epoch.loss}, {"methods", methods}});
  }
  checkpoint.position[kHistory] = std::move(history);
  const at::Tensor scores = scores_of(epochs);
  if (scores.defined()) checkpoint.training.emplace_back(kScores, scores);
}

std::vector<CompleteEpoch> load_history(const Checkpoint& checkpoint) {
  std::vector<CompleteEpoch> epochs;
  at::Tensor scores;
  int64_t row = 0;
  for (const json& entry : checkpoint.position.at(kHistory)) {
    CompleteEpoch epoch{entry.at("epoch"), entry.at("loss"), {}};
    for (const json& method : entry.at("methods")) {
      if (!scores.defined()) scores = checkpoint.training_tensor(kScores);
      MethodScores method_scores;
      method_scores.method = method.at(0);
      method_scores.mode = method.at(1);
      method_scores.accuracy = to_vector(scores[row][0]);
      method_scores.cosine = to_vector(scores[row][1]);
      epoch.validation.push_back(std::move(method_scores));
      ++row;
    }
    epochs.push_back(std::move(epoch));
  }
  return epochs;
}

}  // namespace protocom
