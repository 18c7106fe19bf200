#include "fewshot/plda/kernel_ridge.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom {
namespace {

/// A class without an embedding has a row of zeros, which is not centred: otherwise it would be a class opposite the
/// center.
DoubleMatrix centred_unit_rows(DoubleMatrix embedding, const Eigen::RowVectorXd& center) {
  for (int64_t i = 0; i < embedding.rows(); ++i) {
    if ((embedding.row(i).array() != 0).any()) embedding.row(i) -= center;
  }
  return unit_rows(embedding);
}

/// Returns the mean of the rows that are not zeros.
Eigen::RowVectorXd center_of(const DoubleMatrix& embedding) {
  const auto known = static_cast<double>((embedding.array() != 0).rowwise().any().count());
  return embedding.colwise().sum() / std::max(known, 1.0);
}

DoubleMatrix finite(const Array& values, const char* what) {
  DoubleMatrix wide = matrix_of<double>(values.to(NumberType::kFloat64));
  if (!std::isfinite(wide.sum())) fail("the classes' {} are not finite", what);
  return wide;
}

/// Returns descriptions, checked to be finite and as long as the base classes'.
DoubleMatrix finite(const Array& rows, const DoubleMatrix& base, const char* of, const char* what) {
  if (!rows.defined() || rows.size(1) != base.cols()) {
    fail("descriptions have {} {}, the base classes that the prior was fitted on have {}: use the same knowledge",
         rows.defined() ? rows.size(1) : 0, what, base.cols());
  }
  return finite(rows, of);
}

struct Columns {
  int64_t first, count;
};

/// Returns the columns of each source of embeddings.
std::vector<Columns> parts_of(int64_t columns, const std::vector<int64_t>& sources) {
  if (sources.empty()) return {{0, columns}};
  std::vector<Columns> parts;
  int64_t first = 0;
  for (const int64_t count : sources) {
    parts.push_back({first, count});
    first += count;
  }
  return parts;
}

/// Returns shares that sum to 1; equal ones if none are stated.
std::vector<double> shares_of(const std::vector<int64_t>& sources, std::vector<double> stated) {
  if (sources.empty()) return {};
  if (stated.empty()) stated.assign(sources.size(), 1);
  double sum = 0;
  for (const double share : stated) {
    if (!(share >= 0)) fail_usage("a source of embeddings has the share {}, expected at least 0", share);
    sum += share;
  }
  if (stated.size() != sources.size() || !(sum > 0))
    fail_usage("{} shares of {} sources of embeddings with the sum {}, expected one per source and a sum above 0",
               stated.size(), sources.size(), sum);
  for (double& share : stated) share /= sum;
  return stated;
}

DoubleMatrix solve_ridge(DoubleMatrix likeness, double ridge, const DoubleMatrix& right) {
  likeness.diagonal().array() += ridge;
  return likeness.llt().solve(right);
}

}  // namespace

DescriptionKernel::DescriptionKernel(const KnowledgeTable& base, const KernelRidgeOptions& options) {
  attribute_weight_ = base.association.defined() ? options.attribute_weight : 0;
  word_weight_ = base.class_embedding.defined() ? options.word_weight : 0;
  if (!(attribute_weight_ >= 0 && word_weight_ >= 0 && attribute_weight_ + word_weight_ > 0)) {
    fail_usage("attributes weigh {} and words {}, expected at least 0 and not both 0", attribute_weight_, word_weight_);
  }
  if (attribute_weight_ > 0) {
    const DoubleMatrix association = finite(base.association, "attributes");
    const Eigen::ArrayXd having = (association.array() > 0).cast<double>().colwise().sum().transpose();
    // An attribute of every base class has weight log 1 = 0: it does not distinguish them.
    base_.idf = ((1 + static_cast<double>(association.rows())) / (1 + having)).log();
    base_.attributes = unit_rows(association * base_.idf.asDiagonal());
  }
  if (word_weight_ > 0) {
    const DoubleMatrix embedding = finite(base.class_embedding, "embeddings");
    base_.sources = base.embedding_sources;
    base_.shares = shares_of(base_.sources, options.source_shares);
    base_.embedding_center = DoubleVector(embedding.cols());
    for (const Columns& part : parts_of(embedding.cols(), base_.sources))
      base_.embedding_center.segment(part.first, part.count) =
          center_of(embedding.middleCols(part.first, part.count)).transpose();
    base_.embeddings = word_rows(embedding);
  }
}

