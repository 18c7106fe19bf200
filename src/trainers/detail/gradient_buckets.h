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
  static constexpr int64_t kFirstBucketBytes = 1 << 20;  ///< small: the exchange begins early
  static constexpr int64_t kBucketBytes = 8 << 20;

  /// Makes every process's `parameters` those of process 0. Both must outlive it.
  GradientBuckets(const std::vector<at::Tensor>& parameters, const ProcessGroup& group);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  /// loss.backward(), and averages all that has been added to the gradients since they were zero: of several losses
  /// whose gradients add up, the last one. Every process calls it equally often. Throws Error that names a process that
  /// is gone.
  void backward(const at::Tensor& loss);

 private:
  struct Bucket {
    std::vector<at::Tensor> parameters;
    size_t missing = 0;          // gradients to come in this pass
    at::Tensor flat;             // those of all parameters, one after the other
    std::function<void()> wait;  // for the exchange under way
  };

  void watch(const at::Tensor& parameter, size_t bucket);
  void arrived(size_t bucket);
  void launch(Bucket& bucket) const;
  void collect(Bucket& bucket) const;

  const ProcessGroup& group_;
  std::vector<Bucket> buckets_;
  size_t launched_ = 0;
  bool armed_ = false;
  std::vector<std::shared_ptr<void>> accumulators_;  // whose hooks tell when a gradient is there
  std::shared_ptr<GradientBuckets*> self_;           // what the parameters' hooks hold: null once this object is gone
};

}  // namespace protocom
