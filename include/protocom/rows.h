#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// A matrix owned by the library: float32 [rows, columns], row-major.
struct Matrix {
  std::vector<float> values;
  int64_t rows = 0;
  int64_t columns = 0;

  /// Pointer to row i, which has `columns` numbers.
  [[nodiscard]] const float* row(int64_t i) const { return values.data() + i * columns; }
  [[nodiscard]] float operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * columns + j)]; }
};

/// Features of images in the caller's memory, [rows, dim], row-major without gaps. The call that receives them copies
/// them and checks that they are finite; the memory must be valid until then.
class PROTOCOM_API Rows {
 public:
  /// Throws Error for a null pointer, a negative number of rows, and fewer than one number per row.
  Rows(const float* values, int64_t rows, int64_t dim);
  /// Takes doubles, which are converted to float32. Throws likewise.
  Rows(const double* values, int64_t rows, int64_t dim);
  /// Takes values.size() / dim rows. Throws Error if that is not a whole number.
  Rows(const std::vector<float>& values, int64_t dim);
  Rows(const std::vector<double>& values, int64_t dim);
  Rows(const Matrix& matrix);  // NOLINT: a matrix is rows

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t dim() const { return dim_; }
  /// Null if the values are doubles; doubles() is null if they are floats.
  [[nodiscard]] const float* floats() const { return floats_; }
  [[nodiscard]] const double* doubles() const { return doubles_; }

 private:
  void check(bool is_there) const;

  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
  int64_t rows_ = 0;
  int64_t dim_ = 0;
};

/// The class of each image, copied: a number in [0, c), or a name.
class PROTOCOM_API Labels {
 public:
  /// Throws Error for a null pointer and a negative count.
  Labels(const int64_t* labels, int64_t count);
  Labels(const int32_t* labels, int64_t count);
  Labels(const std::vector<int64_t>& labels);  // NOLINT: as the ones that follow, a list of labels is Labels
  Labels(const std::vector<int32_t>& labels);  // NOLINT
  /// Takes names of classes, which are numbered in alphabetical order. Throws Error for an empty name.
  Labels(const std::vector<std::string>& labels);  // NOLINT

  [[nodiscard]] const std::vector<int64_t>& numbers() const { return numbers_; }
  /// The class names [c] if labels were given as names; else empty.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<int64_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace protocom::v0
