#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "jobs/process_group.h"

namespace protocom {

/// Averages the gradients of parameters over the processes of a group while backward still computes the rest of them,
/// in buckets, as PyTorch's DistributedDataParallel does (Li et al. 2020); its Reducer cannot be used, because Debian's
/// LibTorch does not install the headers it includes. Does nothing in a group of one.
class GradientBuckets {
 public:
  static constexpr int64_t kFirstBucketBytes = 1 << 20;  ///< small, so that the exchange starts early
  static constexpr int64_t kBucketBytes = 8 << 20;

  /// Copies the `parameters` of process 0 to every process. Both arguments must outlive it.
  GradientBuckets(const std::vector<at::Tensor>& parameters, const ProcessGroup& group);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  /// Runs loss.backward(), and averages all that has been added to the gradients since they were zero: call it for the
  /// last of several losses whose gradients add up. Every process calls it equally often. Throws Error that names a
  /// process that is gone.
  void backward(const at::Tensor& loss);

 private:
  struct Bucket {
    std::vector<at::Tensor> parameters;
    size_t missing = 0;          // gradients to come in this pass
    at::Tensor flat;             // of all parameters, one after the other
    std::function<void()> wait;  // waits for the exchange under way
  };

  void watch(const at::Tensor& parameter, size_t bucket);
  void arrived(size_t bucket);
  void launch(Bucket& bucket) const;
  void collect(Bucket& bucket) const;

  const ProcessGroup& group_;
  std::vector<Bucket> buckets_;
  size_t launched_ = 0;
  bool armed_ = false;
  std::vector<std::shared_ptr<void>> accumulators_;  // their hooks tell when a gradient is there
  std::shared_ptr<GradientBuckets*> self_;           // held by the parameters' hooks: null once this object is gone
};

}  // namespace protocom
