#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/symmetric_eigen.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/digamma.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/soft_k_means.h"
#include "fewshot/toolbox/detail/span_whitening.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double precision = 0;
  int64_t steps = 5;
  double start_sharpness = 10;
  int64_t start_steps = 5;
  double most_scale = 5;
  std::string whitened = "whole";
  double prior_strength = 10;
  double dirichlet = 2;
  std::string proportions = "estimated";
};

/// Statistics of the base classes.
struct BaseClasses {
  DoubleMatrix shared;  ///< [d, d], the mean over classes of their scatters, each scaled to the mean norm
  DoubleMatrix within;  ///< [d, d], covariance of images around their class means
  DoubleMatrix means;   ///< [c, d], minus their mean
};

/// Returns the scatter of rows around their mean, [d, d].
DoubleMatrix scatter_of(FloatMatrix rows) {
  const Eigen::RowVectorXf mean = rows.colwise().mean();
  rows.rowwise() -= mean;
  const FloatMatrix scatter = rows.transpose() * rows;
  return scatter.cast<double>();
}

/// Computes the statistics from the rows of classes that are not empty.
BaseClasses base_classes(const std::vector<FloatMatrix>& classes) {
  const int64_t d = classes.front().cols();
  BaseClasses base{DoubleMatrix::Zero(d, d), DoubleMatrix::Zero(d, d),
                   DoubleMatrix(static_cast<int64_t>(classes.size()), d)};
  double norms = 0, images = 0, spread = 0;  // `spread`: classes whose images are not all equal
  for (size_t k = 0; k < classes.size(); ++k) {
    const FloatMatrix& own = classes[k];
    base.means.row(static_cast<int64_t>(k)) = own.colwise().mean().cast<double>();
    images += static_cast<double>(own.rows());
    const DoubleMatrix scatter = scatter_of(own);
    const double norm = scatter.norm();
    if (norm == 0) continue;
    base.within += scatter;
    base.shared += scatter / norm;
    norms += norm;
    ++spread;
  }
  if (spread > 0) base.shared *= norms / (spread * spread);
  base.within /= images;
  const Eigen::RowVectorXd centre = base.means.colwise().mean();
  base.means.rowwise() -= centre;
  return base;
}

/// Returns the base features of each class that has any.
std::vector<FloatMatrix> rows_by_class(const FloatMatrix& features, const std::vector<int64_t>& labels) {
  std::map<int64_t, std::vector<int64_t>> rows;
  for (size_t i = 0; i < labels.size(); ++i) rows[labels[i]].push_back(static_cast<int64_t>(i));
  std::vector<FloatMatrix> classes;
  for (const auto& [label, own] : rows) classes.emplace_back(features(own, Eigen::all));
  return classes;
}

/// Returns the rotation to the axes of the scatter, divided by their standard deviations, [d, d]; no factor above
/// `most`.
DoubleMatrix whitening(DoubleMatrix scatter, double most) {
  constexpr double kRidge = 1e-6;
  scatter.diagonal().array() += kRidge;
  const EigenRows axes = eigen_rows(std::move(scatter));
  const DoubleVector factors = axes.values.array().max(kRidge).rsqrt().min(most);
  return axes.vectors.transpose() * factors.asDiagonal();
}

/// Returns a fifth of 1 / (variance of base images around their class), in the whitened dimensions in which classes
/// differ.
double default_precision(const BaseClasses& base, const DoubleMatrix& whitening) {
  constexpr double kShare = 0.2;
  const DoubleMatrix means = base.means * whitening;
  const int64_t between = std::clamp<int64_t>(means.rows() - 1, 1, means.cols());
  const DoubleMatrix along = leading_axes(means, between) * whitening.transpose();  // [c - 1, d]
  const double variance = (along * base.within).cwiseProduct(along).sum() / static_cast<double>(between);
  return kShare / std::max(variance, 1e-12);
}

