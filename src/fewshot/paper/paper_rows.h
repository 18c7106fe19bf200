#pragma once
#include <optional>
#include <vector>

#include "fewshot/fast_form.h"
#include "fewshot/paper/completed_rows.h"
#include "fewshot/paper/paper_rows_run.h"
#include "protocom/fewshot/paper/completer.h"

namespace protocom {

/// The fast form of the paper's rows: those of a group are computed together (paper_rows_run.h).
class PaperRows : public FastForm {
 public:
  explicit PaperRows(const at::Tensor& table);

  /// Takes one more row. The context's model and classes, the same for all rows, must outlive it.
  void add(const FastRow& row, const MethodContext& context);
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  at::Tensor table_;  // [m, d]
  std::vector<FastRow> rows_;
  at::Tensor padded_;  // [m, dim]
  std::optional<Completer> completer_;
  std::optional<CompletedRows> completed_;
};

}  // namespace protocom
