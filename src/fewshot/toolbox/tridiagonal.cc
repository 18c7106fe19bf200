#include "fewshot/toolbox/detail/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "fewshot/toolbox/detail/processor_vectors.h"

namespace protocom {
namespace {

// Loops along rows, which the compiler makes vectors of in each form.

/// to += factor * row
PROTOCOM_INLINE void add_row(double* __restrict to, const double* __restrict row, double factor, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += factor * row[j];
}

/// to += a * x + b * y
PROTOCOM_INLINE void add_rows(double* __restrict to, const double* __restrict x, double a, const double* __restrict y,
                              double b, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += a * x[j] + b * y[j];
}

/// What is right of and below `corner` in rows of `stride` becomes (I - scale v v') A (I - scale v v'); `work` [n].
PROTOCOM_INLINE void reflect_both_sides(double* corner, int64_t stride, const double* v, double scale, double* work,
                                        int64_t n) {
  for (int64_t j = 0; j < n; ++j) work[j] = 0;
  for (int64_t i = 0; i < n; ++i) add_row(work, corner + i * stride, scale * v[i], n);
  double along = 0;
  for (int64_t j = 0; j < n; ++j) along += work[j] * v[j];
  add_row(work, v, -0.5 * scale * along, n);
  for (int64_t i = 0; i < n; ++i) add_rows(corner + i * stride, v, -work[i], work, -v[i], n);
}

/// Each of `columns` vectors x of `n` rows becomes (I - scale v v') x; `work` [columns].
PROTOCOM_INLINE void reflect_columns(double* rows, int64_t columns, const double* v, double scale, double* work,
                                     int64_t n) {
  for (int64_t j = 0; j < columns; ++j) work[j] = 0;
  for (int64_t i = 0; i < n; ++i) add_row(work, rows + i * columns, scale * v[i], columns);
  for (int64_t i = 0; i < n; ++i) add_row(rows + i * columns, work, -v[i], columns);
}

/// Rows x and y of a matrix become c x + s y and c y - s x.
PROTOCOM_INLINE void rotate_rows(double* __restrict x, double* __restrict y, double c, double s, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double from = x[j];
    x[j] = c * from + s * y[j];
    y[j] = c * y[j] - s * from;
  }
}

PROTOCOM_FORMS(reflect_both_sides, void,
               (double* corner, int64_t stride, const double* v, double scale, double* work, int64_t n),
               reflect_both_sides, (corner, stride, v, scale, work, n))
PROTOCOM_FORMS(reflect_columns, void,
               (double* rows, int64_t columns, const double* v, double scale, double* work, int64_t n), reflect_columns,
               (rows, columns, v, scale, work, n))
PROTOCOM_FORMS(add_row, void, (double* to, const double* row, double factor, int64_t n), add_row, (to, row, factor, n))
PROTOCOM_FORMS(rotate_rows, void, (double* x, double* y, double c, double s, int64_t n), rotate_rows, (x, y, c, s, n))

/// What row [n] is turned into a multiple of the first axis by: the row becomes the direction to reflect along. Gives
/// 2 / its squared length, and that multiple.
std::pair<double, double> reflection_of(double* row, int64_t n) {
  double rest = 0;
  for (int64_t j = 1; j < n; ++j) rest += row[j] * row[j];
  if (!(rest > 0)) return {0, row[0]};
  // Away from the first coordinate's sign, so that nothing cancels.
  const double image = std::copysign(std::sqrt(row[0] * row[0] + rest), -row[0]);
  row[0] -= image;
  return {2 / (row[0] * row[0] + rest), image};
}

/// QR steps for each eigenvalue: two are usual.
constexpr int64_t kMostSteps = 30;

/// One step in the rows [first, last] of a tridiagonal matrix of which `values` and `beside` are what is left.
void qr_step(SymmetricEigen& eigen, std::vector<double>& beside, int64_t first, int64_t last) {
  double* d = eigen.values.data();
  double* e = beside.data();
  const auto rotate = rotate_rows_form();
  const double half = (d[last - 1] - d[last]) / 2, off = e[last - 1];
  const double shift = d[last] - off * off / (half + std::copysign(std::sqrt(half * half + off * off), half));
  double along = d[first] - shift, bulge = e[first];
  for (int64_t k = first; k < last; ++k) {
    const double length = std::sqrt(along * along + bulge * bulge);
    const double c = length > 0 ? along / length : 1, s = length > 0 ? bulge / length : 0;
    if (k > first) e[k - 1] = length;
    const double upper = d[k], lower = d[k + 1], between = e[k];
    const double turned = 2 * c * s * between;
    d[k] = c * c * upper + turned + s * s * lower;
    d[k + 1] = s * s * upper - turned + c * c * lower;
    e[k] = c * s * (lower - upper) + (c * c - s * s) * between;
    along = e[k];
    if (k + 1 < last) {
      bulge = s * e[k + 1];
      e[k + 1] *= c;
    }
    rotate(eigen.vectors.row(k), eigen.vectors.row(k + 1), c, s, eigen.vectors.columns);
  }
}

}  // namespace

