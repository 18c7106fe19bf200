#pragma once
#include <ATen/ATen.h>

#include "fewshot/row_batch.h"
#include "heads/episode_batch.h"

namespace protocom::testing {

/// Returns the rows of a batch as tensors, from a table of floats [m, d]; zeros and a mask where a support is absent.
inline EpisodeBatch gathered(const at::Tensor& table, const RowBatch& rows) {
  const int64_t b = rows.size(), d = table.size(1);
  const auto select = [&](const std::vector<int64_t>& numbers, at::IntArrayRef shape) {
    const at::Tensor all = at::tensor(numbers, at::kLong), where = all.ge(0).nonzero().flatten();
    const at::Tensor present = table.index_select(0, all.index_select(0, where)).to(at::kFloat);
    return at::zeros({all.size(0), d}).index_copy_(0, where, present).view(shape);
  };
  EpisodeBatch batch;
  batch.support = select(rows.support, {b, rows.n, rows.k, d});
  const at::Tensor there = at::tensor(rows.support, at::kLong).ge(0);
  if (!there.all().item<bool>()) batch.support_mask = there.to(at::kFloat).view({b, rows.n, rows.k});
  batch.query = select(rows.query, {b, rows.q, d});
  if (rows.u > 0) batch.unlabelled = select(rows.unlabelled, {b, rows.u, d});
  batch.classes = at::tensor(rows.classes, at::kLong).view({b, rows.n});
  batch.seed = rows.seed;
  if (!rows.shares.empty()) batch.shares = at::tensor(rows.shares, at::kFloat).view({b, rows.n});
  return batch;
}

}  // namespace protocom::testing
