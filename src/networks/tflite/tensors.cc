#include "networks/tflite/detail/tensors.h"

#include <array>
#include <cstring>

#include "base/error.h"

namespace protocom::tflite {
namespace {

constexpr size_t kMostTensorDims = 8;
constexpr size_t kLongestName = size_t{1} << 14;  // in bytes: every operator that takes the tensor has it

/// TensorType.
at::ScalarType scalar_type(int8_t type) {
  constexpr at::ScalarType kNone = at::ScalarType::Undefined;
  // In the order of their numbers, from 0 on.
  constexpr std::array<at::ScalarType, 10> kAll = {at::kFloat, at::kHalf, at::kInt,   at::kByte, at::kLong,
                                                   kNone,      at::kBool, at::kShort, kNone,     at::kChar};
  const auto place = static_cast<size_t>(static_cast<uint8_t>(type));
  if (place >= kAll.size() || kAll[place] == kNone) fail("a tensor of TensorFlow's type {} is not supported", type);
  return kAll[place];
}

at::Tensor raw_tensor(const Tensor& tensor, std::string_view bytes) {
  int64_t needed = static_cast<int64_t>(c10::elementSize(tensor.type));
  for (const int64_t size : tensor.shape) {
    if (size < 0 || __builtin_mul_overflow(needed, size, &needed))
      fail("tensor '{}' has the shape [{}], which is negative or too large", excerpt(tensor.name),
           fmt::join(tensor.shape, ", "));
  }
  if (needed != static_cast<int64_t>(bytes.size()))
    fail("tensor '{}' has {} bytes, its shape needs {}; the file is damaged", excerpt(tensor.name), bytes.size(),
         needed);
  at::Tensor raw = at::empty(tensor.shape, tensor.type);
  if (needed > 0) std::memcpy(raw.data_ptr(), bytes.data(), bytes.size());
  return raw;
}

/// Computes (q - zero) * scale, for the whole tensor or for each position of an axis.
at::Tensor dequantised(const Tensor& tensor, const at::Tensor& raw) {
  if (raw.scalar_type() == at::kHalf) return raw.to(at::kFloat);
  if (tensor.scales.empty()) return raw;
  std::vector<int64_t> sizes(tensor.shape.size(), 1);
  const auto count = static_cast<int64_t>(tensor.scales.size());
  if (count > 1) {
    if (tensor.axis < 0 || tensor.axis >= static_cast<int64_t>(sizes.size()) ||
        tensor.shape[static_cast<size_t>(tensor.axis)] != count)
      fail("tensor '{}' has {} scales that do not fit its shape", excerpt(tensor.name), count);
    sizes[static_cast<size_t>(tensor.axis)] = count;
  }
  if (!tensor.zeros.empty() && tensor.zeros.size() != tensor.scales.size())
    fail("tensor '{}' has {} scales and {} zeros", excerpt(tensor.name), count, tensor.zeros.size());
  const at::Tensor scale = at::tensor(tensor.scales, at::kFloat).view(sizes);
  const at::Tensor zero =
      tensor.zeros.empty() ? at::zeros({1}, at::kLong) : at::tensor(tensor.zeros, at::kLong).view(sizes);
  return (raw.to(at::kDouble) - zero).to(at::kFloat) * scale;
}

}  // namespace

Tensor read_tensor(const FlatTable& table, const std::vector<FlatTable>& buffers, size_t number) {
  Tensor tensor;
  if (const size_t size = table.bytes(3).size(); size > kLongestName)
    fail("tensor {} has a name of {} bytes, expected at most {}", number, size, kLongestName);
  tensor.name = table.text(3);
  if (tensor.name.empty()) tensor.name = "tensor " + std::to_string(number);
  for (const int32_t size : table.numbers<int32_t>(0)) tensor.shape.push_back(size);
  if (tensor.shape.size() > kMostTensorDims)
    fail("tensor '{}' has {} axes, expected at most {}", excerpt(tensor.name), tensor.shape.size(), kMostTensorDims);
  tensor.type = scalar_type(table.number<int8_t>(1, 0));
  if (table.has(4)) {
    const FlatTable quantisation = table.table(4);
    tensor.scales = quantisation.numbers<float>(2);
    tensor.zeros = quantisation.numbers<int64_t>(3);
    tensor.axis = quantisation.number<int32_t>(6, 0);
  }
  const auto buffer = table.number<uint32_t>(2, 0);
  if (buffer >= buffers.size())
    fail("tensor '{}': buffer {} is out of range: there are {}", excerpt(tensor.name), buffer, buffers.size());
  const std::string_view bytes = buffers[buffer].bytes(0);
  if (!bytes.empty()) tensor.constant = dequantised(tensor, raw_tensor(tensor, bytes));
  return tensor;
}

}  // namespace protocom::tflite
