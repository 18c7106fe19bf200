#include "heads/episode_batch.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace protocom {
namespace {

void expect(const at::Tensor& tensor, const char* name, const std::vector<int64_t>& sizes) {
  bool fits = tensor.defined() && tensor.dim() == static_cast<int64_t>(sizes.size());
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] < 0 || tensor.size(static_cast<int64_t>(i)) == sizes[i];
  if (fits) return;
  fail("the episodes' {}: expected [{}] (-1: any size), found {}", name, fmt::join(sizes, ", "),
       tensor.defined() ? fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")) : "none");
}

int64_t check_supports(const EpisodeBatch& batch, int64_t fewest) {
  const int64_t b = batch.query.size(0);
  const int64_t d = batch.query.size(2);
  expect(batch.support, "supports", {b, -1, -1, d});
  const int64_t n = batch.support.size(1);
  if (!batch.support_mask.defined()) {
    if (batch.support.size(2) < fewest) fail("every class needs at least one support");
    return n;
  }
  expect(batch.support_mask, "mask of supports", {b, n, batch.support.size(2)});
  if (fewest > 0 && !batch.support_mask.sum(-1).gt(0).all().item<bool>())
    fail("every class needs at least one support");
  return n;
}

}  // namespace

void check_batch(const EpisodeBatch& batch, int64_t fewest_shots) {
  expect(batch.query, "queries", {-1, -1, -1});
  const int64_t b = batch.query.size(0);
  const int64_t n = check_supports(batch, fewest_shots);
  if (n < 1) fail("an episode needs at least one class");
  if (batch.unlabelled.defined()) expect(batch.unlabelled, "unlabelled images", {b, -1, batch.query.size(2)});
  if (batch.classes.defined()) expect(batch.classes, "classes", {b, n});
  if (batch.shares.defined()) expect(batch.shares, "shares of the classes", {b, n});
  if (!batch.seed.empty() && static_cast<int64_t>(batch.seed.size()) != b)
    fail("expected one seed per episode, found {} episodes and {} seeds", b, batch.seed.size());
}

SupportStatistics support_statistics(const at::Tensor& support) {
  const int64_t shots = support.size(-2);
  auto groups = support.sizes().vec();
  groups.resize(groups.size() - 2);
  return {at::full(groups, static_cast<double>(shots), support.options()), support.sum(-2),
          (support * support).sum(-2)};
}

SupportStatistics statistics_of(const EpisodeBatch& batch) {
  if (!batch.support_mask.defined()) return support_statistics(batch.support);
  const at::Tensor present = batch.support * batch.support_mask.unsqueeze(-1);
  return {batch.support_mask.sum(-1), present.sum(-2), (present * present).sum(-2)};
}

at::Tensor mean_prototypes(const SupportStatistics& support) { return support.sum / support.count.unsqueeze(-1); }

const at::Tensor& unlabelled_of(const EpisodeBatch& batch) {
  return batch.unlabelled.defined() ? batch.unlabelled : batch.query;
}

}  // namespace protocom
