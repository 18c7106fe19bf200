#include "fewshot/row_batch.h"

#include <ATen/ATen.h>

namespace protocom {
namespace {

at::Tensor select(const at::Tensor& table, const std::vector<int64_t>& rows, at::IntArrayRef shape) {
  return table.index_select(0, at::tensor(rows, at::kLong)).to(at::kFloat).view(shape);
}

/// As `select`, with zeros where a row is absent (-1): no row is read in its place, which may not be there yet.
at::Tensor select_present(const at::Tensor& table, const at::Tensor& rows, at::IntArrayRef shape) {
  const at::Tensor where = rows.ge(0).nonzero().flatten();
  const at::Tensor present = table.index_select(0, rows.index_select(0, where)).to(at::kFloat);
  return at::zeros({rows.size(0), table.size(1)}).index_copy_(0, where, present).view(shape);
}

}  // namespace

EpisodeBatch gather(const at::Tensor& table, const RowBatch& rows) {
  const int64_t b = rows.size();
  const int64_t d = table.size(1);
  EpisodeBatch batch;
  const at::Tensor support = at::tensor(rows.support, at::kLong);
  if (support.lt(0).any().item<bool>()) {
    batch.support = select_present(table, support, {b, rows.n, rows.k, d});
    batch.support_mask = support.ge(0).to(at::kFloat).view({b, rows.n, rows.k});
  } else {
    batch.support = select(table, rows.support, {b, rows.n, rows.k, d});
  }
  batch.query = select(table, rows.query, {b, rows.q, d});
  if (rows.u > 0) batch.unlabelled = select(table, rows.unlabelled, {b, rows.u, d});
  batch.classes = at::tensor(rows.classes, at::kLong).view({b, rows.n});
  batch.seed = rows.seed;
  if (!rows.shares.empty()) batch.shares = at::tensor(rows.shares, at::kFloat).view({b, rows.n});
  return batch;
}

RowBatch part_of(const RowBatch& rows, int64_t begin, int64_t end) {
  RowBatch part = rows;
  const auto cut = [&](auto& list) {
    const auto each = static_cast<int64_t>(list.size()) / rows.size();
    list = {list.begin() + begin * each, list.begin() + end * each};
  };
  for (auto* list : {&part.classes, &part.support, &part.query, &part.unlabelled}) cut(*list);
  cut(part.seed);
  cut(part.shares);
  return part;
}

}  // namespace protocom
