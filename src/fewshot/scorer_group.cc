#include "protocom/fewshot/scorer_group.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "fewshot/fast_form.h"
#include "protocom/core/error.h"
#include "protocom/core/thread_scope.h"
#include "protocom/fewshot/method.h"

namespace protocom {
namespace {

void check_sizes(const MethodContext& context, const at::Tensor& table) {
  if (table.dim() != 2 || table.scalar_type() != at::kFloat || !table.device().is_cpu())
    fail("features must be a float32 matrix on the CPU");
  if (context.maps.defined() && context.maps.size(0) != table.size(0))
    fail("there are feature maps of {} images and features of {}", context.maps.size(0), table.size(0));
}

}  // namespace

/// A table of features after a FeatureTransform. Blocks of rows are mapped when they are first asked for, each at once
/// and in one way only, so that what a row gives depends neither on episodes nor on threads. Thread-safe.
class MappedTable {
 public:
  /// `table` float16 or float32 [m, d].
  MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map);

  [[nodiscard]] const FeatureTransform& map() const { return *map_; }
  /// Sees to it that these rows (-1: none) have their values.
  void need(const std::vector<int64_t>& rows) const;
  /// [m, e]; only rows that were needed have their values.
  [[nodiscard]] const at::Tensor& rows() const { return mapped_; }

 private:
  static constexpr int64_t kBlock = 256;  // rows

  void fill(int64_t block) const;

  at::Tensor table_;
  std::shared_ptr<const FeatureTransform> map_;
  at::Tensor mapped_;
  mutable std::vector<std::once_flag> filled_;
};

MappedTable::MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map)
    : table_(std::move(table)),
      map_(std::move(map)),
      mapped_(at::empty({table_.size(0), map_->map(table_.narrow(0, 0, 0).to(at::kFloat)).size(1)})),
      filled_(static_cast<size_t>((table_.size(0) + kBlock - 1) / kBlock)) {}

void MappedTable::fill(int64_t block) const {
  const int64_t begin = block * kBlock;
  const int64_t rows = std::min(kBlock, table_.size(0) - begin);
  mapped_.narrow(0, begin, rows).copy_(map_->map(table_.narrow(0, begin, rows).to(at::kFloat)));
}

void MappedTable::need(const std::vector<int64_t>& rows) const {
  for (const int64_t row : rows) {
    if (row >= 0) std::call_once(filled_[static_cast<size_t>(row / kBlock)], [&] { fill(row / kBlock); });
  }
}

/// A table that methods read their episodes from, as it is or through a FeatureTransform.
class EpisodeTable {
 public:
  /// `map` may be null.
  EpisodeTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map) : table_(std::move(table)) {
    if (map != nullptr) mapped_ = std::make_unique<MappedTable>(table_, std::move(map));
  }

  [[nodiscard]] bool is(const at::Tensor& table, const FeatureTransform* map) const {
    if (!table_.is_same(table) || (mapped_ == nullptr) != (map == nullptr)) return false;
    return map == nullptr || mapped_->map().same_as(*map);
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
  std::unique_ptr<MappedTable> mapped_;
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
  size_t table_of(const Scorer& scorer, const at::Tensor& from) {
    auto map = scorer.feature_transform();
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].is(from, map.get())) return i;
    }
    tables.emplace_back(from, std::move(map));
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
    own.table = impl_->table_of(*own.scorer, method->spec().has(Need::kFeatureMaps) ? impl_->maps : table);
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
