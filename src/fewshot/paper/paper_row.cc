#include "fewshot/paper/paper_row.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fewshot/answer_formula.h"
#include "fewshot/detail/task_table.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/detail/completed_rows.h"
#include "fewshot/paper/detail/define_paper_row.h"
#include "fewshot/paper/detail/paper_rows_run.h"
#include "fewshot/toolbox/detail/coarse_rows.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// The paper's rows for episodes that are rows of a table: the rows of a group are computed together
/// (paper_rows_run.h).
class PaperRows : public FastForm {
 public:
  explicit PaperRows(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  /// Adds a row. The context's model and classes, the same for all rows, must outlive it.
  void add(const FastRow& row, const MethodContext& context);
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  std::shared_ptr<const MappedTable> table_;
  std::vector<FastRow> rows_;
  std::optional<CompletedRows> completed_;
};

void PaperRows::add(const FastRow& row, const MethodContext& context) {
  rows_.push_back(row);
  if (row.row == 1 || completed_) return;
  completed_.emplace(table_, std::make_shared<const Completer>(*context.model, *context.classes));
}

std::vector<EpisodeScores> PaperRows::score(const RowBatch& rows) const {
  TableTasks tasks(*table_, rows);
  CompletedRows::Batch completed;
  if (completed_) completed = completed_->of(rows);
  std::vector<BatchAnswers> answers;
  for (size_t r = 0; r < rows_.size(); ++r) answers.emplace_back(rows.size(), tasks.shape());
  PaperRowsRun run(rows_);
  std::vector<const float*> own;
  std::vector<float*> logits(rows_.size());
  for (int64_t i = 0; i < rows.size(); ++i) {
    const Task& task = tasks.task(i, 1);
    const auto begin = completed.prototypes.begin();
    if (completed_) own.assign(begin + i * rows.n, begin + (i + 1) * rows.n);
    for (size_t r = 0; r < rows_.size(); ++r) logits[r] = answers[r].logits(i);
    run.run(task, own, logits);
    for (size_t r = 0; r < rows_.size(); ++r) answers[r].add_prototypes(i, task, run.prototypes(r));
  }
  std::vector<EpisodeScores> scores;
  for (const BatchAnswers& answer : answers) scores.push_back(answer.scores());
  return scores;
}

/// A single row of the paper, with its own completion.
class PaperTaskRun : public TaskRun {
 public:
  /// `completer` null: the row uses no completed prototypes.
  PaperTaskRun(const FastRow& row, std::shared_ptr<const Completer> completer)
      : run_({row}), completer_(std::move(completer)) {}

  void answer(const Task& task, float* logits) override {
    FloatMatrix completed;
    if (completer_) completed = completed_prototypes(*completer_, task);
    run_.run(task, pointers_to(completed), {logits});
  }
  [[nodiscard]] const float* prototypes() const override { return run_.prototypes(0); }

 private:
  PaperRowsRun run_;
  std::shared_ptr<const Completer> completer_;
};

/// Rows (i) to (iii) place a class by itself: its prototype at unit length, as a row and as a coarse row.
class PaperPlacer : public ClassPlacer, public PlacedFormula {
 public:
  PaperPlacer(const FastRow& row, std::shared_ptr<const Completer> completer)
      : row_(row), completer_(std::move(completer)) {}

  [[nodiscard]] PlacedClasses place(const TaskImages& images) const override {
    const FloatMatrix none(0, images.rows.cols());
    PaperTaskRun run(row_, completer_);
    run.answer(task_of(images, none), nullptr);
    FloatMatrix rows = Eigen::Map<const FloatMatrix>(run.prototypes(), images.classes, images.rows.cols());
    scale_to_unit_rows(rows);
    const CoarseRows coarse = coarse_rows(rows);
    return {array_of_matrix(rows), coarse.codes, coarse.steps};
  }

  [[nodiscard]] QueryScores score(const PlacedClasses& classes, const FeatureRows& queries) const override {
    FloatMatrix rows = padded_rows(queries, nullptr);
    scale_to_unit_rows(rows);
    const Array& own = classes[0];
    const FloatMatrix cosines = own.size(0) < kFewestCoarse || rows.rows() == 0
                                    ? row_products(rows, own)
                                    : products_with_many(rows, rows, {own, {classes[1], classes[2]}, {}});
    return {row_.gamma * cosines, {}};
  }

  [[nodiscard]] AnswerFormula formula(const PlacedClasses& classes, int64_t width) const override {
    AnswerFormula made;
    made.rows = matrix_of<float>(classes[0]).leftCols(width);
    made.scale = double{row_.gamma};
    return made;
  }

 private:
  FastRow row_;
  std::shared_ptr<const Completer> completer_;
};

/// Throws Error if the model was made for other features or other knowledge.
void check_completes(const CompletionModel& model, const KnowledgeTable& classes, int64_t dim) {
  const ProtoComNetOptions& sizes = model.sizes;
  if (sizes.feature_dim != dim) fail("the model completes features of {} dimensions, found {}", sizes.feature_dim, dim);
  if (sizes.embedding_dim != classes.class_embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         classes.class_embedding.size(1));
  }
}

class PaperRow : public Method {
 public:
  explicit PaperRow(const PaperRowOptions& options) : options_(options) {}

  [[nodiscard]] const PaperRowOptions& options() const { return options_; }
  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const override;
  [[nodiscard]] const FastForm* join(FastForms& forms) const override;

 private:
  [[nodiscard]] bool completes() const { return spec().has(Need::kCompletionModel); }
  [[nodiscard]] FastRow row(const MethodContext& context) const;

  PaperRowOptions options_;
};

FastRow PaperRow::row(const MethodContext& context) const {
  const double learned = context.model == nullptr ? kDefaultGamma : context.model->gamma;
  return {spec().paper_row, static_cast<float>(options_.gamma > 0 ? options_.gamma : learned), options_};
}

PreparedMethod PaperRow::prepare(const MethodContext& context) const {
  const FastRow own = row(context);
  std::shared_ptr<const Completer> completer;
  if (completes()) completer = std::make_shared<const Completer>(*context.model, *context.classes);
  PreparedMethod prepared;
  prepared.make_run = [own, completer] { return std::make_unique<PaperTaskRun>(own, completer); };
  if (spec().sees == Sees::kEachQueryAlone) prepared.placer = std::make_shared<const PaperPlacer>(own, completer);
  return prepared;
}

const FastForm* PaperRow::join(FastForms& forms) const {
  const MethodContext& context = forms.context();
  if (completes()) check_completes(*context.model, *context.classes, forms.table().size(1));
  auto& rows = forms.shared<PaperRows>(forms.mapped(forms.table(), nullptr));
  rows.add(row(context), context);
  return &rows;
}

}  // namespace

const PaperRowOptions* paper_row_options(const Method& method) {
  const auto* row = dynamic_cast<const PaperRow*>(&method);
  return row == nullptr ? nullptr : &row->options();
}

Parameters<PaperRowOptions> paper_row_parameters() {
  return Parameters<PaperRowOptions>().real(
      "gamma", &PaperRowOptions::gamma, {},
      "factor of the cosine in the softmax of equation 8; 0: what joint meta-training learned, else 10");
}

MethodDefinition define_paper_row(MethodSpec spec, Parameters<PaperRowOptions> parameters) {
  spec.citation =
      "Zhang, Li, Ye, Huang, Zhang: Prototype Completion with Primitive Knowledge for Few-Shot Learning, CVPR 2021";
  return define<PaperRow>(std::move(spec), std::move(parameters));
}

}  // namespace protocom
