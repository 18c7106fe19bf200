#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Reads MATLAB's `.mat` of versions 5 to 7 without MATLAB: matrices of numbers and cells of texts. Throws Error with
/// file and variable; opening refuses a file that states more data than it has, before allocating memory for it, and
/// version 7.3 with the remedy.
class MatFile {
 public:
  explicit MatFile(const std::filesystem::path& path);
  ~MatFile();
  MatFile(const MatFile&) = delete;
  MatFile& operator=(const MatFile&) = delete;

  [[nodiscard]] bool has(const std::string& name) const;
  /// Returns a matrix of numbers as float64 [rows, columns].
  [[nodiscard]] Array matrix(const std::string& name) const;
  /// Returns a cell array whose elements are rows of characters, as UTF-8.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
