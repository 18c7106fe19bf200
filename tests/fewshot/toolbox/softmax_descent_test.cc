#include "fewshot/toolbox/detail/softmax_descent.h"

#include <ATen/ATen.h>

#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/vector_form.h"
#include "support/golden.h"
#include "support/vector_forms.h"

namespace protocom {
namespace {

using protocom::testing::error_of;

class SoftmaxDescentForms : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_vector_form(GetParam()); }

  const testing::VectorFormKept kept_;
  at::Generator generator_ = at::detail::createCPUGenerator(3);
  at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, generator_); }
};

/// Returns the losses of the same descent in plain tensors, with weights and bias of their own.
at::Tensor losses_of_descent(const at::Tensor& gram, const at::Tensor& start, const at::Tensor& labels, int64_t steps) {
  at::Tensor a = start.clone();  // [n, m] coefficients
  at::Tensor bias = at::zeros({start.size(0), 1}, at::kDouble);
  at::Tensor speed = at::zeros_like(a);
  at::Tensor bias_speed = at::zeros_like(bias);
  at::Tensor loss = at::zeros({gram.size(0)}, at::kDouble);
  const at::Tensor present = labels.sum(0, true);
  for (int64_t step = 0; step < steps; ++step) {
    const at::Tensor log_p = (at::mm(a, gram) + bias).log_softmax(0);
    loss -= (labels * log_p).sum(0);
    const at::Tensor pull = 0.1 * (log_p.exp() * present - labels);
    speed = 0.9 * speed + pull + 0.01 * a;
    bias_speed = 0.9 * bias_speed + pull.sum(1, true) + 0.01 * bias;
    a = a - 0.2 * speed;
    bias = bias - 0.2 * bias_speed;
  }
  return loss;
}

TEST_P(SoftmaxDescentForms, SumTheLossesOfASoftmaxRegressionOverItsTraining) {
  constexpr int64_t kPoints = 19;
  for (const int64_t n : {3, 5, 7}) {
    const at::Tensor x = random({kPoints, 30}).to(at::kDouble);
    const at::Tensor gram = at::mm(x, x.t());
    const at::Tensor coefficients = 0.05 * random({n, kPoints}).to(at::kDouble);
    at::Tensor labels = at::eye(n, at::kDouble).repeat({1, kPoints}).slice(1, 0, kPoints).contiguous();
    labels.slice(1, 4, 6).zero_();  // two that are left out
    const int64_t stride = padded_length(kPoints);
    const auto padded = [&](const at::Tensor& rows) {
      return at::constant_pad_nd(rows, {0, stride - kPoints}).contiguous();
    };
    const at::Tensor panels = padded(gram + 1).view({kPoints, -1, kRowMultiple}).transpose(0, 1).contiguous();
    const at::Tensor scores = at::mm(coefficients, gram);
    const at::Tensor start = padded(scores.slice(0, 0, n - 1) - scores.slice(0, n - 1));
    const at::Tensor target = padded(labels);
    std::vector<double> work(static_cast<size_t>((3 * n - 2) * stride));
    at::Tensor losses = at::empty({stride}, at::kDouble);
    softmax_descent({panels.data_ptr<double>(), start.data_ptr<double>(), target.data_ptr<double>(), n, kPoints, stride,
                     0.1, 0.2, 0.9, 0.01, 70, work.data()},
                    losses.data_ptr<double>());
    const at::Tensor present = labels.sum(0);
    const at::Tensor expected = losses_of_descent(gram, coefficients, labels, 70);
    EXPECT_LT(error_of((losses.slice(0, 0, kPoints) - expected) * present + 1, at::ones({kPoints}, at::kDouble)), 1e-9)
        << n;
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisProcessor, SoftmaxDescentForms, ::testing::ValuesIn(vector_form_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace protocom
