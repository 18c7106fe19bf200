#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/detail/fast_form.h"
#include "fewshot/plda/detail/foreign_images.h"
#include "fewshot/plda/model.h"

namespace protocom {

/// A method that answers by plda/foreign_span.h.
struct ForeignMethod {
  std::shared_ptr<const PldaModel> model;
  double scale = 0;                // see answer_in_foreign_space()
  std::unique_ptr<Scorer> others;  // for episodes that it leaves to the space
};

/// The fast form of methods that adapt one fitted space: rows of the table after its ForeignRows are read where they
/// lie.
class ForeignForm : public FastForm {
 public:
  explicit ForeignForm(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  void add(ForeignMethod method) { methods_.push_back(std::move(method)); }
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  [[nodiscard]] ForeignEpisode episode_of(const RowBatch& rows, int64_t number) const;
  [[nodiscard]] EpisodeScores score(const ForeignMethod& method, const RowBatch& rows) const;

  std::shared_ptr<const MappedTable> table_;
  std::vector<ForeignMethod> methods_;
};

}  // namespace protocom
