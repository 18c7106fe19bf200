#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/mapped_table.h"
#include "fewshot/method.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// Answers episodes that are rows of one table, for one method or for several that share work. The answers equal those
/// of the methods' runs except for the rounding of sums, and are identical to the last bit for any batching of rows and
/// any number of threads. Thread-safe.
class FastForm {
 public:
  FastForm() = default;
  virtual ~FastForm() = default;
  FastForm(const FastForm&) = delete;
  FastForm& operator=(const FastForm&) = delete;
  /// Returns the scores of each method that joined, in the order of joining. Rows must exist.
  [[nodiscard]] virtual std::vector<EpisodeScores> score(const RowBatch& rows) const = 0;
};

/// The forms of a group of methods on one table of features: see Method::join.
class FastForms {
 public:
  /// `context` and `table`, float32 [m, d], must outlive it.
  FastForms(const MethodContext& context, const Array& table);

  [[nodiscard]] const MethodContext& context() const { return context_; }
  [[nodiscard]] const Array& table() const { return table_; }
  /// The context's maps, one map per row, [m, c * h * w]; undefined if there are none.
  [[nodiscard]] const Array& maps() const { return maps_; }

  /// Returns the group's form of this type on a mapped table, made at the first use.
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

  /// Returns table() or maps() after `map` (null: unchanged), shared by methods with equal maps.
  std::shared_ptr<const MappedTable> mapped(const Array& table, std::shared_ptr<const FeatureTransform> map);

  /// Returns all forms made so far.
  [[nodiscard]] std::vector<std::unique_ptr<FastForm>> take() { return std::move(forms_); }

 private:
  const MethodContext& context_;
  const Array& table_;
  Array maps_;
  std::vector<std::shared_ptr<const MappedTable>> mapped_;
  std::vector<std::unique_ptr<FastForm>> forms_;
};

}  // namespace protocom
