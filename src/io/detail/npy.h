#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"

namespace protocom::npy {

/// A parsed file in NumPy's array format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
struct View {
  std::string descr;  ///< "<f4", "<U9", ...
  std::vector<int64_t> shape;
  std::string_view data;  ///< the elements
  bool fortran = false;   ///< column-major
};

/// Parses the bytes of a `.npy`. Throws Error that begins with `where`.
View parse(std::string_view bytes, const std::string& where);
/// Whether it contains texts (`<U`, `|S`).
bool is_text(const View& view);
/// Returns a numeric array that owns its memory, in C order.
Array to_array(const View& view, const std::string& where);
/// Returns a text array (`<U`, `|S`) as UTF-8.
std::vector<std::string> to_strings(const View& view, const std::string& where);

/// Returns the header (magic, version, dict, padding) of an array's `.npy`.
std::string header_of(const Array& array);
/// Returns a whole `.npy` of strings (`<U`).
std::string encode(const std::vector<std::string>& strings);

}  // namespace protocom::npy
