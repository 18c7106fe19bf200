#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// Vectors beside one another: row i holds coordinate i of each, so that loops run along vectors. float64.
struct VectorColumns {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;  ///< [rows, columns]

  VectorColumns(int64_t of_rows, int64_t of_columns)
      : rows(of_rows), columns(of_columns), values(static_cast<size_t>(of_rows * of_columns)) {}
  double* row(int64_t i) { return values.data() + i * columns; }
  [[nodiscard]] const double* row(int64_t i) const { return values.data() + i * columns; }
};

/// T + s I = L D L' of a tridiagonal T [n, n], positive definite.
class ShiftedTridiagonal {
 public:
  /// `diagonal` [n], `beside` [n] with one number of no meaning at its end.
  ShiftedTridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside, double shift);

  /// log |T + s I|
  [[nodiscard]] double log_determinant() const;
  /// Each vector v becomes (T + s I)^-1 v.
  void solve(VectorColumns& vectors) const;
  /// v' (T + s I)^-1 v of each vector.
  [[nodiscard]] std::vector<double> squares(const VectorColumns& vectors) const;

 private:
  std::vector<double> pivots_;   // [n], D
  std::vector<double> factors_;  // [n], L below its diagonal; the last has no meaning
};

/// A = V diag(values) V'.
struct SymmetricEigen {
  std::vector<double> values;  ///< [n], in no order
  VectorColumns vectors;       ///< [n, n], V': a row each
};

/// A symmetric A = Q T Q' by Householder's reflections (Golub and Van Loan, Matrix Computations, 8.3.1). Where only
/// (A + s I)^-1 v and determinants are asked for, this takes the place of eigenvectors: n^3 multiply-adds once, n for
/// each vector and each s.
class Tridiagonal {
 public:
  /// `matrix` [n, n], of which both halves are read.
  Tridiagonal(std::vector<double> matrix, int64_t n);

  /// Each vector v becomes Q' v.
  void rotate(VectorColumns& vectors) const;
  /// `shift` such that T + s I is positive definite.
  [[nodiscard]] ShiftedTridiagonal plus(double shift) const { return {diagonal_, beside_, shift}; }
  /// By implicit QR steps with Wilkinson's shift (ibid., 8.3.5), up to rounding of the largest eigenvalue. For small
  /// matrices: of 20 rows LAPACK's take three times as long.
  [[nodiscard]] SymmetricEigen eigen() const;

 private:
  int64_t n_;
  std::vector<double> reflections_;  // [n, n]: row k from k + 1 on is what reflection k is along
  std::vector<double> scales_;       // [n], 2 / its squared length; 0: moves nothing
  std::vector<double> diagonal_;     // [n]
  std::vector<double> beside_;       // [n]
};

}  // namespace protocom
