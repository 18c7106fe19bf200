#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "fewshot/toolbox/detail/assignment.h"
#include "fewshot/toolbox/detail/digamma.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

constexpr double kLeast = 1e-15;
constexpr int64_t kInnerSteps = 1000;
constexpr int64_t kStepsBetweenChecks = 50;
constexpr double kConverged = 1e-11;  ///< for the squared relative change in one inner step

struct Options {
  double temperature = 30;
  int64_t steps = 20;
  int64_t present = 0;
};

/// One task, with probabilities of the texts [., n] as features.
struct Simplex {
  DoubleMatrix unlabelled;  // [u, n]
  DoubleMatrix labelled;    // [m, n]
  DoubleMatrix labels;      // [m, n]
  DoubleMatrix apart;       // [q, n] queries if there is a pool, else empty
};

DoubleMatrix logarithm(const DoubleMatrix& z) { return (z.array() + kLeast).log(); }

/// Returns log Dirichlet(z; alpha_k) for log z [u, n] and each row of alpha [k, n]: [u, k].
DoubleMatrix log_density(const DoubleMatrix& log_z, const DoubleMatrix& alpha) {
  const auto log_gamma = [](double value) { return std::lgamma(value); };
  const DoubleVector totals = alpha.rowwise().sum();
  const DoubleVector constant = totals.unaryExpr(log_gamma) - alpha.unaryExpr(log_gamma).rowwise().sum();
  DoubleMatrix density = log_z * (alpha.array() - 1).matrix().transpose();
  density.rowwise() += constant.transpose();
  return density;
}

/// Returns twice (a digamma(a + 1) - log Gamma(a + 1)) / a^2, given the digamma: the curvature of the parabola through
/// log Gamma(1) that touches log Gamma(a + 1) from above. Near 0, where the difference cancels, uses its series.
double curvature_at(double a, double slope) {
  constexpr double kSmall = 1e-2;
  if (a < kSmall) return 1.6449340668482264 - a * (1.6027425375461270 - a * (1.6234848505667070 - a * 1.6590844082293));
  return 2 * (slope * a - std::lgamma(a + 1)) / (a * a);
}

/// Moves rows of alpha [k, n] one step towards their maximum likelihood, given the mean of log z in each class; sets
/// the squared change of each row. In the likelihood log Gamma(sum alpha) - sum log Gamma(alpha) + sum (alpha - 1)
/// mean, the first term is bounded by its tangent and log Gamma(alpha) = log Gamma(alpha + 1) - log alpha by a parabola
/// and the logarithm; the bound's maximum is a root of curvature alpha^2 + b alpha - 1.
void step_towards_likeliest(DoubleMatrix* alpha, const DoubleMatrix& mean, std::vector<double>* changes) {
  constexpr int64_t kNumbersOfAThread = 2000;
  const int64_t n = alpha->cols();
  double* rows = alpha->data();
  const double* means = mean.data();
  parallel_for(0, alpha->rows(), std::max<int64_t>(kNumbersOfAThread / n, 1), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      double* row = rows + k * n;
      const double total = digamma(std::accumulate(row, row + n, 0.0));
      double change = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double slope = digamma(row[j] + 1);
        const double curvature = curvature_at(row[j], slope);
        const double b = slope - total - curvature * row[j] - means[k * n + j];
        const double next = (std::sqrt(b * b + 4 * curvature) - b) / (2 * curvature);
        change += (next - row[j]) * (next - row[j]);
        row[j] = next;
      }
      (*changes)[static_cast<size_t>(k)] = change;
    }
  });
}

DoubleMatrix likeliest(DoubleMatrix alpha, const DoubleMatrix& means) {
  std::vector<double> changes(static_cast<size_t>(alpha.rows()));
  for (int64_t step = 0; step < kInnerSteps; ++step) {
    const bool is_checked = step > 0 && step % kStepsBetweenChecks == 0;
    const double size = is_checked ? alpha.squaredNorm() : 0;
    step_towards_likeliest(&alpha, means, &changes);
    if (is_checked && std::accumulate(changes.begin(), changes.end(), 0.0) < kConverged * size) break;
  }
  return alpha;
}

/// Assigns classes to clusters of images if there are no labelled images, such that their mean probabilities agree
/// best. Columns of logits [., n] move accordingly; clusters without an image take the remaining classes.
DoubleMatrix named_by_texts(const DoubleMatrix& u, const DoubleMatrix& z, const DoubleMatrix& logits) {
  const int64_t n = u.cols();
  DoubleMatrix means = DoubleMatrix::Zero(n, n);
  DoubleVector count = DoubleVector::Zero(n);
  for (int64_t i = 0; i < u.rows(); ++i) {
    int64_t cluster = 0;
    u.row(i).maxCoeff(&cluster);
    means.row(cluster) += z.row(i);
    count[cluster] += 1;
  }
  std::vector<int64_t> there;
  for (int64_t k = 0; k < n; ++k) {
    if (count[k] > 0) there.push_back(k);
  }
  DoubleMatrix gain(static_cast<int64_t>(there.size()), n);
  for (size_t i = 0; i < there.size(); ++i) gain.row(static_cast<int64_t>(i)) = means.row(there[i]) / count[there[i]];
  const std::vector<int64_t> classes = best_assignment(gain);
  std::vector<int64_t> cluster_of(static_cast<size_t>(n), -1);
  for (size_t i = 0; i < classes.size(); ++i) cluster_of[static_cast<size_t>(classes[i])] = there[i];
  int64_t next = 0;
  DoubleMatrix named(logits.rows(), n);
  for (int64_t k = 0; k < n; ++k) {
    int64_t cluster = cluster_of[static_cast<size_t>(k)];
    if (cluster < 0) {
      while (count[next] > 0) ++next;
      cluster = next++;
    }
    named.col(k) = logits.col(cluster);
  }
  return named;
}

