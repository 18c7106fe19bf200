#include "networks/recorded/detail/step.h"

#include <ATen/ATen.h>

#include <utility>

#include "base/error.h"

namespace protocom::recorded {

namespace {

bool same_sizes(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || a.sizes() == b.sizes());
}

}  // namespace

bool is_fixed(const Item& item) {
  const c10::IValue &a = item.known, &b = item.other;
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isIntList() && b.isIntList()) return a.toIntVector() == b.toIntVector();
  if (a.isTensor() && b.isTensor()) return same_sizes(a.toTensor(), b.toTensor());
  return true;
}

Step::Step(const torch::jit::Node& node, Inputs inputs, onnx::GraphWriter& graph)
    : node_(node), inputs_(std::move(inputs)), graph_(graph) {}

const Item* Step::find(const char* argument) const {
  const auto* schema = node_.maybeSchema();
  const auto place = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(argument);
  return place ? &inputs_.items.at(static_cast<size_t>(*place)) : nullptr;
}

const Item& Step::at(const char* argument) const {
  const Item* found = find(argument);
  if (found == nullptr) fail("the operator '{}' has no argument '{}'", node_.kind().toQualString(), argument);
  return *found;
}

const Item& Step::fixed(const char* argument) const {
  const Item& item = at(argument);
  if (item.is_known && is_fixed(item)) return item;
  fail("the argument '{}' of the operator '{}' depends on the images", argument, node_.kind().toQualString());
}

bool Step::has(const char* argument) const {
  const Item* found = find(argument);
  return found != nullptr && !(found->is_known && found->known.isNone());
}

std::string Step::constant_of(const at::Tensor& values) const {
  const at::Tensor plain = values.detach().to(at::kFloat).contiguous();
  const auto* begin = plain.data_ptr<float>();
  return graph_.numbers({begin, begin + plain.numel()}, plain.sizes().vec());
}

std::string Step::value_of(const Item& item) const {
  if (!item.is_known) return item.name;
  if (item.known.isTensor()) return constant_of(item.known.toTensor());
  return graph_.number(item.known.toScalar().toDouble());
}

std::string Step::value(const char* argument) const {
  const Item& item = at(argument);
  return item.is_known ? value_of(fixed(argument)) : item.name;
}

std::vector<std::string> Step::values(const char* argument) const {
  std::vector<std::string> names;
  for (const Item& member : at(argument).members) names.push_back(value_of(member));
  return names;
}

at::Tensor Step::constant(const char* argument) const { return fixed(argument).known.toTensor(); }

int64_t Step::whole(const char* argument, int64_t otherwise) const {
  return has(argument) ? fixed(argument).known.toInt() : otherwise;
}
double Step::number(const char* argument, double otherwise) const {
  return has(argument) ? fixed(argument).known.toScalar().toDouble() : otherwise;
}
bool Step::truth(const char* argument, bool otherwise) const {
  return has(argument) ? fixed(argument).known.toBool() : otherwise;
}
std::vector<int64_t> Step::wholes(const char* argument) const {
  return has(argument) ? fixed(argument).known.toIntVector() : std::vector<int64_t>{};
}
std::string Step::text(const char* argument, const std::string& otherwise) const {
  return has(argument) ? fixed(argument).known.toStringRef() : otherwise;
}

const Lengths& Step::sizes(const char* argument) const {
  const auto place = node_.schema().argumentIndexWithName(argument);
  if (!place) fail("the operator '{}' has no argument '{}'", node_.kind().toQualString(), argument);
  return inputs_.sizes.at(static_cast<size_t>(*place));
}

int64_t Step::axis(const char* argument) const {
  const int64_t stated = whole(argument);
  return stated < 0 ? stated + static_cast<int64_t>(sizes("self").size()) : stated;
}

}  // namespace protocom::recorded
