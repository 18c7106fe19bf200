#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/detail/fast_form.h"
#include "fewshot/toolbox/detail/row_episode.h"

namespace protocom {

/// The fast form of methods that compare features in one space: rows of the table after the space's map are read where
/// they lie, and an episode is placed once for all of them.
class SpaceRows : public FastForm {
 public:
  explicit SpaceRows(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  /// Takes one more method.
  void add(MakeRowRun make) { makers_.push_back(std::move(make)); }
  /// Throws Error where a class has no support.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  std::shared_ptr<const MappedTable> table_;
  std::vector<MakeRowRun> makers_;
};

}  // namespace protocom
