#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/detail/mapped_table.h"
#include "fewshot/method.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// A hand-made form of one method or of several that share their work, for episodes that are rows of one table. It
/// gives what the methods' scorers give but for the rounding of sums, the same to the last bit however rows are batched
/// and on any number of threads. Thread-safe.
class FastForm {
 public:
  FastForm() = default;
  virtual ~FastForm() = default;
  FastForm(const FastForm&) = delete;
  FastForm& operator=(const FastForm&) = delete;
  /// The scores of each method that joined, in the order in which they did. Rows must exist.
  [[nodiscard]] virtual std::vector<EpisodeScores> score(const RowBatch& rows) const = 0;
};

/// The fast forms of a group of methods on one table of features: see Method::join.
class FastForms {
 public:
  /// Both must outlive it; `table` is float32 [m, d] on the CPU.
  FastForms(const MethodContext& context, const at::Tensor& table) : context_(context), table_(table) {}

  [[nodiscard]] const MethodContext& context() const { return context_; }
  [[nodiscard]] const at::Tensor& table() const { return table_; }

  /// The group's form of this type, which is made of the table for the first method that asks.
  template <typename Form>
  Form& shared() {
    return shared<Form>(table_, [](const Form&) { return true; });
  }

  /// The same of the table after `map`.
  template <typename Form>
  Form& shared(std::shared_ptr<const FeatureTransform> map) {
    const auto rows = mapped(table_, std::move(map));
    return shared<Form>(rows, [&](const Form& form) { return &form.table() == rows.get(); });
  }

  /// `table` after `map`, which methods that map alike share; null where the map is.
  std::shared_ptr<const MappedTable> mapped(const at::Tensor& table, std::shared_ptr<const FeatureTransform> map);

  /// All that methods have asked for.
  [[nodiscard]] std::vector<std::unique_ptr<FastForm>> take() { return std::move(forms_); }

 private:
  template <typename Form, typename From, typename IsIt>
  Form& shared(const From& from, const IsIt& is_it) {
    for (const auto& form : forms_) {
      auto* found = dynamic_cast<Form*>(form.get());
      if (found != nullptr && is_it(*found)) return *found;
    }
    auto made = std::make_unique<Form>(from);
    Form& form = *made;
    forms_.push_back(std::move(made));
    return form;
  }

  const MethodContext& context_;
  const at::Tensor& table_;
  std::vector<std::shared_ptr<const MappedTable>> mapped_;
  std::vector<std::unique_ptr<FastForm>> forms_;
};

}  // namespace protocom
