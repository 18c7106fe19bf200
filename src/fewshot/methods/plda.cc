#include <mutex>

#include "fewshot/answer_formula.h"
#include "fewshot/plda/detail/method.h"
#include "fewshot/plda/detail/open_run.h"
#include "fewshot/toolbox/detail/coarse_rows.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string prior = "fitted";
  double scale = 0;
  double text = TextWeights().beside;
  double nu = FixedSpace().degrees;
  double class_means = FixedSpace().class_means;
};

/// Factor of the log predictive when it is combined with texts (docs/methods/plda.md).
constexpr double kScaleBesideText = 0.05;

/// Sets the options whose defaults depend on others.
Options complete(Options options) {
  if (options.prior == kTextPrior && options.scale == 0) options.scale = kScaleBesideText;
  return options;
}

std::vector<std::string> choices() {
  std::vector<std::string> all = prior_choices();
  all.emplace_back(kTextPrior);
  return all;
}

std::string prior_text() {
  return std::string(kPriorText) +
         "; text: text vectors by the image encoder's text encoder (knowledge embeddings), without fitting";
}

/// The contribution of the squares of placed classes to their products with an image: the same for every image.
class SquaresOfClasses {
 public:
  /// Returns the contributions [n]. `means` [n, width] belong to the numbers of images `count` [n]: if one changes
  /// there is a new `count` (PlacedClasses). `weights` [padded + kRowMultiple]: those of an image's row.
  Array times(const Eigen::RowVectorXf& weights, const Array& means, const Array& count, const PldaLayout& layout) {
    const std::lock_guard lock(mutex_);
    if (!products_.defined() || count_.raw() != count.raw()) {
      const Eigen::VectorXf products =
          matrix_of<float>(means).middleCols(layout.padded, weights.size()) * weights.transpose();
      products_ = array_of_matrix(products).reshaped({products.size()});
      count_ = count;
    }
    return products_;
  }

 private:
  std::mutex mutex_;
  Array count_, products_;  // holding `count_` keeps its address from being used again
};

/// log N(q; m, 1 + v) for each class's posterior mean m; v is PldaRowMetric's.
class PredictiveRun : public OpenRun {
 public:
  PredictiveRun(std::shared_ptr<const PldaPrepared> prepared, double scale)
      : prepared_(std::move(prepared)), scale_(scale) {}

  void answer(const Task& task, float* logits) override {
    const TaskClasses classes(*prepared_, task);
    const std::vector<const float*> queries = query_rows(task);
    const FloatMatrix scores = classes.log_predictives(*prepared_, queries);
    const TaskScale scale = task_scale(*prepared_->model, classes.count.mean(), scale_);
    matrix_at(logits, task) = static_cast<float>(scale.logits) * scores;
    set_unseen_logits(scores.cast<double>(), row_log_predictive(prepared_->never_seen, queries).col(0).cast<double>(),
                      scale, logits);
  }

 private:
  std::shared_ptr<const PldaPrepared> prepared_;
  double scale_;
};

/// Returns the linear part of rows [n, width], [n, e].
FloatMatrix dims_of(const FloatMatrix& rows, const PldaLayout& layout) {
  FloatMatrix dims(rows.rows(), layout.dims);
  dims << rows.leftCols(layout.varied), rows.middleCols(layout.rest_begin(), layout.rest());
  return dims;
}

/// Expands one number per varied dimension and one for all the rest, [e].
Eigen::RowVectorXf each_dim(const Eigen::RowVectorXf& varied, float rest, const PldaLayout& layout) {
  Eigen::RowVectorXf dims(layout.dims);
  dims << varied.head(layout.varied), Eigen::RowVectorXf::Constant(layout.rest(), rest);
  return dims;
}

/// Returns the formula for the ratio of the best log predictive, t_k - 1/2 (f^2 . w + metric.constant), to that of an
/// unseen class.
FamiliarityFormula familiarity_of(const PldaPrepared& prepared, const PldaRowMetric& metric, const TaskScale& scale) {
  const PldaLayout& layout = prepared.rows->layout();
  const FloatMatrix& none = prepared.never_seen.prototypes;  // [1, width]
  FamiliarityFormula made;
  made.by_best = scale.by_best;
  made.factor = scale.known;
  made.squares = -0.5F * each_dim(metric.varied, metric.rest, layout) -
                 each_dim(none.middleCols(layout.padded, layout.padded), none(0, 2 * layout.padded), layout);
  made.row = -dims_of(none, layout);
  made.bias = 0.5 * (double{prepared.never_seen.constant[0]} - double{metric.constant});
  made.slope = scale.chance.slope;
  made.offset = scale.chance.offset;
  made.alike = scale.chance.alike;
  return made;
}

/// Gives the same answers for classes that are placed once.
class PredictivePlacer : public ClassPlacer, public PlacedFormula {
 public:
  PredictivePlacer(std::shared_ptr<const PldaPrepared> prepared, double scale)
      : prepared_(std::move(prepared)), scale_(scale) {}

  /// Places classes: means, and the number of images of each class, because the metric depends on all of them; then the
  /// part linear in a mean as coarse rows.
  [[nodiscard]] PlacedClasses place(const TaskImages& images) const override {
    const PldaRows& space = *prepared_->rows;
    const ClassSums sums = space.sums(images);
    const FloatMatrix rows = rows_of_means(
        row_posterior(prepared_->prior_of(images.numbers, images.classes), sums.count, sums.rows, space.layout()));
    const CoarseRows coarse = coarse_rows(linear_part(rows));
    return {array_of_matrix(rows), array_of_matrix(sums.count).reshaped({images.classes}), coarse.codes, coarse.steps};
  }

