#include <algorithm>
#include <utility>

#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

constexpr int64_t kSteps = 10;
constexpr int64_t kInnerSteps = 5;
constexpr int64_t kNeighbours = 3;
constexpr int64_t kConfident = 8;
constexpr double kWeight = 50;  ///< of the similarity of neighbours and shots, against the mixture's log likelihood
constexpr double kLeast = 1e-12;

struct Options {
  double gamma = 0.02;
  double lambda_few = 0.5;
  double lambda_zero = 1;
  double scale = kClipScale;
};

/// One task: images x [u, d] answered together, labelled images s [m, d] with y [m, n], all of unit length, and the
/// text probabilities t [u, n] of x.
struct Problem {
  DoubleMatrix x, s, y, t;
  [[nodiscard]] bool has_shots() const { return s.rows() > 0; }
};

/// Gaussians with one common diagonal covariance.
struct Mixture {
  DoubleMatrix means;     // [n, d]
  DoubleVector variance;  // [d]

  /// Returns log N(x; mean, variance) for [u, d], without terms equal for all classes: [u, n].
  [[nodiscard]] DoubleMatrix log_likelihood(const DoubleMatrix& x) const {
    const DoubleMatrix scaled = means * variance.cwiseInverse().asDiagonal();
    const DoubleVector squares = means.cwiseProduct(scaled).rowwise().sum();
    DoubleMatrix likelihood = x * scaled.transpose();
    likelihood.rowwise() -= 0.5 * squares.transpose();
    return likelihood;
  }
};

/// Sets all but the `count` largest values of each row to zero.
DoubleMatrix largest_of_rows(const DoubleMatrix& values, int64_t count) {
  DoubleMatrix kept = DoubleMatrix::Zero(values.rows(), values.cols());
  for (int64_t i = 0; i < values.rows(); ++i) {
    for (const int64_t j : places_of_largest(values, i, count)) kept(i, j) = values(i, j);
  }
  return kept;
}

/// Returns the affinity [a, u] of rows to their nearest neighbours among x: cosines, zero elsewhere. `own`: the rows
/// are x itself, and each row's nearest is left out.
DoubleMatrix affinity(const DoubleMatrix& rows, const DoubleMatrix& x, bool own) {
  DoubleMatrix cosines = rows * x.transpose();
  if (own) cosines.diagonal().setConstant(-2);
  return largest_of_rows(cosines, std::min<int64_t>(kNeighbours, x.rows() - (own ? 1 : 0)));
}

Mixture first(const Problem& problem) {
  Mixture mixture;
  if (problem.has_shots()) {
    mixture.means = problem.y.transpose() * problem.s;
  } else {  // the images for which the texts are most certain
    const int64_t count = std::min<int64_t>(kConfident, problem.t.rows());
    mixture.means = largest_of_rows(problem.t.transpose(), count) * problem.x;
  }
  mixture.means = unit_rows(mixture.means);
  mixture.variance = DoubleVector::Constant(problem.x.cols(), 1.0 / static_cast<double>(problem.x.cols()));
  return mixture;
}

Mixture refitted(const Problem& problem, const DoubleMatrix& z, double gamma) {
  const int64_t images = problem.x.rows(), shots = problem.s.rows();
  DoubleMatrix weights(images + shots, z.cols()), points(images + shots, problem.x.cols());
  weights.topRows(images) = z / static_cast<double>(images);
  points.topRows(images) = problem.x;
  if (problem.has_shots()) {
    weights.bottomRows(shots) = gamma * kWeight / static_cast<double>(shots) * problem.y;
    points.bottomRows(shots) = problem.s;
  }
  const DoubleVector share = weights.colwise().sum();
  const DoubleMatrix sums = weights.transpose() * points;  // [n, d]
  Mixture mixture;
  mixture.means = unit_rows((sums.array().colwise() / share.array().max(kLeast)).matrix());
  const DoubleVector each = weights.rowwise().sum();
  const DoubleVector squares = points.cwiseAbs2().transpose() * each -
                               2 * mixture.means.cwiseProduct(sums).colwise().sum().transpose() +
                               mixture.means.cwiseAbs2().transpose() * share;
  mixture.variance = (squares / share.sum()).cwiseMax(kLeast);
  return mixture;
}

