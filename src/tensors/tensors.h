#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Conversions between modules on Array and those on LibTorch: both sides share the values.

/// Returns LibTorch's name of a type.
at::ScalarType scalar_type_of(NumberType type);
/// Returns our name of a type. Throws Error for one that Array does not have (complex numbers).
NumberType number_type_of(at::ScalarType type);

/// Returns a tensor on the values of an array, which it keeps alive; undefined for an undefined array.
at::Tensor tensor_of(const Array& array);
/// Returns an array on the values of a tensor, which it keeps alive; a copy if they are on another device or not
/// contiguous. Without gradients; undefined for an undefined tensor. Throws Error for a type that Array does not have.
Array array_of(const at::Tensor& tensor);

/// Returns the numbers of an int64 tensor [n].
std::vector<int64_t> numbers_of(const at::Tensor& tensor);

/// Returns several tensors by name.
std::map<std::string, at::Tensor> tensors_of(const std::map<std::string, Array>& arrays);
std::vector<std::pair<std::string, Array>> arrays_of(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

}  // namespace protocom
