#include <ATen/ATen.h>

#include <mutex>

#include "base/error.h"
#include "fewshot/plda/detail/matrix_of_tensor.h"
#include "fewshot/plda/detail/method.h"
#include "fewshot/plda/detail/open_run.h"
#include "fewshot/toolbox/detail/coarse_rows.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "tensors/tensors.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string prior = "fitted";
  double scale = 0;
  double text = TextWeights().beside;
};

/// Factor of the log predictive beside texts (docs/methods/plda.md).
constexpr double kScaleBesideText = 0.05;

/// Those with what depends on one another filled in.
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
         "; text: what the image encoder's text encoder says of the class (knowledge embeddings), nothing to fit";
}

/// What the squares of placed classes add to their products with an image: the same for every image.
class SquaresOfClasses {
 public:
  /// `means` [n, width] are those that `count` [n] counts the images of: both change together. `weights` [padded +
  /// kRowMultiple], those of an image's row.
  at::Tensor times(const at::Tensor& weights, const at::Tensor& means, const at::Tensor& count,
                   const PldaLayout& layout) {
    const std::lock_guard lock(mutex_);
    if (!count_.is_same(count) || version_ != count._version()) {
      products_ = at::mv(means.narrow(1, layout.padded, weights.size(0)), weights);
      count_ = count;
      version_ = count._version();
    }
    return products_;
  }

 private:
  std::mutex mutex_;
  at::Tensor count_, products_;
  int64_t version_ = -1;
};

/// log N(q; m, 1 + v) of each class's posterior mean m; v is PldaRowMetric's.
class PredictiveRun : public OpenRun {
 public:
  PredictiveRun(std::shared_ptr<const PldaPrepared> prepared, double scale)
      : prepared_(std::move(prepared)), scale_(scale) {}

  void answer(const Task& task, float* logits) override {
    const TaskClasses classes(*prepared_, task);
    const std::vector<const float*> queries = query_rows(task);
    const FloatMatrix scores = classes.log_predictives(*prepared_, queries);
    TaskScale scale = task_scale(*prepared_->model, classes.count.mean());
    scale.logits = scale_ > 0 ? scale_ : scale.known;
    matrix_at(logits, task) = static_cast<float>(scale.logits) * scores;
    judge(scores.cast<double>(), row_log_predictive(prepared_->never_seen, queries).col(0).cast<double>(), scale,
          logits);
  }

 private:
  std::shared_ptr<const PldaPrepared> prepared_;
  double scale_;
};

/// The same of classes that are placed once.
class PredictiveScorer : public PldaScorer, private ClassPlacer {
 public:
  PredictiveScorer(const std::shared_ptr<const PldaPrepared>& prepared, MakeTaskRun runs, double scale)
      : PldaScorer(prepared, std::move(runs)), scale_(scale) {}
  [[nodiscard]] const ClassPlacer* placer() const override { return this; }

 private:
  /// Means, and how many images each class has: the metric depends on those of all. Then what is linear in a mean as
  /// coarse rows.
  [[nodiscard]] PlacedClasses place(const EpisodeBatch& batch) const override {
    if (!batch.support.defined()) fail("the Bayesian methods need each support image's feature");
    const PldaRows& rows_of_space = *prepared().rows;
    const FloatMatrix present = float_matrix_of(batch.support_mask);  // [n, k]
    const Eigen::VectorXf count = present.rowwise().sum();
    const std::vector<int64_t> which = batch.classes.defined() ? numbers_of(batch.classes) : std::vector<int64_t>();
    const PldaRowBelief posterior =
        row_posterior(prepared().prior_of(which, count.size()), count,
                      rows_of_space.sums(float_matrix_of(batch.support), present), rows_of_space.layout());
    const at::Tensor rows = tensor_of(rows_of_means(posterior));
    const CoarseRows coarse = coarse_rows(linear_part(rows));
    return {rows, tensor_of(FloatMatrix(count)).flatten(), coarse.codes, coarse.steps};
  }

