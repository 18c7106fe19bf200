#include "fewshot/plda/class_prior.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// A class without an embedding has a row of zeros, which stays one: it is no class at the far side of the center.
at::Tensor centred_unit_rows(const at::Tensor& embedding, const at::Tensor& center) {
  const at::Tensor known = embedding.ne(0).any(-1, true).to(at::kDouble);
  return unit_vectors((embedding - center) * known);
}

at::Tensor finite(const at::Tensor& values, const char* what) {
  const at::Tensor wide = values.to(at::kDouble);
  if (!wide.isfinite().all().item<bool>()) fail("the classes' {} hold a value that is not finite", what);
  return wide;
}

void check_width(const at::Tensor& rows, const at::Tensor& base, const char* what) {
  if (!rows.defined() || rows.size(-1) != base.size(1)) {
    fail("descriptions have {} {}, the base classes that the prior was fitted on have {}; use the same knowledge",
         rows.defined() ? rows.size(-1) : 0, what, base.size(1));
  }
}

/// The columns of each source.
std::vector<at::Tensor> parts_of_rows(const at::Tensor& rows, const std::vector<int64_t>& sources) {
  if (sources.empty()) return {rows};
  return rows.split_with_sizes(sources, -1);
}

/// Shares of a sum of 1; what is not said is alike.
std::vector<double> shares_of(const std::vector<int64_t>& sources, std::vector<double> stated) {
  if (sources.empty()) return {};
  if (stated.empty()) stated.assign(sources.size(), 1);
  double sum = 0;
  for (const double share : stated) {
    if (!(share >= 0)) fail_usage("a source of embeddings has the share {}, expected none that is negative", share);
    sum += share;
  }
  if (stated.size() != sources.size() || !(sum > 0))
    fail_usage("{} shares of {} sources of embeddings with the sum {}", stated.size(), sources.size(), sum);
  for (double& share : stated) share /= sum;
  return stated;
}

at::Tensor solve_ridge(const at::Tensor& likeness, double ridge, const at::Tensor& right) {
  return at::linalg_solve(likeness + ridge * at::eye(likeness.size(0), at::kDouble), right);
}

}  // namespace

DescriptionKernel::DescriptionKernel(const KnowledgeTable& base, const KernelRidgeOptions& options) {
  attribute_weight_ = base.association.defined() ? options.attribute_weight : 0;
  word_weight_ = base.class_embedding.defined() ? options.word_weight : 0;
  if (!(attribute_weight_ >= 0 && word_weight_ >= 0 && attribute_weight_ + word_weight_ > 0)) {
    fail_usage("attributes weigh {} and words {}, expected two numbers that are not negative and not both 0",
               attribute_weight_, word_weight_);
  }
  if (attribute_weight_ > 0) {
    const at::Tensor association = finite(tensor_of(base.association), "attributes");
    const auto classes = static_cast<double>(association.size(0));
    // An attribute of every base class weighs log 1 = 0: it tells none of them apart.
    base_.idf = ((1 + classes) / (1 + association.gt(0).to(at::kDouble).sum(0))).log();
    base_.attributes = unit_vectors(association * base_.idf);
  }
  if (word_weight_ > 0) {
    const at::Tensor embedding = finite(tensor_of(base.class_embedding), "embeddings");
    base_.sources = base.embedding_sources;
    base_.shares = shares_of(base_.sources, options.source_shares);
    std::vector<at::Tensor> centers;
    for (const at::Tensor& part : parts_of_rows(embedding, base_.sources))
      centers.push_back(part.sum(0) / part.ne(0).any(-1).to(at::kDouble).sum().clamp_min(1));
    base_.embedding_center = at::cat(centers);
    base_.embeddings = word_rows(embedding);
  }
}

at::Tensor DescriptionKernel::word_rows(const at::Tensor& embedding) const {
  if (base_.sources.empty()) return centred_unit_rows(embedding, base_.embedding_center);
  const std::vector<at::Tensor> parts = parts_of_rows(embedding, base_.sources);
  const std::vector<at::Tensor> centers = parts_of_rows(base_.embedding_center, base_.sources);
  std::vector<at::Tensor> rows;
  for (size_t i = 0; i < parts.size(); ++i)
    rows.push_back(std::sqrt(base_.shares[i]) * centred_unit_rows(parts[i], centers[i]));
  return at::cat(rows, -1);
}

DescriptionKernel::DescriptionKernel(Base base, const KernelRidgeOptions& options)
    : base_(std::move(base)),
      attribute_weight_(base_.attributes.defined() ? options.attribute_weight : 0),
      word_weight_(base_.embeddings.defined() ? options.word_weight : 0) {}

