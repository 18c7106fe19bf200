#include "distributed/tensor_sums.h"
#include "networks/detail/batch_norm.h"

namespace protocom {
namespace {

thread_local const ProcessGroup* shared_group = nullptr;

/// Broadcasts one value per channel over [n, c, h, w].
at::Tensor over_images(const at::Tensor& per_channel) { return per_channel.reshape({1, -1, 1, 1}); }

at::Tensor channel_sums(const at::Tensor& images) { return images.sum({0, 2, 3}, /*keepdim=*/false, at::kFloat); }

/// Computes y = (x - mean) * invstd * weight + bias over all processes. With xhat = (x - mean) * invstd and N values
/// per channel, dx = weight * invstd * (dy - sum(dy) / N - xhat * sum(dy * xhat) / N), whose sums are over all
/// processes too (Ioffe & Szegedy 2015). The gradients of weight and bias are this process's own: the gradient buckets
/// sum them.
class SharedBatchNorm : public torch::autograd::Function<SharedBatchNorm> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& mean,
                            const at::Tensor& invstd, double count, int64_t group) {
    context->save_for_backward({input, weight, mean, invstd});
    context->saved_data["count"] = count;
    context->saved_data["group"] = group;
    const at::Tensor scale = weight * invstd;
    return (input * over_images(scale) + over_images(bias - mean * scale)).to(input.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &invstd = saved[3];
    const double count = context->saved_data["count"].toDouble();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): autograd's context keeps numbers, not pointers
    const auto* group = reinterpret_cast<const ProcessGroup*>(context->saved_data["group"].toInt());
    const at::Tensor& dy = gradients[0];
    const at::Tensor normalised = (input - over_images(mean)) * over_images(invstd);
    const at::Tensor bias_gradient = channel_sums(dy);
    const at::Tensor weight_gradient = channel_sums(dy * normalised);
    at::Tensor sums = at::stack({bias_gradient, weight_gradient});
    protocom::sum(*group, sums);
    sums /= count;
    const at::Tensor dx =
        (dy - over_images(sums[0]) - normalised * over_images(sums[1])) * over_images(weight * invstd);
    return {dx.to(input.scalar_type()), weight_gradient, bias_gradient, {}, {}, {}, {}};
  }
};

/// Count, mean and (biased) variance of every channel over all processes.
struct ChannelStatistics {
  double count = 0;
  at::Tensor mean;
  at::Tensor variance;
};

ChannelStatistics shared_statistics(const at::Tensor& input, const ProcessGroup& group) {
  const torch::NoGradGuard no_grad;
  const int64_t a_channel = input.numel() / input.size(1);
  const auto values = static_cast<double>(a_channel);
  at::Tensor count = at::full({1}, values, input.options().dtype(at::kFloat));
  at::Tensor sum = channel_sums(input);
  protocom::sum(group, count);
  protocom::sum(group, sum);
  ChannelStatistics all{count.item<double>(), {}, {}};
  all.mean = sum / all.count;
  // Around the overall mean, to avoid cancellation.
  at::Tensor squares = channel_sums((input.to(at::kFloat) - over_images(all.mean)).square());
  protocom::sum(group, squares);
  all.variance = squares / all.count;
  return all;
}

void follow(torch::nn::BatchNorm2d& norm, const ChannelStatistics& batch) {
  const torch::NoGradGuard no_grad;
  const double momentum = norm->options.momentum().value_or(0.1);
  norm->num_batches_tracked += 1;
  norm->running_mean.lerp_(batch.mean, momentum);
  norm->running_var.lerp_(batch.variance * (batch.count / (batch.count - 1)), momentum);
}

}  // namespace

SharedBatchStatistics::SharedBatchStatistics(const ProcessGroup& group) : before_(shared_group) {
  shared_group = group.is_single() ? nullptr : &group;
}

SharedBatchStatistics::~SharedBatchStatistics() { shared_group = before_; }

at::Tensor batch_norm(torch::nn::BatchNorm2d& norm, const at::Tensor& input) {
  if (shared_group == nullptr) return norm(input);
  const ChannelStatistics batch = shared_statistics(input, *shared_group);
  follow(norm, batch);
  const at::Tensor invstd = (batch.variance + norm->options.eps()).rsqrt();
  return SharedBatchNorm::apply(input, norm->weight, norm->bias, batch.mean, invstd, batch.count,
                                reinterpret_cast<int64_t>(shared_group));
}

}  // namespace protocom
