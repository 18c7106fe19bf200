#include "fewshot/paper/paper_row.h"

#include <ATen/ATen.h>

#include "fewshot/paper/paper_rows.h"
#include "fewshot/toolbox/coarse_rows.h"
#include "fewshot/toolbox/row_products.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/paper/completer.h"
#include "protocom/fewshot/toolbox/cosine_classifier.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom {
namespace {

/// Throws Error where the model is of other features or other knowledge.
void check_completes(const CompletionModel& model, const ClassDescriptions& classes, const at::Tensor& table) {
  const auto& sizes = model.network.options();
  if (sizes.feature_dim != table.size(1))
    fail("the model completes features of {} dimensions, these have {}", sizes.feature_dim, table.size(1));
  if (sizes.embedding_dim != classes.embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         classes.embedding.size(1));
  }
}

/// Rows (i) to (iii) place a class by itself; row (iv) looks at the queries.
class PaperRowScorer : public Scorer, private ClassPlacer {
 public:
  PaperRowScorer(PaperRow::Prototypes prototypes, const GaussFusionOptions& fusion, CompletePrototypes complete,
                 at::Tensor gamma, Sees sees)
      : prototypes_(prototypes),
        fusion_(fusion),
        complete_(std::move(complete)),
        gamma_(std::move(gamma)),
        sees_(sees) {}

  [[nodiscard]] const ClassPlacer* placer() const override { return sees_ == Sees::kEachQueryAlone ? this : nullptr; }

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const at::Tensor prototypes = prototypes_(PrototypeParts(batch, complete_), fusion_);  // [b, n, d]
    return {gamma_ * protocom::cosine_similarity(batch.query, prototypes), prototypes};
  }

 private:
  /// Prototypes and themselves at unit length, as rows and as coarse ones.
  [[nodiscard]] PlacedClasses place(const EpisodeBatch& batch) const override {
    const at::Tensor prototypes = prototypes_(PrototypeParts(batch, complete_), fusion_).squeeze(0);  // [n, d]
    const at::Tensor rows = padded_row(unit_vectors(prototypes));
    const CoarseRows coarse = coarse_rows(rows);
    return {prototypes, rows, coarse.codes, coarse.steps};
  }

  [[nodiscard]] EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const override {
    const at::Tensor rows = padded_row(unit_vectors(query)).unsqueeze(0);  // [1, q, d']
    const at::Tensor& own = classes[1];
    const at::Tensor cosines =
        own.size(0) < kFewestCoarse || rows.size(1) == 0
            ? row_products(rows, own)
            : products_with_many(rows[0], rows[0], {own, {classes[2], classes[3]}, {}}).unsqueeze(0);
    return {gamma_ * cosines, classes[0].unsqueeze(0)};
  }

  PaperRow::Prototypes prototypes_;
  GaussFusionOptions fusion_;
  CompletePrototypes complete_;
  at::Tensor gamma_;
  Sees sees_;
};

}  // namespace

CompletePrototypes complete_by(const CompletionModel& model, const ClassDescriptions& classes) {
  return [completer = std::make_shared<Completer>(model, classes)](const at::Tensor& prototypes,
                                                                   const at::Tensor& labels) {
    return completer->complete(prototypes.flatten(0, 1), labels.flatten()).view(prototypes.sizes());
  };
}

double PaperRow::gamma(const MethodContext& context) const {
  if (options_.gamma > 0) return options_.gamma;
  return context.model == nullptr ? kDefaultGamma : context.model->gamma;
}

std::unique_ptr<Scorer> PaperRow::prepare(const MethodContext& context) const {
  CompletePrototypes complete = context.complete;
  if (spec().has(Need::kCompletionModel) && !complete) complete = complete_by(*context.model, *context.classes);
  const at::Tensor gamma =
      context.gamma.defined() && options_.gamma == 0 ? context.gamma : at::scalar_tensor(this->gamma(context));
  return std::make_unique<PaperRowScorer>(prototypes_, options_, std::move(complete), gamma, spec().sees);
}

/// The fast form is that of a model's own completion and factor, and of one step of fusion.
const FastForm* PaperRow::join(FastForms& forms) const {
  const MethodContext& context = forms.context();
  if (context.complete) return nullptr;
  if (spec().has(Need::kCompletionModel)) check_completes(*context.model, *context.classes, forms.table());
  if (context.gamma.defined() || options_.steps != 1) return nullptr;
  auto& rows = forms.shared<PaperRows>();
  rows.add({spec().paper_row, static_cast<float>(gamma(context)), options_}, context);
  return &rows;
}

Parameters<PaperRowOptions> paper_row_parameters() {
  return Parameters<PaperRowOptions>().real(
      "gamma", &PaperRowOptions::gamma, {},
      "factor of the cosine in the softmax of equation 8; 0: what joint meta-training learned, else 10");
}

MethodDefinition define_paper_row(MethodSpec spec, PaperRow::Prototypes prototypes,
                                  Parameters<PaperRowOptions> parameters) {
  spec.citation =
      "Zhang, Li, Ye, Huang, Zhang: Prototype Completion with Primitive Knowledge for Few-Shot Learning, CVPR 2021";
  return define<PaperRow>(std::move(spec), std::move(parameters), prototypes);
}

}  // namespace protocom