  [[nodiscard]] EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const override {
    const FloatMatrix images = prepared().rows->rows_of(float_matrix_of(query));  // [q, width]
    const double shots = classes[1].mean().item<double>();
    const PldaLayout& layout = prepared().rows->layout();
    const PldaRowPredictive predictive = row_predictive(images, row_metric(prepared().variance, shots, layout));
    const FloatMatrix scores = log_predictive(predictive, classes);
    const DoubleVector none = row_log_predictive(prepared().never_seen, pointers_to(images)).col(0).cast<double>();
    TaskScale scale = task_scale(*prepared().model, shots);
    scale.logits = scale_ > 0 ? scale_ : scale.known;
    EpisodeScores answer{tensor_of(FloatMatrix(static_cast<float>(scale.logits) * scores)).unsqueeze(0), at::Tensor(),
                         at::empty({1, images.rows()})};
    place_unseen(scores.cast<double>(), none, scale, answer.logits.data_ptr<float>(), answer.unseen.data_ptr<float>());
    return answer;
  }

  /// Of rows [n, width] what their products with images are linear in.
  [[nodiscard]] at::Tensor linear_part(const at::Tensor& rows) const {
    const PldaLayout& layout = prepared().rows->layout();
    return at::cat({rows.narrow(-1, 0, layout.padded), rows.slice(-1, layout.rest_begin())}, -1);
  }

  /// Log predictives [q, n] of images as they are compared with class means, where classes are very many by their
  /// coarse rows.
  [[nodiscard]] FloatMatrix log_predictive(const PldaRowPredictive& images, const PlacedClasses& classes) const {
    const at::Tensor &means = classes[0], rows = tensor_of(images.prototypes);  // [n, width], [q, width]
    at::Tensor products;                                                        // [q, n]
    if (means.size(0) < kFewestCoarse || rows.size(0) == 0) {
      products = row_products(rows.unsqueeze(0), means).squeeze(0);
    } else {
      const PldaLayout& layout = prepared().rows->layout();
      const at::Tensor weights = rows[0].slice(0, layout.padded, layout.rest_begin());
      const ManyRows many{means, {classes[2], classes[3]}, squares_.times(weights, means, classes[1], layout)};
      products = products_with_many(rows, linear_part(rows), many);
    }
    FloatMatrix scores = float_matrix_of(products);
    scores.colwise() -= 0.5F * images.constant;
    return scores;
  }

  double scale_;
  mutable SquaresOfClasses squares_;
};

class Plda : public PldaMethod {
 public:
  explicit Plda(const Options& options)
      : PldaMethod(options.prior, {TextWeights().alone, options.text}), options_(complete(options)) {}

  [[nodiscard]] MakeRuns make_runs() const override {
    return [scale = options_.scale](const std::shared_ptr<const PldaPrepared>& prepared) -> MakeTaskRun {
      return [=] { return std::make_unique<PredictiveRun>(prepared, scale); };
    };
  }
  [[nodiscard]] MakeScorer make_scorer() const override {
    return [runs = make_runs(), scale = options_.scale](const std::shared_ptr<const PldaPrepared>& prepared) {
      return std::make_unique<PredictiveScorer>(prepared, runs(prepared), scale);
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
  spec.about = "Bayesian: a Gaussian a class, its mean believed by knowledge first, then by the supports";
  spec.citation = kPldaCitation;
  spec.needs = {Need::kFitting};
  spec.fewest_shots = 0;
  spec.notes =
      "Fitted with or without knowledge; with it, classes without a description are treated as without. The settings "
      "are chosen on classes left out of the fit, never on novel ones (docs/methods/plda.md).";
  return define<Plda>(std::move(spec), Parameters<Options>()
                                           .choice("prior", &Options::prior, choices(), prior_text().c_str())
                                           .real("scale", &Options::scale, {},
                                                 "factor of the log predictive in the softmax; 0: the one that makes "
                                                 "probabilities of classes left out right, with prior=text .05")
                                           .real("text", &Options::text, {},
                                                 "factor of the cosine of image and text beside photos, with "
                                                 "prior=text"));
}

}  // namespace protocom::methods
