#include "protocom/own_method.h"

#include <ATen/ATen.h>

#include <vector>

#include "api/detail/boundary.h"
#include "base/error.h"
#include "fewshot/add_method.h"

namespace protocom::v0 {
namespace {

/// One episode of a batch, its supports side by side.
struct PlainEpisode {
  std::vector<float> support;
  std::vector<int64_t> labels;
};

PlainEpisode supports_of(const protocom::EpisodeBatch& batch, int64_t episode) {
  const at::Tensor support = batch.support[episode].contiguous();
  const at::Tensor mask = batch.support_mask.defined() ? batch.support_mask[episode].contiguous() : at::Tensor();
  const int64_t k = support.size(1), d = support.size(2);
  PlainEpisode plain;
  for (int64_t i = 0; i < support.size(0) * k; ++i) {
    if (mask.defined() && mask.data_ptr<float>()[i] <= 0) continue;
    const float* row = support.data_ptr<float>() + i * d;
    plain.support.insert(plain.support.end(), row, row + d);
    plain.labels.push_back(i / k);
  }
  return plain;
}

void check_finite(const at::Tensor& logits, const OwnMethod& method) {
  if (!logits.isfinite().all().item<bool>())
    fail("the method '{}' gives logits that are NaN or infinite", method.name());
}

class OwnScorer : public protocom::Scorer {
 public:
  explicit OwnScorer(std::shared_ptr<const OwnMethod> method) : method_(std::move(method)) {}

 private:
  [[nodiscard]] protocom::EpisodeScores answer(const protocom::EpisodeBatch& batch) const override {
    const at::Tensor query = batch.query.contiguous();
    const int64_t b = query.size(0), q = query.size(1), n = batch.support.size(1);
    at::Tensor logits = at::zeros({b, q, n});
    for (int64_t i = 0; i < b; ++i) {
      const PlainEpisode plain = supports_of(batch, i);
      OwnTask task;
      task.classes = n;
      task.dim = query.size(2);
      task.supports = static_cast<int64_t>(plain.labels.size());
      task.queries = q;
      task.support = plain.support.data();
      task.labels = plain.labels.data();
      task.query = query.data_ptr<float>() + i * q * task.dim;
      task.seed = batch.seed.empty() ? 0 : batch.seed[static_cast<size_t>(i)];
      by_caller([&] { method_->score(task, logits.data_ptr<float>() + i * q * n); });
    }
    check_finite(logits, *method_);
    return {logits, {}};
  }

  std::shared_ptr<const OwnMethod> method_;
};

class AdaptedMethod : public protocom::Method {
 public:
  explicit AdaptedMethod(std::shared_ptr<const OwnMethod> method) : method_(std::move(method)) {}
  [[nodiscard]] std::unique_ptr<protocom::Scorer> prepare(const protocom::MethodContext&) const override {
    return std::make_unique<OwnScorer>(method_);
  }

 private:
  std::shared_ptr<const OwnMethod> method_;
};

}  // namespace

OwnMethod::OwnMethod() = default;
OwnMethod::~OwnMethod() = default;

void add_method(std::shared_ptr<const OwnMethod> method) {
  guarded([&] {
    if (!method) fail_usage("there is no method to add: the pointer is null");
    protocom::MethodSpec spec;
    by_caller([&] {
      spec.name = method->name();
      spec.about = method->about();
      spec.sees = method->is_transductive() ? protocom::Sees::kAllQueries : protocom::Sees::kEachQueryAlone;
    });
    protocom::add_method(std::move(spec), [method] { return std::make_unique<AdaptedMethod>(method); });
  });
}

}  // namespace protocom::v0
