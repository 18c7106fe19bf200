#include "tensors/tensors.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/threads.h"

namespace protocom {
namespace {

constexpr std::array<std::pair<NumberType, at::ScalarType>, 10> kTypes = {{{NumberType::kBool, at::kBool},
                                                                           {NumberType::kUInt8, at::kByte},
                                                                           {NumberType::kInt8, at::kChar},
                                                                           {NumberType::kInt16, at::kShort},
                                                                           {NumberType::kInt32, at::kInt},
                                                                           {NumberType::kInt64, at::kLong},
                                                                           {NumberType::kFloat16, at::kHalf},
                                                                           {NumberType::kBFloat16, at::kBFloat16},
                                                                           {NumberType::kFloat32, at::kFloat},
                                                                           {NumberType::kFloat64, at::kDouble}}};

// LibTorch sets OpenMP's number of threads at its first parallel operator in a thread; querying it has the same effect.
[[maybe_unused]] const bool kThreadsFollow = [] {
  follow_thread_count({[] { static_cast<void>(at::get_num_threads()); }, [](int all) { at::set_num_threads(all); }});
  return true;
}();

}  // namespace

at::ScalarType scalar_type_of(NumberType type) { return kTypes.at(static_cast<size_t>(type)).second; }

NumberType number_type_of(at::ScalarType type) {
  for (const auto& [ours, torchs] : kTypes) {
    if (torchs == type) return ours;
  }
  fail("numbers of type {} are not supported", c10::toString(type));
}

at::Tensor tensor_of(const Array& array) {
  if (!array.defined()) return {};
  const auto keep = [array](void*) {};
  return at::from_blob(const_cast<void*>(array.raw()), array.shape(), keep,
                       at::TensorOptions(scalar_type_of(array.type())));
}

Array array_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const auto plain = std::make_shared<at::Tensor>(tensor.detach().cpu().contiguous());
  return Array::view(plain->data_ptr(), plain->sizes().vec(), number_type_of(plain->scalar_type()), plain);
}

std::vector<int64_t> numbers_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

std::map<std::string, at::Tensor> tensors_of(const std::map<std::string, Array>& arrays) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, array] : arrays) tensors.emplace(name, tensor_of(array));
  return tensors;
}

std::vector<std::pair<std::string, Array>> arrays_of(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  std::vector<std::pair<std::string, Array>> arrays;
  arrays.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) arrays.emplace_back(name, array_of(tensor));
  return arrays;
}

}  // namespace protocom
