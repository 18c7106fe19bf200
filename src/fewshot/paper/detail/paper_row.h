#pragma once
#include "fewshot/detail/method_definition.h"
#include "fewshot/episode_batch.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/detail/paper_rows_run.h"
#include "fewshot/paper/gauss_fusion.h"
#include "fewshot/paper/paper_training.h"

namespace protocom {

/// What the paper's prototypes are made of, for a batch.
class PrototypeParts {
 public:
  PrototypeParts(const EpisodeBatch& batch, const CompletePrototypes& complete)
      : batch_(batch), complete_(complete), support_(statistics_of(batch)), mean_(mean_prototypes(support_)) {}

  [[nodiscard]] const SupportStatistics& support() const { return support_; }
  [[nodiscard]] const at::Tensor& mean() const { return mean_; }                           ///< [b, n, d]
  [[nodiscard]] at::Tensor completed() const { return complete_(mean_, batch_.classes); }  ///< [b, n, d]
  [[nodiscard]] const at::Tensor& unlabelled() const { return unlabelled_of(batch_); }     ///< [b, u, d]

 private:
  const EpisodeBatch& batch_;
  const CompletePrototypes& complete_;
  SupportStatistics support_;
  at::Tensor mean_;
};

/// The parameters of the paper's rows; row (iv) has those of GaussFusion besides.
struct PaperRowOptions : GaussFusionOptions {
  double gamma = 0;  ///< of equation 8; 0: the completion model's
};

/// One of the four rows of the paper's ablation: its prototypes, then softmax(gamma * cosine) of equation 8. It answers
/// by PaperRowsRun; `prototypes` are the same on tensors, for training.
class PaperRow : public Method {
 public:
  using Prototypes = at::Tensor (*)(const PrototypeParts& parts, const GaussFusionOptions& fusion);

  PaperRow(const PaperRowOptions& options, Prototypes prototypes) : prototypes_(prototypes), options_(options) {}

  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const override;
  [[nodiscard]] const FastForm* join(FastForms& forms) const override;
  /// See paper_row_scores().
  [[nodiscard]] BatchScores scores(const EpisodeBatch& batch, const CompletePrototypes& complete,
                                   const at::Tensor& gamma) const;

 private:
  [[nodiscard]] bool completes() const { return spec().has(Need::kCompletionModel); }
  [[nodiscard]] FastRow row(const MethodContext& context) const;

  Prototypes prototypes_;
  PaperRowOptions options_;
};

/// The parameter that all rows have.
Parameters<PaperRowOptions> paper_row_parameters();

/// The definition of a row.
MethodDefinition define_paper_row(MethodSpec spec, PaperRow::Prototypes prototypes,
                                  Parameters<PaperRowOptions> parameters = paper_row_parameters());

}  // namespace protocom
