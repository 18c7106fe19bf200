#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "protocom/core/npz.h"

namespace protocom {

/// An array of numbers, or of texts of one dimension as UTF-8.
using NumpyArray = std::variant<at::Tensor, std::vector<std::string>>;

/// A member of an npz, whichever it holds. Throws Error.
NumpyArray array_in(const NpzReader& reader, const std::string& name);
/// The array of a `.npy`. Throws Error.
NumpyArray read_npy_array(const std::filesystem::path& path);

}  // namespace protocom