  [[nodiscard]] QueryScores score(const PlacedClasses& classes, const FeatureRows& queries) const override {
    const FloatMatrix images = prepared_->rows->rows_of(queries);  // [q, width]
    const double shots = matrix_of<float>(classes[1]).mean();
    const PldaLayout& layout = prepared_->rows->layout();
    const PldaRowPredictive predictive = row_predictive(images, row_metric(prepared_->variance, shots, layout));
    const FloatMatrix scores = log_predictive(predictive, classes);
    const DoubleVector none = row_log_predictive(prepared_->never_seen, pointers_to(images)).col(0).cast<double>();
    const TaskScale scale = task_scale(*prepared_->model, shots, scale_);
    QueryScores answer{static_cast<float>(scale.logits) * scores, Eigen::VectorXf(images.rows())};
    compute_unseen(scores.cast<double>(), none, scale, answer.logits.data(), answer.unseen.data());
    return answer;
  }

  [[nodiscard]] AnswerFormula formula(const PlacedClasses& classes, int64_t /*width*/) const override {
    const PldaLayout& layout = prepared_->rows->layout();
    const FloatSpace space(prepared_->model->space);  // the same precision as the rows
    const double shots = matrix_of<float>(classes[1]).mean();
    const PldaRowMetric metric = row_metric(prepared_->variance, shots, layout);
    const PldaRowPredictive means = row_predictive(matrix_of<float>(classes[0]), metric);
    const TaskScale scale = task_scale(*prepared_->model, shots, scale_);
    AnswerFormula made;
    made.roots = space.root;
    made.center = space.center;
    made.projection = space.projection;
    made.offset = space.offset;
    made.rows = dims_of(means.prototypes, layout);
    made.biases = -0.5F * (means.constant.array() - metric.constant);
    made.scale = scale.logits;
    made.familiarity = familiarity_of(*prepared_, metric, scale);
    return made;
  }

 private:
  /// Returns the part of rows [n, width] in which their products with images are linear.
  [[nodiscard]] FloatMatrix linear_part(const FloatMatrix& rows) const {
    const PldaLayout& layout = prepared_->rows->layout();
    const int64_t rest = rows.cols() - layout.rest_begin();
    FloatMatrix part(rows.rows(), layout.padded + rest);
    part << rows.leftCols(layout.padded), rows.rightCols(rest);
    return part;
  }

  /// Returns log predictives [q, n] of images, in the form in which they are compared with class means; for very many
  /// classes by their coarse rows.
  [[nodiscard]] FloatMatrix log_predictive(const PldaRowPredictive& images, const PlacedClasses& classes) const {
    const Array& means = classes[0];              // [n, width]
    const FloatMatrix& rows = images.prototypes;  // [q, width]
    FloatMatrix scores;                           // [q, n]
    if (means.size(0) < kFewestCoarse || rows.rows() == 0) {
      scores = row_products(rows, means);
    } else {
      const PldaLayout& layout = prepared_->rows->layout();
      const Eigen::RowVectorXf weights = rows.row(0).segment(layout.padded, layout.rest_begin() - layout.padded);
      const ManyRows many{means, {classes[2], classes[3]}, squares_.times(weights, means, classes[1], layout)};
      scores = products_with_many(rows, linear_part(rows), many);
    }
    scores.colwise() -= 0.5F * images.constant;
    return scores;
  }

  std::shared_ptr<const PldaPrepared> prepared_;
  double scale_;
  mutable SquaresOfClasses squares_;
};

class Plda : public PldaMethod {
 public:
  explicit Plda(const Options& options)
      : PldaMethod(options.prior, {TextWeights().alone, options.text}, {options.nu, options.class_means}),
        options_(complete(options)) {}

  [[nodiscard]] OfPrepared of_prepared() const override {
    return [scale = options_.scale](const std::shared_ptr<const PldaPrepared>& prepared) {
      PreparedMethod method;
      method.make_run = [=] { return std::make_unique<PredictiveRun>(prepared, scale); };
      method.placer = std::make_shared<const PredictivePlacer>(prepared, scale);
      return method;
    };
  }
  [[nodiscard]] MakeTaskRun adapting_runs(std::shared_ptr<const AdaptingModel> model) const override {
    return [model = std::move(model), scale = options_.scale] { return adapting_run(model, scale); };
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition plda() {
  MethodSpec spec;
  spec.name = "plda";
  spec.about = "Bayesian: a Gaussian per class, whose mean has a prior from knowledge and is updated by the supports";
  spec.citation = kPldaCitation;
  spec.needs = {Need::kFitting};
  spec.fewest_shots = 0;
  spec.notes =
      "Without a fitted file, the space is estimated from the supports. A class without a description is classified as "
      "without knowledge. Settings are chosen on held-out classes, never on novel ones (docs/methods/plda.md).";
  return define<Plda>(
      std::move(spec),
      Parameters<Options>()
          .choice("prior", &Options::prior, choices(), prior_text().c_str())
          .real("scale", &Options::scale, {},
                "factor of the log predictive in the softmax; 0: calibrated on held-out classes, with prior=text .05")
          .real("text", &Options::text, {}, "factor of the cosine of image and text beside photos, with prior=text")
          .real("nu", &Options::nu, {},
                "in a space estimated from the supports: weight of the prior within-class covariance, in images; 0: "
                "chosen on held-out images")
          .real("class_means", &Options::class_means, {-1, 1},
                "without a fitted file: weight of the scatter of class means beside that of images; negative: 1 with "
                "one image per class, else .4"));
}

}  // namespace protocom::methods