ShiftedTridiagonal::ShiftedTridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside,
                                       double shift)
    : pivots_(diagonal.size()), factors_(diagonal.size()) {
  double before = 0;  // what the pivot above takes away
  for (size_t i = 0; i < diagonal.size(); ++i) {
    pivots_[i] = diagonal[i] + shift - before;
    factors_[i] = beside[i] / pivots_[i];
    before = factors_[i] * beside[i];
  }
}

double ShiftedTridiagonal::log_determinant() const {
  double sum = 0;
  for (const double pivot : pivots_) sum += std::log(pivot);
  return sum;
}

void ShiftedTridiagonal::solve(VectorColumns& vectors) const {
  const auto add = add_row_form();
  const int64_t n = vectors.rows, columns = vectors.columns;
  const auto factor = [&](int64_t i) { return factors_[static_cast<size_t>(i)]; };
  for (int64_t i = 1; i < n; ++i) add(vectors.row(i), vectors.row(i - 1), -factor(i - 1), columns);
  for (int64_t i = n; i-- > 0;) {
    double* row = vectors.row(i);
    for (int64_t j = 0; j < columns; ++j) row[j] /= pivots_[static_cast<size_t>(i)];
    if (i + 1 < n) add(row, vectors.row(i + 1), -factor(i), columns);
  }
}

std::vector<double> ShiftedTridiagonal::squares(const VectorColumns& vectors) const {
  const auto columns = static_cast<size_t>(vectors.columns);
  std::vector<double> sum(columns), solved(columns);
  for (int64_t i = 0; i < vectors.rows; ++i) {
    const double* row = vectors.row(i);
    const double factor = i > 0 ? factors_[static_cast<size_t>(i - 1)] : 0;
    const double inverse = 1 / pivots_[static_cast<size_t>(i)];
    for (size_t j = 0; j < columns; ++j) {
      solved[j] = row[j] - factor * solved[j];
      sum[j] += inverse * solved[j] * solved[j];
    }
  }
  return sum;
}

Tridiagonal::Tridiagonal(std::vector<double> matrix, int64_t n)
    : n_(n),
      reflections_(std::move(matrix)),
      scales_(static_cast<size_t>(n)),
      diagonal_(static_cast<size_t>(n)),
      beside_(static_cast<size_t>(n)) {
  const auto reflect = reflect_both_sides_form();
  std::vector<double> work(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    double* row = reflections_.data() + k * n;
    const auto at = static_cast<size_t>(k);
    diagonal_[at] = row[k];
    if (k + 1 == n) break;
    const int64_t left = n - k - 1;
    std::tie(scales_[at], beside_[at]) = reflection_of(row + k + 1, left);
    if (scales_[at] != 0) reflect(row + n + k + 1, n, row + k + 1, scales_[at], work.data(), left);
  }
}

void Tridiagonal::rotate(VectorColumns& vectors) const {
  const auto reflect = reflect_columns_form();
  std::vector<double> work(static_cast<size_t>(vectors.columns));
  for (int64_t k = 0; k + 1 < n_; ++k) {
    const double scale = scales_[static_cast<size_t>(k)];
    if (scale == 0) continue;
    reflect(vectors.row(k + 1), vectors.columns, reflections_.data() + k * n_ + k + 1, scale, work.data(), n_ - k - 1);
  }
}

SymmetricEigen Tridiagonal::eigen() const {
  SymmetricEigen eigen{diagonal_, VectorColumns(n_, n_)};
  for (int64_t i = 0; i < n_; ++i) eigen.vectors.row(i)[i] = 1;
  rotate(eigen.vectors);
  std::vector<double> beside = beside_;
  double largest = 0;
  for (const std::vector<double>* part : {&diagonal_, &beside_}) {
    for (const double value : *part) largest = std::max(largest, std::abs(value));
  }
  const double rounding = std::numeric_limits<double>::epsilon() * largest;
  const auto apart = [&](int64_t i) { return std::abs(beside[static_cast<size_t>(i)]) <= rounding; };
  for (int64_t last = n_ - 1, steps = 0; last > 0 && steps < kMostSteps * n_;) {
    if (apart(last - 1)) {
      --last;
      continue;
    }
    int64_t first = last - 1;
    while (first > 0 && !apart(first - 1)) --first;
    qr_step(eigen, beside, first, last);
    ++steps;
  }
  return eigen;
}

}  // namespace protocom