at::Tensor DescriptionKernel::likeness(const KnowledgeTable& descriptions) const {
  at::Tensor sum;
  if (attribute_weight_ > 0) {
    check_width(tensor_of(descriptions.association), base_.attributes, "attributes");
    const at::Tensor rows = unit_vectors(finite(tensor_of(descriptions.association), "attributes") * base_.idf);
    sum = attribute_weight_ * at::matmul(rows, base_.attributes.t());
  }
  if (word_weight_ > 0) {
    check_width(tensor_of(descriptions.class_embedding), base_.embeddings, "embedding dimensions");
    const at::Tensor rows = word_rows(finite(tensor_of(descriptions.class_embedding), "embeddings"));
    const at::Tensor words = word_weight_ * at::matmul(rows, base_.embeddings.t());
    sum = sum.defined() ? sum + words : words;
  }
  return sum / (attribute_weight_ + word_weight_);
}

at::Tensor KernelRidge::predict(const KnowledgeTable& descriptions) const {
  return at::matmul(kernel.likeness(descriptions), dual);
}

KernelRidge fit_kernel_ridge(const KnowledgeTable& base, const at::Tensor& means, const KernelRidgeOptions& options) {
  if (!(options.ridge > 0)) fail_usage("a ridge of {} was asked for, expected a number above 0", options.ridge);
  DescriptionKernel kernel(base, options);
  at::Tensor dual = solve_ridge(kernel.likeness(base), options.ridge, means.to(at::kDouble));
  return {std::move(kernel), std::move(dual)};
}

at::Tensor leave_one_out(const KnowledgeTable& base, const at::Tensor& means, const KernelRidgeOptions& options) {
  const at::Tensor likeness = DescriptionKernel(base, options).likeness(base);
  const at::Tensor hat = solve_ridge(likeness, options.ridge, likeness);  // symmetric matrices that commute
  const at::Tensor own = hat.diagonal().unsqueeze(1);
  const at::Tensor target = means.to(at::kDouble);
  return (at::matmul(hat, target) - own * target) / (1 - own);
}

namespace {

constexpr double kWordWeights[] = {0, 0.25, 0.5, 1, 2};  // attributes weigh 1
constexpr double kRidges[] = {0.1, 0.3, 1.0, 3.0, 10.0};

/// Tries settings, each once.
class RidgeTrials {
 public:
  RidgeTrials(const KnowledgeTable& base, const at::Tensor& means)
      : base_(base), means_(means), all_(means.square().sum().item<double>()) {}

  void add(const KernelRidgeOptions& options) {
    const at::Tensor miss = means_ - leave_one_out(base_, means_, options);
    trials_.push_back({options, miss.square().sum().item<double>() / all_});
  }
  /// The weights of the sources and a ridge, which is their setting: the best of the ridges.
  double best_of(const std::vector<double>& weights) {
    const auto [known, is_new] = tried_.emplace(weights, 0);
    if (!is_new) return known->second;
    double& best = known->second = std::numeric_limits<double>::infinity();
    KernelRidgeOptions options;
    options.source_shares = weights;
    options.word_weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (options.word_weight == 0) options.source_shares.clear();
    if (options.word_weight == 0 && !base_.association.defined()) return best;
    for (const double ridge : kRidges) {
      options.ridge = ridge;
      add(options);
      best = std::min(best, trials_.back().error);
    }
    return best;
  }
  std::vector<KernelRidgeTrial> sorted() {
    std::stable_sort(trials_.begin(), trials_.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
    return std::move(trials_);
  }

 private:
  const KnowledgeTable& base_;
  const at::Tensor& means_;
  double all_;
  std::map<std::vector<double>, double> tried_;
  std::vector<KernelRidgeTrial> trials_;
};

/// Every combination for one source would be many for several: each source's weight in turn.
void try_sources(size_t sources, RidgeTrials& trials) {
  constexpr int kMostRounds = 4;
  constexpr double kFirstWeight = 0.5;
  std::vector<double> best(sources, kFirstWeight);
  double error = trials.best_of(best);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<double> before = best;
    for (size_t i = 0; i < sources; ++i) {
      std::vector<double> weights = best;
      for (const double weight : kWordWeights) {
        weights[i] = weight;
        const double found = trials.best_of(weights);
        if (found >= error) continue;
        error = found;
        best = weights;
      }
    }
    if (best == before) return;
  }
}

}  // namespace

std::vector<KernelRidgeTrial> try_kernel_ridges(const KnowledgeTable& base, const at::Tensor& means) {
  RidgeTrials trials(base, means);
  if (base.class_embedding.defined() && !base.embedding_sources.empty()) {
    try_sources(base.embedding_sources.size(), trials);
    return trials.sorted();
  }
  const bool both = base.association.defined() && base.class_embedding.defined();
  const std::vector<double> weights =
      both ? std::vector<double>(std::begin(kWordWeights), std::end(kWordWeights)) : std::vector<double>{1};
  for (const double words : weights) {
    for (const double ridge : kRidges) {
      KernelRidgeOptions options;
      options.word_weight = words;
      options.ridge = ridge;
      trials.add(options);
    }
  }
  return trials.sorted();
}

}  // namespace protocom
