#include "eval/analysis_distribution.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "base/symmetric_eigen.h"
#include "eval/statistics.h"

namespace protocom {
namespace {

DoubleMatrix rows_at(const FeatureSet& features, const std::vector<int64_t>& rows) {
  const Array own = features.features.gathered(rows).to(NumberType::kFloat32);
  return matrix_of<float>(own).cast<double>();
}

/// Returns the variance of rows [n, d] about their mean in each dimension, with divisor n - 1, averaged over
/// dimensions; 0 for one row.
double mean_variance(const DoubleMatrix& rows) {
  if (rows.rows() < 2) return 0;
  const DoubleMatrix centred = rows.rowwise() - Eigen::RowVectorXd(rows.colwise().mean());
  return centred.squaredNorm() / static_cast<double>(rows.rows() - 1) / static_cast<double>(rows.cols());
}

/// Returns the mean cosine of rows with one direction; 0 for a row of zeros.
double mean_cosine(const DoubleMatrix& rows, const Eigen::RowVectorXd& centre) {
  const DoubleMatrix unit = unit_rows(rows);
  return (unit * centre.transpose()).mean() / std::max(centre.norm(), 1e-300);
}

SplitVariance variance_of(const FeatureSet& features, const std::vector<std::vector<int64_t>>& rows, Split split) {
  SplitVariance result;
  result.split = to_string(split);
  const std::vector<int64_t> classes = features.classes_of(split);
  result.classes = static_cast<int64_t>(classes.size());
  if (classes.empty()) return result;
  DoubleMatrix centres(result.classes, features.dim());
  std::vector<double> within, cosines;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto& own = rows[static_cast<size_t>(classes[i])];
    result.images += static_cast<int64_t>(own.size());
    const DoubleMatrix images = rows_at(features, own);
    const Eigen::RowVectorXd centre = images.colwise().mean();
    centres.row(static_cast<int64_t>(i)) = centre;
    within.push_back(mean_variance(images));
    cosines.push_back(mean_cosine(images, centre));
  }
  const Estimate spread = estimate(within), cosine = estimate(cosines);
  result.within = spread.value;
  result.within_ci95 = spread.ci95;
  result.between = mean_variance(centres);
  result.cosine = cosine.value;
  result.cosine_ci95 = cosine.ci95;
  return result;
}

/// Fixes the signs of components, which are arbitrary, so that maps are repeatable across LAPACK versions.
void fix_signs(DoubleMatrix& components) {
  for (int64_t i = 0; i < components.rows(); ++i) {
    Eigen::Index largest = 0;
    components.row(i).cwiseAbs().maxCoeff(&largest);
    if (components(i, largest) < 0) components.row(i) *= -1;
  }
}

std::vector<int64_t> sample_rows(const FeatureSet& features, const DistributionOptions& options) {
  const auto by_class = features.rows_by_class();
  Rng rng(options.seed);
  std::vector<int64_t> rows;
  for (const Split split : {Split::kBase, Split::kNovel}) {
    std::vector<int64_t> classes = features.classes_of(split);
    const auto available = static_cast<int64_t>(classes.size());
    std::vector<int64_t> picks = rng.sample(available, std::min(available, options.classes));
    std::sort(picks.begin(), picks.end());
    for (const int64_t pick : picks) {
      const auto& own = by_class[static_cast<size_t>(classes[static_cast<size_t>(pick)])];
      const auto images = static_cast<int64_t>(own.size());
      for (const int64_t i : rng.sample(images, std::min(images, options.images_per_class)))
        rows.push_back(own[static_cast<size_t>(i)]);
    }
  }
  return rows;
}

}  // namespace

std::vector<SplitVariance> split_variances(const FeatureSet& features) {
  const auto rows = features.rows_by_class();
  std::vector<SplitVariance> result;
  for (const Split split : kAllSplits) {
    result.push_back(variance_of(features, rows, split));
    if (result.back().classes == 0) result.pop_back();
  }
  return result;
}

PrincipalComponents principal_components(const DoubleMatrix& rows, int64_t count) {
  if (count < 1 || count > std::min(rows.rows(), rows.cols()))
    fail_usage("{} rows of {} dimensions do not have {} principal components", rows.rows(), rows.cols(), count);
  const DoubleMatrix centred = rows.rowwise() - Eigen::RowVectorXd(rows.colwise().mean());
  const EigenRows eigen = eigen_rows(centred.transpose() * centred);  // ascending
  DoubleMatrix components = eigen.vectors.bottomRows(count).colwise().reverse();
  fix_signs(components);
  PrincipalComponents result{centred * components.transpose(), {}};
  const double total = std::max(eigen.values.cwiseMax(0).sum(), 1e-300);
  for (int64_t i = 0; i < count; ++i)
    result.share.push_back(std::max(eigen.values[eigen.values.size() - 1 - i], 0.0) / total);
  return result;
}

DistributionAnalysis analyse_distribution(const FeatureSet& features, const DistributionOptions& options) {
  if (options.classes < 1 || options.images_per_class < 2)
    fail_usage("a map needs at least 1 class per split and 2 images per class, found {} and {}", options.classes,
               options.images_per_class);
  DistributionAnalysis result;
  result.variances = split_variances(features);
  const std::vector<int64_t> rows = sample_rows(features, options);
  const DoubleMatrix sample = rows_at(features, rows);
  const PrincipalComponents pca = principal_components(sample, 2);
  const DoubleMatrix map = tsne(sample, options.tsne);
  result.pca_share = pca.share;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto label = static_cast<size_t>(features.labels[static_cast<size_t>(rows[i])]);
    result.points.push_back({features.class_names[label], std::string(to_string(features.class_split[label])),
                             pca.points(at, 0), pca.points(at, 1), map(at, 0), map(at, 1),
                             features.image_ids[static_cast<size_t>(rows[i])]});
  }
  return result;
}

}  // namespace protocom
