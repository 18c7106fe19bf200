#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <memory>
#include <mutex>
#include <utility>

#include "protocom/fewshot/episode_batch.h"

namespace protocom {

/// What a scorer made of the supports it saw last. Enrolled classes are one episode that is asked about again and
/// again; with thousands of them what follows from the supports takes far longer than a query. Supports are known again
/// by their tensors, not by their values, so only callers that keep theirs gain. Several episodes at once are not
/// remembered, and nothing is while gradients are recorded. Thread-safe.
template <typename Value>
class LastSupports {
 public:
  /// `make()` of the batch, or what it gave for the same supports and classes.
  template <typename Make>
  std::shared_ptr<const Value> of(const EpisodeBatch& batch, const Make& make) const {
    const at::Tensor& supports = batch.support.defined() ? batch.support : batch.moments.sum;
    if (supports.size(0) != 1 || at::GradMode::is_enabled()) return std::make_shared<const Value>(make());
    const Key key{supports, batch.support_mask, batch.classes};
    {
      const std::lock_guard lock(mutex_);
      if (value_ != nullptr && key.is(key_)) return value_;
    }
    auto made = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    key_ = key;
    value_ = made;
    return made;
  }

 private:
  struct Key {
    Key() = default;
    Key(at::Tensor given_supports, at::Tensor given_mask, at::Tensor given_classes)
        : supports(std::move(given_supports)), mask(std::move(given_mask)), classes(std::move(given_classes)) {
      for (const at::Tensor* one : {&supports, &mask, &classes}) {
        if (one->defined() && !one->is_inference()) version += one->_version();
      }
    }
    /// The same tensors, and none was written to since.
    [[nodiscard]] bool is(const Key& other) const {
      return supports.is_same(other.supports) && mask.is_same(other.mask) && classes.is_same(other.classes) &&
             version == other.version;
    }

    at::Tensor supports, mask, classes;
    int64_t version = 0;
  };

  mutable std::mutex mutex_;
  mutable Key key_;
  mutable std::shared_ptr<const Value> value_;
};

}  // namespace protocom
