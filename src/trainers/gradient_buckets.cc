#include "trainers/detail/gradient_buckets.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/torch.h>

#include "distributed/tensor_sums.h"

namespace protocom {

GradientBuckets::GradientBuckets(const std::vector<at::Tensor>& parameters, const ProcessGroup& group) : group_(group) {
  if (group.is_single()) return;
  const torch::NoGradGuard no_grad;
  self_ = std::make_shared<GradientBuckets*>(this);
  int64_t room = 0;
  // Backward reaches the last layers first.
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    // Averaged gradients keep equal weights equal but do not make them equal.
    broadcast(group, *parameter);
    const auto bytes = static_cast<int64_t>(parameter->nbytes());
    if (buckets_.empty() || room < bytes) {
      room = buckets_.empty() ? kFirstBucketBytes : kBucketBytes;
      buckets_.emplace_back();
    }
    room -= bytes;
    buckets_.back().parameters.push_back(*parameter);
    watch(*parameter, buckets_.size() - 1);
  }
}

GradientBuckets::~GradientBuckets() {
  if (self_) *self_ = nullptr;
}

void GradientBuckets::watch(const at::Tensor& parameter, size_t bucket) {
  using torch::autograd::variable_list;
  const auto accumulator = torch::autograd::impl::grad_accumulator(parameter);
  accumulators_.push_back(accumulator);  // the parameter does not own it
  accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
      [self = self_, bucket](const variable_list& outputs, const variable_list& /*inputs*/) {
        if (*self != nullptr) (*self)->arrived(bucket);
        return outputs;
      }));
}

void GradientBuckets::arrived(size_t bucket) {
  if (!armed_) return;
  --buckets_[bucket].missing;
  // All processes launch in the same order, in whatever order the gradients arrive.
  while (launched_ < buckets_.size() && buckets_[launched_].missing == 0) launch(buckets_[launched_++]);
}

void GradientBuckets::launch(Bucket& bucket) const {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : bucket.parameters) {
    at::Tensor parameter_of_bucket = parameter;
    if (!parameter_of_bucket.grad().defined()) parameter_of_bucket.mutable_grad() = at::zeros_like(parameter);
    parts.push_back(parameter_of_bucket.grad().reshape({-1}));
  }
  // The sum over processes is then the mean, the gradient of the loss over the whole batch.
  bucket.flat = at::cat(parts).div_(group_.size());
  bucket.wait = start_sum(group_, bucket.flat);
}

void GradientBuckets::collect(Bucket& bucket) const {
  bucket.wait();
  int64_t begin = 0;
  for (const at::Tensor& parameter : bucket.parameters) {
    at::Tensor gradient = parameter.grad();
    gradient.copy_(bucket.flat.slice(0, begin, begin + gradient.numel()).view(gradient.sizes()));
    begin += gradient.numel();
  }
  bucket.flat.reset();
}

void GradientBuckets::backward(const at::Tensor& loss) {
  if (buckets_.empty()) {
    loss.backward();
    return;
  }
  for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters.size();
  launched_ = 0;
  // Earlier backward passes were not averaged: their gradients were still to be added to.
  armed_ = true;
  guarded(group_, [&] {
    loss.backward();
    const torch::NoGradGuard no_grad;
    // Launches buckets with a parameter that took no part in this loss.
    while (launched_ < buckets_.size()) launch(buckets_[launched_++]);
    for (Bucket& bucket : buckets_) collect(bucket);
  });
  armed_ = false;
}

}  // namespace protocom