/// Returns log probabilities of the images, or of `apart` [q, d] with their text probabilities if they are answered
/// separately from a pool.
DoubleMatrix answer_one(const Problem& problem, const DoubleMatrix& apart, const DoubleMatrix& text,
                        const Options& options) {
  const double lambda = problem.has_shots() ? options.lambda_few : options.lambda_zero;
  const DoubleMatrix among = affinity(problem.x, problem.x, /*own=*/true);
  const DoubleMatrix both_ways = among + among.transpose();
  DoubleMatrix from_shots = DoubleMatrix::Zero(problem.t.rows(), problem.t.cols());
  if (problem.has_shots()) from_shots = affinity(problem.s, problem.x, /*own=*/false).transpose() * problem.y;
  const double likeness = kWeight / (2.0 * kNeighbours);
  const DoubleMatrix prior = lambda * problem.t.array().max(1e-300).log();
  Mixture mixture = first(problem);
  DoubleMatrix z = problem.t;
  DoubleMatrix logits;
  for (int64_t step = 0; step <= kSteps; ++step) {
    if (step > 0) mixture = refitted(problem, z, options.gamma);
    const DoubleMatrix own = mixture.log_likelihood(problem.x);
    for (int64_t inner = 0; inner < kInnerSteps; ++inner) {
      logits = prior + (own + likeness * (both_ways * z + from_shots)) / kWeight;
      z = softmax(logits);
    }
  }
  if (apart.rows() == 0) return logits;
  const DoubleMatrix near = 2 * affinity(apart, problem.x, /*own=*/false) * z;
  return lambda * text.array().max(1e-300).log().matrix() + (mixture.log_likelihood(apart) + likeness * near) / kWeight;
}

class TransClipRun : public TaskRun {
 public:
  TransClipRun(const Options& options, std::shared_ptr<const ClassText> text)
      : options_(options), text_(std::move(text)) {}

  void answer(const Task& task, float* logits) override {
    const bool has_pool = task.first_query() >= task.learned();
    if (task.unlabelled == 0 || task.queries == 0) return;
    Problem problem;
    problem.s = matrix_of(task, 0, task.supports());
    problem.y = labels_of_supports(task);
    problem.x = matrix_of(task, task.supports(), task.unlabelled);
    problem.t = stated(*text_, task, task.supports(), task.unlabelled, options_.scale);
    const DoubleMatrix apart = has_pool ? matrix_of(task, task.first_query(), task.queries) : DoubleMatrix();
    const DoubleMatrix text =
        has_pool ? stated(*text_, task, task.first_query(), task.queries, options_.scale) : DoubleMatrix();
    matrix_at(logits, task) = answer_one(problem, apart, text, options_).cast<float>();
  }

 private:
  Options options_;
  std::shared_ptr<const ClassText> text_;
};

}  // namespace

MethodDefinition trans_clip() {
  MethodSpec spec;
  spec.name = "trans-clip";
  spec.about = "a mixture of Gaussians over all queries, tied to their text probabilities and to neighbours";
  spec.citation =
      "Zanella, Gérin, Ben Ayed: Boosting Vision-Language Models with Transduction, NeurIPS 2024 (TransCLIP)";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "The source chooses gamma among .002, .01, .02 and .2 on val images of the same classes. Its released code "
      "numbers shots and queries in two orders when it joins neighbours; here shots pull the queries nearest to them, "
      "as in the paper. With a pool, a query uses the mixture and the neighbours of the pool.";
  return define_task_method_with_text<TransClipRun>(
      std::move(spec), Parameters<Options>()
                           .real("gamma", &Options::gamma, {}, "weight of labelled images in means and variance")
                           .tries({"0.002", "0.01", "0.2"})
                           .real("lambda_few", &Options::lambda_few, {}, "weight of the texts beside labelled images")
                           .real("lambda_zero", &Options::lambda_zero, {}, "weight of the texts without any")
                           .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
