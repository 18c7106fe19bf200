#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/mapped_table.h"
#include "fewshot/method.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// What answers for one method, or for several that share their work, about episodes that are rows of one table: what
/// the methods' runs answer but for the rounding of sums, the same to the last bit however rows are batched and on any
/// number of threads. Thread-safe.
class FastForm {
 public:
  FastForm() = default;
  virtual ~FastForm() = default;
  FastForm(const FastForm&) = delete;
  FastForm& operator=(const FastForm&) = delete;
  /// The scores of each method that joined, in the order in which they did. Rows must exist.
  [[nodiscard]] virtual std::vector<EpisodeScores> score(const RowBatch& rows) const = 0;
};

/// The forms of a group of methods on one table of features: see Method::join.
class FastForms {
 public:
  /// Both must outlive it; `table` is float32 [m, d].
  FastForms(const MethodContext& context, const Array& table);

  [[nodiscard]] const MethodContext& context() const { return context_; }
  [[nodiscard]] const Array& table() const { return table_; }
  /// The context's maps, a map a row, [m, c * h * w]; undefined without any.
  [[nodiscard]] const Array& maps() const { return maps_; }

  /// The group's form of this type on a table after its map, made at the first use.
  template <typename Form>
  Form& shared(const std::shared_ptr<const MappedTable>& table) {
    for (const auto& form : forms_) {
      auto* found = dynamic_cast<Form*>(form.get());
      if (found != nullptr && &found->table() == table.get()) return *found;
    }
    auto made = std::make_unique<Form>(table);
    Form& form = *made;
    forms_.push_back(std::move(made));
    return form;
  }

  /// One of table() and maps() after `map` (null: as it is), which methods that map alike share.
  std::shared_ptr<const MappedTable> mapped(const Array& table, std::shared_ptr<const FeatureTransform> map);

  /// All forms made so far.
  [[nodiscard]] std::vector<std::unique_ptr<FastForm>> take() { return std::move(forms_); }

 private:
  const MethodContext& context_;
  const Array& table_;
  Array maps_;
  std::vector<std::shared_ptr<const MappedTable>> mapped_;
  std::vector<std::unique_ptr<FastForm>> forms_;
};

}  // namespace protocom