/// Returns lambda over the number of queries: the ratio of the number of classes to the number that occur.
double weight_of_shares(int64_t n, int64_t present) {
  return present == 0 ? 1 : static_cast<double>(std::max<int64_t>(n / present, 1));
}

/// Runs EM: alpha from responsibilities u, then the classes' shares, then u.
DoubleMatrix answer_one(const Simplex& images, const Options& options) {
  const int64_t n = images.labels.cols();
  const DoubleMatrix log_z = logarithm(images.unlabelled);
  const DoubleMatrix from_labelled = images.labels.transpose() * logarithm(images.labelled);
  const DoubleMatrix asked = images.apart.rows() > 0 ? logarithm(images.apart) : log_z;
  DoubleMatrix u = images.unlabelled;
  DoubleMatrix alpha = DoubleMatrix::Ones(n, n);
  Eigen::RowVectorXd shares = Eigen::RowVectorXd::Zero(n);
  for (int64_t step = 0; step < options.steps; ++step) {
    const DoubleVector count = (images.labels.colwise().sum() + u.colwise().sum()).transpose();
    DoubleMatrix mean = from_labelled + u.transpose() * log_z;
    std::vector<int64_t> used;  // an empty class keeps its values
    for (int64_t k = 0; k < n; ++k) {
      if (count[k] > kLeast) used.push_back(k);
    }
    DoubleMatrix own(static_cast<int64_t>(used.size()), n), means = own;
    for (size_t i = 0; i < used.size(); ++i) {
      own.row(static_cast<int64_t>(i)) = alpha.row(used[i]);
      means.row(static_cast<int64_t>(i)) = mean.row(used[i]) / count[used[i]];
    }
    own = likeliest(std::move(own), means);
    for (size_t i = 0; i < used.size(); ++i) alpha.row(used[i]) = own.row(static_cast<int64_t>(i));
    const auto images_there = static_cast<double>(std::max<int64_t>(u.rows(), 1));
    shares = weight_of_shares(n, options.present) * (u.colwise().sum().array() / images_there + kLeast).log().matrix();
    u = log_density(log_z, alpha);
    u.rowwise() += shares;
    u = softmax(std::move(u));
  }
  DoubleMatrix logits = log_density(asked, alpha);
  logits.rowwise() += shares;
  return images.labelled.rows() > 0 ? logits : named_by_texts(u, images.unlabelled, logits);
}

class EmDirichletRun : public TaskRun {
 public:
  EmDirichletRun(const Options& options, std::shared_ptr<const ClassText> text)
      : options_(options), text_(std::move(text)) {}

  void answer(const Task& task, float* logits) override {
    const bool has_pool = task.first_query() >= task.learned();
    const DoubleMatrix apart =
        has_pool ? stated(*text_, task, task.first_query(), task.queries, options_.temperature) : DoubleMatrix();
    const Simplex images{stated(*text_, task, task.supports(), task.unlabelled, options_.temperature),
                         stated(*text_, task, 0, task.supports(), options_.temperature), labels_of_supports(task),
                         apart};
    if (task.queries > 0) matrix_at(logits, task) = answer_one(images, options_).cast<float>();
  }

 private:
  Options options_;
  std::shared_ptr<const ClassText> text_;
};

}  // namespace

MethodDefinition em_dirichlet() {
  MethodSpec spec;
  spec.name = "em-dirichlet";
  spec.about = "mixture of the queries’ text probabilities, with a Dirichlet distribution for each class";
  spec.citation =
      "Martin, Huang, Shakeri, Pesquet, Ben Ayed: Transductive Zero-Shot and Few-Shot CLIP, CVPR 2024 (EM-Dirichlet)";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "An image is represented by its text probabilities, the softmax of the cosines. Without photos each cluster gets "
      "the class that fits it best, one each. The source's tasks have queries of 5 of all classes, and its program "
      "receives that number, also with photos: `present=5`.";
  return define_task_method_with_text<EmDirichletRun>(
      std::move(spec),
      Parameters<Options>()
          .real("temperature", &Options::temperature, {}, "factor of the cosines in the softmax")
          .whole("steps", &Options::steps, {1, 1e5}, "of all three updates")
          .whole(
              "present", &Options::present, {0, 1e9},
              "classes that occur among the queries, 0: all; the logarithms of the classes' shares count n / present "
              "times, rounded down"));
}

}  // namespace protocom::methods
