#include "trainers/detail/cpde_loss.h"

#include <cmath>

#include "heads/cosine_classifier.h"
#include "heads/primitive_enhancing.h"
#include "trainers/detail/split_orders.h"

namespace protocom {

CpdeHeads::CpdeHeads(int64_t dim, int64_t channels, int64_t classes) {
  constexpr double kFirstScale = 10;
  // About unit length: the longer a direction is, the less a step turns it.
  directions = (at::randn({classes, dim}) / std::sqrt(static_cast<double>(dim))).requires_grad_();
  log_scale = at::full({}, std::log(kFirstScale)).requires_grad_();
  order = torch::nn::Linear(kSplits * channels, kSplitOrders);
}

std::vector<std::pair<std::string, at::Tensor>> CpdeHeads::named() const {
  return {{"cpde.directions", directions},
          {"cpde.log_scale", log_scale},
          {"cpde.order.weight", order->weight},
          {"cpde.order.bias", order->bias}};
}

std::vector<at::Tensor> CpdeHeads::parameters() const {
  std::vector<at::Tensor> all;
  for (const auto& [name, tensor] : named()) all.push_back(tensor);
  return all;
}

void CpdeHeads::to(c10::Device device) {
  directions = directions.detach().to(device).requires_grad_();
  log_scale = log_scale.detach().to(device).requires_grad_();
  order->to(device);
}

at::Tensor cpde_logits(const at::Tensor& features, const CpdeHeads& heads, double enhancing) {
  return heads.log_scale.exp() *
         protocom::cosine_similarity(enhanced_primitives(features, enhancing), heads.directions);
}

at::Tensor order_loss(const at::Tensor& channels, const at::Tensor& orders, const CpdeHeads& heads) {
  return at::cross_entropy_loss(
      at::linear(channels.reshape({orders.size(0), -1}), heads.order->weight, heads.order->bias), orders);
}

}  // namespace protocom
