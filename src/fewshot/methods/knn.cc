#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  int64_t k = 1;
  std::string transform = "cl2n";
};

class KnnRun : public TaskRun {
 public:
  explicit KnnRun(const Options& options) : k_(options.k) {}

  void answer(const Task& task, float* logits) override {
    compute_products_with_supports(task, distances_);
    const int64_t supports = task.supports();
    for (int64_t i = 0; i < task.queries; ++i) {
      float* own = distances_.data() + i * supports;
      const float square = task.squares[static_cast<size_t>(task.first_query() + i)];
      for (int64_t j = 0; j < supports; ++j)
        own[j] = std::max(square + task.squares[static_cast<size_t>(j)] - 2 * own[j], 0.0F);
      compute_votes(task, own, logits + i * task.n);
    }
  }

 private:
  void compute_votes(const Task& task, const float* distances, float* votes) {
    nearest_.assign(static_cast<size_t>(task.n), std::numeric_limits<float>::max());
    for (int64_t j = 0; j < task.supports(); ++j) {
      float& nearest = nearest_[static_cast<size_t>(task.label[static_cast<size_t>(j)])];
      nearest = std::min(nearest, distances[j]);
    }
    // At most 1/2, so it only breaks ties between classes with equally many votes.
    for (int64_t k = 0; k < task.n; ++k) votes[k] = 0.5F / (1 + nearest_[static_cast<size_t>(k)]);
    order_.resize(task.label.size());
    std::iota(order_.begin(), order_.end(), 0);
    const int64_t voters = std::min(k_, task.supports());
    std::partial_sort(order_.begin(), order_.begin() + voters, order_.end(), [&](int64_t a, int64_t b) {
      return distances[a] < distances[b] || (distances[a] == distances[b] && a < b);
    });
    for (int64_t j = 0; j < voters; ++j) votes[task.label[static_cast<size_t>(order_[static_cast<size_t>(j)])]] += 1;
  }

  int64_t k_;
  Floats distances_;            // [q, s]
  Floats nearest_;              // [n]
  std::vector<int64_t> order_;  // [s]
};

}  // namespace

MethodDefinition knn() {
  MethodSpec spec;
  spec.name = "knn";
  spec.about = "the k nearest supports vote";
  spec.citation = "Cover, Hart: Nearest Neighbor Pattern Classification, IEEE Transactions on Information Theory 1967";
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Euclidean distances. In a tie, the class of the nearest support wins. Logits are votes, plus up to a half for "
      "the nearest support, so probabilities are not calibrated.";
  return define_task_method_in_space<KnnRun>(
      std::move(spec), Parameters<Options>().whole("k", &Options::k, {1, 1e6}, "supports that vote"), {"l2n"});
}

}  // namespace protocom::methods
