#include "networks/detail/conv4.h"

#include <string>

namespace protocom {
namespace {

constexpr int64_t kChannels = 64;
constexpr int kBlocks = 4;

}  // namespace

Conv4::Conv4() {
  for (int i = 0; i < kBlocks; ++i) {
    torch::nn::Sequential block;
    convs_.emplace_back(torch::nn::Conv2dOptions(i == 0 ? 3 : kChannels, kChannels, 3).padding(1));
    bns_.emplace_back(kChannels);
    block->push_back("conv", convs_.back());
    block->push_back("bn", bns_.back());
    register_module("layer" + std::to_string(i + 1), block);
  }
  initialise(*this);
}

at::Tensor Conv4::forward_maps(const at::Tensor& images) {
  at::Tensor output = images;
  for (size_t i = 0; i < convs_.size(); ++i) {
    output = at::max_pool2d(at::relu(conv_bn(convs_[i], bns_[i], output)), 2);
  }
  return output;
}

at::Tensor Conv4::forward(const at::Tensor& images) {
  // Flattens channels first whatever the memory format, like Python's view.
  return forward_maps(images).contiguous().flatten(1);  // [n, 64 * (h/16) * (w/16)]
}

int64_t Conv4::dim(int64_t image_size) const {
  const int64_t side = image_size >> kBlocks;
  return kChannels * side * side;
}

}  // namespace protocom