/// Features in cl2n and, beside them, the same features whitened: each half of a row is padded with zeros.
class WhitenedBeside : public FeatureTransform {
 public:
  /// `whitens`: the whitening, [d, d].
  WhitenedBeside(std::shared_ptr<const FeatureTransform> space, FloatMatrix whitens)
      : space_(std::move(space)), whitens_(std::move(whitens)) {}

  [[nodiscard]] int64_t width(int64_t dim) const override { return 2 * padded_length(dim); }
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override {
    const int64_t dim = features.cols(), half = padded_length(dim);
    rows.setZero();
    rows.leftCols(half) = padded_rows(features, space_.get());
    rows.middleCols(half, dim).noalias() = rows.leftCols(dim) * whitens_;
  }
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override {
    const auto* whitened = dynamic_cast<const WhitenedBeside*>(&other);
    return whitened != nullptr && whitened->space_->same_as(*space_) && whitened->whitens_ == whitens_;
  }

 private:
  std::shared_ptr<const FeatureTransform> space_;
  FloatMatrix whitens_;
};

/// Arrays are class-major, [n, stride]. Rows are WhitenedBeside.
class BavardageRun : public TaskRun {
 public:
  explicit BavardageRun(const Options& options)
      : options_(options), start_({options.start_sharpness, options.start_steps - 1}) {}

  void answer(const Task& task, float* logits) override {
    logits_ = start_.place(task, task.rows, task.dim / 2);
    if (task.n > 1 && options_.steps > 0) compute_whitened(task);
    compute_labels(task, start_.stride(), labels_);
    for (int64_t step = 0; step < options_.steps && task.n > 1; ++step) update(task);
    compute_logits_of_queries(task, logits_, start_.stride(), logits);
  }

 private:
  void compute_whitened(const Task& task) {
    const int64_t half = task.dim / 2;
    if (options_.whitened == "span") {
      const DoubleMatrix rows = matrix_of(task, 0, task.points());
      const auto& found = in_span_.place(
          whitened_in_span(rows.leftCols(half), rows.rightCols(half), task.learned(), options_.most_scale));
      return span_.place(found, in_span_.dim());
    }
    whitened_.clear();
    for (const float* row : task.rows) whitened_.push_back(row + half);
    span_.place(whitened_, half);
  }

  /// Updates all factors once: responsibilities from the logits, and the expected log probabilities from these.
  void update(const Task& task) {
    const int64_t n = task.n, stride = span_.stride();
    exponentials_of_classes(logits_.data(), n, stride);
    shares_of_classes(nullptr, logits_.data(), n, stride);
    compute_shares(task, labels_, logits_.data() + task.supports(), stride, stride, shares_);
    const auto shares = Eigen::Map<const FloatMatrix>(shares_.data(), n, stride);
    const DoubleVector images = shares.cast<double>().rowwise().sum();
    const DoubleVector strength = options_.prior_strength + images.array();
    const FloatMatrix shrunk = strength.cwiseInverse().cast<float>().asDiagonal() * shares;  // means under a prior at 0
    const DoubleMatrix x = projected(shrunk);
    const DoubleMatrix means = shrunk.cast<double>() * x.transpose();
    const DoubleVector added = log_proportions(task, images).array() -
                               options_.precision / 2 * means.rowwise().squaredNorm().array() -
                               static_cast<double>(n - 1) / 2 / strength.array();
    const Eigen::RowVectorXd squares = options_.precision / 2 * x.colwise().squaredNorm();
    DoubleMatrix logits = options_.precision * means * x;
    logits.colwise() += added;
    logits.rowwise() -= squares;
    Eigen::Map<FloatMatrix>(logits_.data(), n, stride) = logits.cast<float>();
  }

  /// Projects the points on the span of differences of class means, in an orthonormal basis of it, [n - 1, stride];
  /// `means` [n, stride] in coefficients of the points.
  DoubleMatrix projected(const FloatMatrix& means) {
    FloatMatrix differences = means.bottomRows(means.rows() - 1);
    differences.rowwise() -= means.row(0);
    FloatMatrix inner(differences.rows(), differences.cols());
    span_.compute_products(differences.data(), differences.rows(), inner.data());
    DoubleMatrix square = differences.cast<double>() * inner.cast<double>().transpose();
    square.diagonal().array() += 1e-9 * (square.diagonal().mean() + 1e-30);  // two means may be equal
    DoubleMatrix x = inner.cast<double>();
    square.llt().matrixL().solveInPlace(x);
    return x;
  }

