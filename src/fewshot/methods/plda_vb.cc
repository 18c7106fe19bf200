#include <memory>
#include <utility>
#include <vector>

#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/batch_scale.h"
#include "fewshot/plda/detail/batch_space.h"
#include "fewshot/plda/detail/method.h"
#include "fewshot/plda/detail/open_run.h"
#include "fewshot/plda/detail/vb_rows.h"
#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string prior = "fitted";
  std::string proportions = "estimate";
  int64_t steps = 0;
  double scale = 0;
};

Proportions proportions_of(const Options& options) {
  if (options.proportions == "given") return Proportions::kGiven;
  return options.proportions == "balanced" ? Proportions::kBalanced : Proportions::kEstimate;
}

/// Returns a model's settings combined with the method's.
PldaVbOptions settings_of(const PldaModel& model, const Options& options) {
  PldaVbOptions vb = model.vb;
  vb.proportions = proportions_of(options);
  if (options.steps > 0) vb.steps = options.steps;
  return vb;
}

/// The E-step of variational EM over the queries, or over the pool.
class MixtureRun : public OpenRun {
 public:
  MixtureRun(std::shared_ptr<const PldaPrepared> prepared, const Options& options)
      : prepared_(std::move(prepared)), vb_(settings_of(*prepared_->model, options)), scale_(options.scale) {}

  void answer(const Task& task, float* logits) override {
    if (vb_.proportions == Proportions::kGiven) vb_.given = shares_of(task);
    const TaskClasses classes(*prepared_, task);
    const double images = classes.count.mean(), fitted = prepared_->model->transductive_scale.at(images);
    const bool adapted = vb_.degrees > 0 || vb_.plausible > 0;
    const FloatMatrix scores = adapted ? scores_in_adapted_space(task, classes, fitted) : scores_of(task, classes);
    const std::vector<const float*> queries = query_rows(task);
    const DoubleMatrix alone = classes.log_predictives(*prepared_, queries).cast<double>();
    TaskScale scale = task_scale(*prepared_->model, images, scale_);
    const bool matches = adapted && !task.is_pooled();
    if (scale_ <= 0)
      scale.logits =
          matches ? matching_batch_scale(scores.cast<double>(), {alone, scale.known, images, log_shares_of(vb_.given)})
                  : fitted;
    matrix_at(logits, task) = static_cast<float>(scale.logits) * scores;
    set_unseen_logits(alone, row_log_predictive(prepared_->never_seen, queries).col(0).cast<double>(), scale, logits);
  }

 private:
  [[nodiscard]] FloatMatrix scores_of(const Task& task, const TaskClasses& classes) const {
    PldaVbRows rows{classes.prior, classes.count, classes.sum, unlabelled_rows(task), {}, task.is_pooled()};
    if (rows.pooled) rows.queries = query_rows(task);
    return plda_vb_rows(rows, prepared_->rows->layout(), vb_);
  }

  /// Returns scores in the space of a model that was adapted before.
  [[nodiscard]] FloatMatrix scores_in_adapted_space(const Task& task, const TaskClasses& classes, double scale) const {
    const PldaLayout& layout = prepared_->rows->layout();
    const DoubleMatrix queries = dims_of_rows(query_rows(task), layout);
    BatchTask batch =
        batch_task_of(*prepared_->model, classes.count.cast<double>(), dims_of_rows(pointers_to(classes.sum), layout),
                      dims_of_rows(unlabelled_rows(task), layout), task.is_pooled() ? &queries : nullptr);
    batch.shares = vb_.given;
    const bool follows = vb_.degrees > 0 && task.unlabelled > 0;
    return (follows ? batch_scores_following(batch, vb_, scale) : batch_scores(batch, vb_, scale)).cast<float>();
  }

  std::shared_ptr<const PldaPrepared> prepared_;
  PldaVbOptions vb_;
  double scale_;
};

class PldaVb : public PldaMethod {
 public:
  explicit PldaVb(Options options) : PldaMethod(options.prior), options_(std::move(options)) {}

  [[nodiscard]] OfPrepared of_prepared() const override {
    return [options = options_](const std::shared_ptr<const PldaPrepared>& prepared) {
      PreparedMethod method;
      method.make_run = [=] { return std::make_unique<MixtureRun>(prepared, options); };
      return method;
    };
  }
  [[nodiscard]] MakeTaskRun adapting_runs(std::shared_ptr<const AdaptingModel> model) const override {
    return [model, vb = settings_of(*model->model, options_), scale = options_.scale] {
      return adapting_batch_run(model, vb, scale);
    };
  }
  [[nodiscard]] bool answers_batches() const override { return true; }

 private:
  Options options_;
};

}  // namespace

MethodDefinition plda_vb() {
  MethodSpec spec;
  spec.name = "plda-vb";
  spec.about = "plda with the unlabelled images in a variational mixture of the classes";
  spec.citation = kPldaCitation;
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kFitting};
  spec.fewest_shots = 0;
  spec.fitted_as = "plda";
  spec.notes =
      "Takes the file of `protocom fit --method plda`. How many images each class has is estimated; "
      "proportions=balanced assumes equally many, which raises accuracy a little if true and lowers it a lot if not.";
  return define<PldaVb>(
      std::move(spec),
      Parameters<Options>()
          .choice("prior", &Options::prior, prior_choices(), kPriorText)
          .choice("proportions", &Options::proportions, {"estimate", "balanced", "given"},
                  "of the classes among the unlabelled images; given: set by the caller (evaluate sets the true ones)")
          .whole("steps", &Options::steps, {0}, "of variational EM; 0: as fitted")
          .real("scale", &Options::scale, {}, "factor of the scores in the softmax; 0: as fitted"));
}

}  // namespace protocom::methods
