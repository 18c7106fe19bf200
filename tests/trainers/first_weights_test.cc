#include "trainers/detail/first_weights.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace protocom {
namespace {

std::unique_ptr<Backbone> fresh(const char* architecture) {
  torch::manual_seed(5);
  NetworkOptions options;
  options.architecture = architecture;
  options.image_size = 16;
  return make_backbone(options);
}

at::Tensor weight_of(const Backbone& backbone, const std::string& wanted) {
  for (const auto& [name, tensor] : backbone.state_dict()) {
    if (name == wanted) return tensor.detach();
  }
  throw std::runtime_error("there is no " + wanted);
}

/// Returns weights [out, in, k, k] as vectors [out, in k k].
at::Tensor rows_of(const at::Tensor& weight) { return weight.reshape({weight.size(0), -1}); }

TEST(PatchComponents, BeginWithWhatPatchesVaryIn) {
  // Red alternates by row: 1, -1, 1, ...; blue is half of that; there is no green.
  at::Tensor images = at::zeros({2, 3, 8, 8});
  const at::Tensor stripes = at::tensor({1.F, -1.F}).repeat({4}).view({8, 1}).expand({8, 8});
  images.select(1, 0).copy_(stripes);
  images.select(1, 2).copy_(0.5 * stripes);
  const at::Tensor components = patch_components(images, 3);
  EXPECT_EQ(components.sizes(), (std::vector<int64_t>{27, 3, 3, 3}));
  EXPECT_TRUE(at::allclose(at::matmul(rows_of(components), rows_of(components).t()), at::eye(27), 0, 1e-5));
  // All patches are plus or minus one patch: columns +, -, + of red, half of it of blue, divided by the length.
  const at::Tensor patch = images[0].slice(1, 0, 3).slice(2, 0, 3);
  const at::Tensor expected = patch / std::sqrt(9 * (1 + 0.25));
  EXPECT_NEAR((components[0] * expected).sum().abs().item<double>(), 1, 1e-5);
}

TEST(PatchComponents, HaveTheSignThatIsPromised) {
  torch::manual_seed(8);
  const at::Tensor components = rows_of(patch_components(at::randn({20, 3, 12, 12}), 3));
  EXPECT_GT(at::mv(components, at::arange(27).to(at::kFloat).cos()).min().item<double>(), 0);
}

TEST(WhitenFirstConvolution, PairsOfComponentsWhoseAnswersAreUncorrelated) {
  const auto backbone = fresh("conv4");
  const std::string name = backbone->state_dict().front().first;
  const at::Tensor before = weight_of(*backbone, name).clone();
  torch::manual_seed(6);
  // Neighbours are similar, as in photos.
  const at::Tensor smooth = at::avg_pool2d(at::rand({40, 3, 18, 18}), 3, 1);
  const at::Tensor pixels = (255 * smooth).permute({0, 2, 3, 1}).contiguous().to(at::kByte);
  std::vector<int64_t> rows(40);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  whiten_first_convolution(*backbone, pixels, rows, 1);
  const at::Tensor after = weight_of(*backbone, name);
  EXPECT_TRUE(at::equal(after.slice(0, 0, 27), -after.slice(0, 27, 54)));
  EXPECT_TRUE(at::equal(after.slice(0, 54), before.slice(0, 54)));
  const double length = std::sqrt(before.square().sum().item<double>() / 64);
  EXPECT_TRUE(at::allclose(rows_of(after).slice(0, 0, 54).norm(2, 1), at::full({54}, length), 1e-4));
  // Uses the backbone's normalisation: its mean and std of each colour.
  const NetworkOptions options = *backbone->options();
  at::Tensor images = pixels.permute({0, 3, 1, 2}).to(at::kFloat) / 255;
  for (int64_t c = 0; c < 3; ++c)
    images.select(1, c).sub_(options.mean[static_cast<size_t>(c)]).div_(options.std[static_cast<size_t>(c)]);
  const at::Tensor answers = at::conv2d(images, after.slice(0, 0, 27)).permute({1, 0, 2, 3}).reshape({27, -1});
  const at::Tensor moments = at::matmul(answers, answers.t()) / answers.size(1);
  const at::Tensor sizes = moments.diagonal().sqrt();
  const at::Tensor correlations = moments / (sizes.unsqueeze(1) * sizes);
  EXPECT_LT((correlations - at::eye(27)).abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(at::equal(std::get<0>(sizes.sort(0, true)), sizes)) << "those of most energy first";
}

TEST(PassInputsOn, AConvolutionGivesBackWhatItGets) {
  const auto backbone = fresh("resnet12");
  const at::Tensor first = weight_of(*backbone, "layer1.conv1.weight").clone();
  const at::Tensor shortcut = weight_of(*backbone, "layer2.downsample.0.weight").clone();
  const at::Tensor others = weight_of(*backbone, "layer2.conv1.weight").slice(0, 64).clone();
  pass_inputs_on(*backbone);
  torch::manual_seed(7);
  const at::Tensor input = at::randn({2, 64, 5, 5});
  const auto convolved = [&](const std::string& name) {
    return at::conv2d(input, weight_of(*backbone, name), {}, 1, 1);
  };
  EXPECT_TRUE(at::allclose(convolved("layer1.conv2.weight"), input, 0, 1e-6));
  EXPECT_TRUE(at::allclose(convolved("layer2.conv1.weight").slice(1, 0, 64), input, 0, 1e-6));
  EXPECT_TRUE(at::equal(weight_of(*backbone, "layer2.conv1.weight").slice(0, 64), others));
  EXPECT_TRUE(at::equal(weight_of(*backbone, "layer1.conv1.weight"), first));
  EXPECT_TRUE(at::equal(weight_of(*backbone, "layer2.downsample.0.weight"), shortcut));
}

}  // namespace
}  // namespace protocom
