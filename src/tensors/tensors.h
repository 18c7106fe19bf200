#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The border between modules on Array and those on LibTorch: the same values in both, which go when the others follow.

/// LibTorch's name of a type.
at::ScalarType scalar_type_of(NumberType type);
/// Ours. Throws Error for one that we have not (complex numbers).
NumberType number_type_of(at::ScalarType type);

/// A tensor on the values of an array, which it keeps alive; undefined for an undefined one.
at::Tensor tensor_of(const Array& array);
/// An array on the values of a tensor, which it keeps alive; a copy where they are on another device or not contiguous.
/// Without gradients; undefined for an undefined tensor. Throws Error for a type that we have not.
Array array_of(const at::Tensor& tensor);

/// The numbers of an int64 tensor [n].
std::vector<int64_t> numbers_of(const at::Tensor& tensor);

/// Several by their names.
std::map<std::string, at::Tensor> tensors_of(const std::map<std::string, Array>& arrays);
std::vector<std::pair<std::string, Array>> arrays_of(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

}  // namespace protocom