  /// Returns the expected logarithms of the classes' shares of the unlabelled images; `images` [n]: number of images of
  /// each class including supports.
  [[nodiscard]] DoubleVector log_proportions(const Task& task, const DoubleVector& images) const {
    if (options_.proportions == "equal") return DoubleVector::Zero(task.n);
    DoubleVector alpha = options_.dirichlet + images.array();
    for (const int64_t k : task.label) --alpha[k];
    const double all = digamma(alpha.sum());
    return alpha.unaryExpr([all](double value) { return digamma(value) - all; });
  }

  Options options_;
  SoftKMeans start_;
  RowSpan span_;  // span of the whitened points
  MatrixRows in_span_;
  std::vector<const float*> whitened_;  // [m]
  Floats labels_, shares_, logits_;
};

PreparedMethod prepare(Options options, const MethodContext& context) {
  auto space = feature_space("cl2n", context);
  const Array features = context.base->features.to(NumberType::kFloat32);
  const FloatMatrix rows = padded_rows(matrix_of<float>(features), space.get()).leftCols(features.size(1));
  const BaseClasses base = base_classes(rows_by_class(rows, context.base->labels));
  const double most = options.whitened == "span" ? std::numeric_limits<double>::infinity() : options.most_scale;
  const DoubleMatrix whitens = whitening(base.shared, most);
  if (options.precision == 0) options.precision = default_precision(base, whitens);
  return {std::make_shared<const WhitenedBeside>(std::move(space), whitens.cast<float>()),
          make_run<BavardageRun>(options)};
}

}  // namespace

MethodDefinition bavardage() {
  MethodSpec spec;
  spec.name = "bavardage";
  spec.about = "variational Bayes for classes and their proportions, in the subspace of the class means";
  spec.citation =
      "Hu, Pateux, Gripon: Adaptive Dimension Reduction and Variational Inference for Transductive Few-Shot "
      "Classification, AISTATS 2023";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The base classes’ scatter is whitened in all dimensions. The authors’ code whitens within each episode’s span "
      "(whitened=span), which differs only by the limit most_scale; with published precisions set this limit, or "
      "most_scale=1000 for none. These precisions are 4, 40 and 100, for different backbones; a scatter is a sum "
      "over images, so they also depend on the number of base images. The default does not: the share .2 was chosen on "
      "the val classes of Tiny-ImageNet-100 and CUB-100, where the precision becomes 104 and 16; a precision of 4 lets "
      "the largest class take all queries of Tiny-ImageNet-100.";
  return define<TaskMethod<Options>>(
      std::move(spec),
      Parameters<Options>()
          .real("precision", &Options::precision, {},
                "of every class in every dimension; 0: .2 / (variance of base images around their class, between "
                "classes)")
          .tries({"4", "15", "40", "100"})
          .whole("steps", &Options::steps, {0, 1e5}, "of variational Bayes")
          .real("start_sharpness", &Options::start_sharpness, {1e-6}, "of the initial soft k-means")
          .tries({"5", "20"})
          .whole("start_steps", &Options::start_steps, {1, 1e5}, "of the initial soft k-means")
          .real("most_scale", &Options::most_scale, {1e-6}, "limit of a whitened dimension’s factor")
          .choice("whitened", &Options::whitened, {"whole", "span"},
                  "all dimensions, or those that the episode’s images span")
          .real("prior_strength", &Options::prior_strength, {},
                "of the prior of class means, whose mean is 0, in images")
          .tries({"1", "3"})
          .real("dirichlet", &Options::dirichlet, {1e-6}, "prior of each class’s number of queries")
          .tries({"1", "5"})
          .choice("proportions", &Options::proportions, {"estimated", "equal"}, "of the classes"),
      &prepare);
}

}  // namespace protocom::methods