DoubleMatrix DescriptionKernel::word_rows(const DoubleMatrix& embedding) const {
  DoubleMatrix rows(embedding.rows(), embedding.cols());
  const std::vector<Columns> parts = parts_of(embedding.cols(), base_.sources);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [first, count] = parts[i];
    const double share = base_.shares.empty() ? 1 : base_.shares[i];
    rows.middleCols(first, count) =
        std::sqrt(share) *
        centred_unit_rows(embedding.middleCols(first, count), base_.embedding_center.segment(first, count).transpose());
  }
  return rows;
}

DescriptionKernel::DescriptionKernel(Base base, const KernelRidgeOptions& options)
    : base_(std::move(base)),
      attribute_weight_(base_.attributes.rows() > 0 ? options.attribute_weight : 0),
      word_weight_(base_.embeddings.rows() > 0 ? options.word_weight : 0) {}

DoubleMatrix DescriptionKernel::likeness(const KnowledgeTable& descriptions) const {
  DoubleMatrix sum;
  if (attribute_weight_ > 0) {
    const DoubleMatrix rows = finite(descriptions.association, base_.attributes, "attributes", "attributes");
    sum = attribute_weight_ * unit_rows(rows * base_.idf.asDiagonal()) * base_.attributes.transpose();
  }
  if (word_weight_ > 0) {
    const DoubleMatrix rows =
        word_rows(finite(descriptions.class_embedding, base_.embeddings, "embeddings", "embedding dimensions"));
    if (sum.size() == 0) sum = DoubleMatrix::Zero(rows.rows(), base_.embeddings.rows());
    sum += word_weight_ * rows * base_.embeddings.transpose();
  }
  return sum / (attribute_weight_ + word_weight_);
}

DoubleMatrix KernelRidge::predict(const KnowledgeTable& descriptions) const {
  return kernel.likeness(descriptions) * dual;
}

KernelRidge fit_kernel_ridge(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options) {
  if (!(options.ridge > 0)) fail_usage("ridge: expected a number above 0, found {}", options.ridge);
  DescriptionKernel kernel(base, options);
  DoubleMatrix dual = solve_ridge(kernel.likeness(base), options.ridge, means);
  return {std::move(kernel), std::move(dual)};
}

DoubleMatrix leave_one_out(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options) {
  const DoubleMatrix likeness = DescriptionKernel(base, options).likeness(base);
  const DoubleMatrix hat = solve_ridge(likeness, options.ridge, likeness);  // symmetric matrices that commute
  const DoubleVector own = hat.diagonal();
  const DoubleMatrix others = hat * means - own.asDiagonal() * means;
  return (1 - own.array()).inverse().matrix().asDiagonal() * others;
}

namespace {

constexpr double kWordWeights[] = {0, 0.25, 0.5, 1, 2};  // attributes have weight 1
constexpr double kRidges[] = {0.1, 0.3, 1.0, 3.0, 10.0};

/// Tries settings, each once.
class RidgeTrials {
 public:
  RidgeTrials(const KnowledgeTable& base, const DoubleMatrix& means)
      : base_(base), means_(means), all_(means.squaredNorm()) {}

  void add(const KernelRidgeOptions& options) {
    trials_.push_back({options, (means_ - leave_one_out(base_, means_, options)).squaredNorm() / all_});
  }
  /// Returns the lowest error of the weights of the sources over all ridges.
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
  const DoubleMatrix& means_;
  double all_;
  std::map<std::vector<double>, double> tried_;
  std::vector<KernelRidgeTrial> trials_;
};

/// With several sources there would be too many combinations, so the weights are chosen one source at a time.
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

std::vector<KernelRidgeTrial> try_kernel_ridges(const KnowledgeTable& base, const DoubleMatrix& means) {
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
