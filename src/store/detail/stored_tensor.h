#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace protocom {

/// The values of a tensor as a recognizer's blob, little-endian.
std::string to_blob(const at::Tensor& tensor, at::ScalarType type);

/// Whether all numbers are in [0, 1].
bool is_share(const at::Tensor& values);

/// A blob as a vector of `size` numbers of `type`. Throws Error that says `what` is damaged when it has another length
/// or numbers that are not finite.
at::Tensor from_blob(std::string_view blob, at::ScalarType type, int64_t size, const std::string& what);

}  // namespace protocom
