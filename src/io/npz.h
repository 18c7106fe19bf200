#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Reads NumPy's `.npz` (stored or deflated) without Python. Numeric members become arrays; `<U` and `|S` members
/// become strings. Big-endian and Fortran-order arrays are converted; object arrays are refused by name. Throws Error.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path);
  ~NpzReader();
  NpzReader(const NpzReader&) = delete;
  NpzReader& operator=(const NpzReader&) = delete;

  [[nodiscard]] bool has(const std::string& name) const;
  /// Member names in file order, without ".npy".
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns a numeric member with its own type and shape; unsigned numbers of more than a byte as int64.
  [[nodiscard]] Array array(const std::string& name) const;
  /// Returns a one-dimensional text member as UTF-8.
  [[nodiscard]] std::vector<std::string> strings(const std::string& name) const;
  /// Returns a member's raw bytes (for members that are not arrays, such as "header.json").
  [[nodiscard]] std::string bytes(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a `.npz` that NumPy opens. Members are stored uncompressed; the file appears at its path only if `close`
/// succeeds.
class NpzWriter {
 public:
  explicit NpzWriter(std::filesystem::path path);
  ~NpzWriter();

  void add(const std::string& name, const Array& array);
  void add(const std::string& name, const std::vector<std::string>& strings);
  void add_bytes(const std::string& name, std::string bytes);
  /// Writes everything. Throws Error; no partial file is left.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a single `.npy` array from a file. Throws Error.
Array read_npy(const std::filesystem::path& path);

/// An array of numbers, or of texts of one dimension as UTF-8.
using NumpyArray = std::variant<Array, std::vector<std::string>>;

/// Returns a member of an npz of either type. Throws Error.
NumpyArray array_in(const NpzReader& reader, const std::string& name);
/// Returns the array of a `.npy` of either type. Throws Error.
NumpyArray read_npy_array(const std::filesystem::path& path);

}  // namespace protocom
