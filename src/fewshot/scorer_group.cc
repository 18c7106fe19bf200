#include "fewshot/scorer_group.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/thread_scope.h"
#include "fewshot/detail/fast_form.h"
#include "fewshot/detail/mapped_table.h"
#include "fewshot/method.h"

namespace protocom {
namespace {

void check_sizes(const MethodContext& context, const at::Tensor& table) {
  if (table.dim() != 2 || table.scalar_type() != at::kFloat || !table.device().is_cpu())
    fail("features must be a float32 matrix on the CPU");
  if (context.maps.defined() && context.maps.size(0) != table.size(0))
    fail("there are feature maps of {} images and features of {}", context.maps.size(0), table.size(0));
}

}  // namespace

/// A table that methods read their episodes from, as it is or through a FeatureTransform.
class EpisodeTable {
 public:
  /// `mapped` may be null.
  EpisodeTable(at::Tensor table, std::shared_ptr<const MappedTable> mapped)
      : table_(std::move(table)), mapped_(std::move(mapped)) {}

  [[nodiscard]] bool is(const at::Tensor& table, const MappedTable* mapped) const {
    return table_.is_same(table) && mapped_.get() == mapped;
  }

  [[nodiscard]] EpisodeBatch gathered(const RowBatch& rows) const {
    if (mapped_ == nullptr) return gather(table_, rows);
    for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) mapped_->need(*part);
    return gather(mapped_->rows(), rows);
  }

  /// Episodes of this shape that may be tensors at once.
  [[nodiscard]] int64_t together(const RowBatch& rows) const {
    constexpr int64_t kFloats = int64_t{4} << 20;  // 16 MB
    const int64_t width = mapped_ == nullptr ? table_.size(1) : mapped_->rows().size(1);
    const int64_t images = std::max<int64_t>(1, rows.n * rows.k + rows.q + rows.u);
    return std::max<int64_t>(1, kFloats / (width * images));
  }

 private:
  at::Tensor table_;
  std::shared_ptr<const MappedTable> mapped_;
};

namespace {

/// The scores of a batch that is too large to be tensors at once.
EpisodeScores in_parts(const Scorer& scorer, const EpisodeTable& from, const RowBatch& rows) {
  std::vector<at::Tensor> logits;
  std::vector<at::Tensor> prototypes;
  std::vector<at::Tensor> unseen;
  const int64_t step = from.together(rows);
  for (int64_t begin = 0; begin < rows.size(); begin += step) {
    const RowBatch part = part_of(rows, begin, std::min(begin + step, rows.size()));
    const EpisodeScores scores = scorer.score_mapped(from.gathered(part));
    logits.push_back(scores.logits);
    prototypes.push_back(scores.prototypes);
    unseen.push_back(scores.unseen);
  }
  const auto whole = [](const std::vector<at::Tensor>& all) {
    return all.front().defined() ? at::cat(all) : at::Tensor();
  };
  return {at::cat(logits), whole(prototypes), whole(unseen)};
}

}  // namespace

/// What answers for a method: its part of a fast form, else its scorer.
struct Answerer {
  const FastForm* form = nullptr;
  size_t part = 0;  // of the form's answers
  std::unique_ptr<Scorer> scorer;
  size_t table = 0;  // of the scorer, in Impl::tables
};

struct ScorerGroup::Impl {
  at::Tensor table, maps;  // [m, d]; [m, c * h * w] or undefined
  std::vector<std::unique_ptr<FastForm>> forms;
  std::vector<Answerer> methods;
  std::vector<EpisodeTable> tables;

  /// Methods that map features alike share a table.
  size_t table_of(const at::Tensor& from, std::shared_ptr<const MappedTable> mapped) {
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].is(from, mapped.get())) return i;
    }
    tables.emplace_back(from, std::move(mapped));
    return tables.size() - 1;
  }
};

ScorerGroup::ScorerGroup(const Methods& methods, const MethodContext& context, const at::Tensor& table)
    : impl_(std::make_unique<Impl>()) {
  check_sizes(context, table);
  impl_->table = table;
  if (context.maps.defined()) impl_->maps = context.maps.flatten(1);
  FastForms forms(context, table);
  std::map<const FastForm*, size_t> joined;
  for (const auto& method : methods) {
    check_needs(*method, context);
    Answerer& own = impl_->methods.emplace_back();
    own.form = method->join(forms);
    if (own.form != nullptr) {
      own.part = joined[own.form]++;
      continue;
    }
    own.scorer = method->prepare(context);
    const at::Tensor& from = method->spec().has(Need::kFeatureMaps) ? impl_->maps : table;
    own.table = impl_->table_of(from, forms.mapped(from, own.scorer->feature_transform()));
  }
  impl_->forms = forms.take();
}

ScorerGroup::~ScorerGroup() = default;

std::vector<EpisodeScores> ScorerGroup::score(const RowBatch& rows) const {
  const at::NoGradGuard no_grad;
  const ThreadScope one_thread(1);
  std::map<const FastForm*, std::vector<EpisodeScores>> fast;
  for (const auto& form : impl_->forms) fast[form.get()] = form->score(rows);
  std::vector<std::optional<EpisodeBatch>> batches(impl_->tables.size());
  std::vector<EpisodeScores> scores;
  for (const Answerer& own : impl_->methods) {
    if (own.form != nullptr) {
      scores.push_back(std::move(fast[own.form][own.part]));
      continue;
    }
    const EpisodeTable& from = impl_->tables[own.table];
    if (from.together(rows) < rows.size()) {
      scores.push_back(in_parts(*own.scorer, from, rows));
      continue;
    }
    auto& batch = batches[own.table];
    if (!batch) batch = from.gathered(rows);
    scores.push_back(own.scorer->score_mapped(*batch));
  }
  return scores;
}

}  // namespace protocom
