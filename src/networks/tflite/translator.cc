#include "networks/tflite/detail/translator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace protocom::tflite {
namespace {

constexpr size_t kMostNameBytes = size_t{1} << 26;  // large networks have some hundred thousand

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

Range activation_range(const Tensor& result, int8_t activation) {
  Range range;
  switch (activation) {
    case kNone:
    case kTanh:
      break;
    case kRelu:
      range.least = 0;
      break;
    case kRelu1:
      range = {-1, 1};
      break;
    case kRelu6:
      range = {0, 6};
      break;
    default:
      fail("the activation {} is not supported", activation);
  }
  const bool quantised = (result.type == at::kByte || result.type == at::kChar) && result.scales.size() == 1;
  if (!quantised) return range;
  const double scale = result.scales[0];
  const double zero = result.zeros.empty() ? 0 : static_cast<double>(result.zeros[0]);
  const double first = result.type == at::kByte ? 0 : -128;
  range.least = std::max(range.least, (first - zero) * scale);
  range.most = std::min(range.most, (first + 255 - zero) * scale);
  return range;
}

}  // namespace

std::string Translator::constant(const at::Tensor& values) {
  const auto count = static_cast<size_t>(values.numel());
  if (count > values_left_) fail("its operators share weights that are together too many values for the file's size");
  values_left_ -= count;
  const std::string name = "constant " + std::to_string(model.constants.size());
  model.constants[name] = values.contiguous();
  return name;
}

void Translator::add(const char* op, std::vector<std::string> inputs, const std::string& result,
                     std::map<std::string, onnx::Attribute> attributes) {
  name_bytes_ += 2 * (sizeof(std::string) + result.size());
  for (const std::string& input : inputs) name_bytes_ += sizeof(std::string) + input.size();
  if (name_bytes_ > kMostNameBytes) fail("the names in its operators have more than {} bytes", kMostNameBytes);
  model.nodes.push_back({op, "", result, std::move(inputs), {result}, std::move(attributes)});
}

void Translator::add_activated(const char* op, std::vector<std::string> inputs, const Tensor& result, int8_t activation,
                               std::map<std::string, onnx::Attribute> attributes) {
  const Range range = activation_range(result, activation);
  const bool bounded = std::isfinite(range.most);
  if (!bounded && activation == kNone) return add(op, std::move(inputs), result.name, std::move(attributes));
  const std::string before = fresh();
  add(op, std::move(inputs), before, std::move(attributes));
  if (activation == kTanh) return add("Tanh", {before}, result.name);
  if (!bounded) return add("Relu", {before}, result.name);
  const auto bound = [&](double value) { return constant(at::scalar_tensor(value, at::kFloat)); };
  add("Clip", {before, bound(range.least), bound(range.most)}, result.name);
}

}  // namespace protocom::tflite
