#include "fewshot/plda/detail/foreign_scatter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fewshot/detail/row_length.h"
#include "fewshot/plda/detail/left_out.h"
#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

VectorColumns block_of(const VectorColumns& matrix, const std::vector<int64_t>& which) {
  const auto k = static_cast<int64_t>(which.size());
  VectorColumns block(k, k);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < k; ++j)
      block.row(i)[j] = matrix.row(which[static_cast<size_t>(i)])[which[static_cast<size_t>(j)]];
  }
  return block;
}

VectorColumns product_of(const VectorColumns& a, const VectorColumns& b) {
  VectorColumns product(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    double* to = product.row(i);
    for (int64_t r = 0; r < a.columns; ++r) {
      const double factor = a.row(i)[r];
      if (factor == 0) continue;  // contrasts are mostly zeros
      for (int64_t j = 0; j < b.columns; ++j) to[j] += factor * b.row(r)[j];
    }
  }
  return product;
}

VectorColumns transposed(const VectorColumns& matrix) {
  VectorColumns result(matrix.columns, matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < matrix.columns; ++j) result.row(j)[i] = matrix.row(i)[j];
  }
  return result;
}

/// Orthonormal combinations of images [k], sorted by their labels, that have no share in the means of the classes:
/// each image against the mean of those of its class before it, [k - classes, k].
VectorColumns contrasts_within(const std::vector<int64_t>& labels) {
  const auto k = static_cast<int64_t>(labels.size());
  VectorColumns contrasts(0, k);
  for (int64_t i = 1, before = 0; i < k; ++i) {
    before = labels[static_cast<size_t>(i)] == labels[static_cast<size_t>(i - 1)] ? before + 1 : 0;
    if (before == 0) continue;
    const auto images = static_cast<double>(before);
    const double own = std::sqrt(images / (images + 1));
    contrasts.values.resize(static_cast<size_t>(++contrasts.rows * k));
    double* row = contrasts.row(contrasts.rows - 1);
    std::fill(row + i - before, row + i, -own / images);
    row[i] = own;
  }
  return contrasts;
}

}  // namespace

std::vector<const float*> rows_of(const Floats& values, int64_t dim) {
  std::vector<const float*> rows;
  for (const float* row = values.data(); row != values.data() + values.size(); row += dim) rows.push_back(row);
  return rows;
}

void ForeignWhitening::apply(const std::vector<const float*>& x, int64_t dim, float* out) const {
  const auto count = static_cast<int64_t>(x.size()), r = rank;
  const std::vector<const float*> z = rows_of(rows, dim);
  Floats products(static_cast<size_t>(count * r));
  products_of_rows({x.data(), count, z.data(), r, dim, r}, products.data());
  for (float& product : products) product = -product;
  sums_of_rows({z.data(), r, products.data(), count, r, dim}, out);
  for (int64_t i = 0; i < count; ++i)
    add_scaled_row(static_cast<float>(base), x[static_cast<size_t>(i)], dim, out + i * dim);
}

Floats ForeignWhitening::variance(const float* between, int64_t dim) const {
  const int64_t r = rank;
  Floats products(rows.size()), result(static_cast<size_t>(dim));
  sums_of_rows({rows_of(rows, dim).data(), r, by_between.data(), r, r, dim}, products.data());
  const auto factor = static_cast<float>(-2 * base);
  for (int64_t i = 0; i < r; ++i) {
    const float* z = rows.data() + i * dim;
    const float* product = products.data() + i * dim;
    for (int64_t j = 0; j < dim; ++j)
      result[static_cast<size_t>(j)] += z[j] * (factor * between[j] * z[j] + product[j]);
  }
  add_scaled_row(static_cast<float>(base * base), between, dim, result.data());
  return result;
}

ForeignScatter::ForeignScatter(const ForeignImages& images, std::vector<int64_t> among,
                               const PldaAdaptation& adaptation)
    : images_(images), among_(std::move(among)), eigen_{{}, {0, 0}} {
  std::vector<int64_t> labels;
  for (const int64_t i : among_) labels.push_back(images.labels().labels[static_cast<size_t>(i)]);
  const VectorColumns contrasts = contrasts_within(labels);
  if (contrasts.rows == 0) return;
  degrees_ = static_cast<double>(contrasts.rows);
  VectorColumns products = product_of(contrasts, block_of(images.products(), among_));
  products = product_of(contrasts, transposed(products));
  double trace = 0;
  for (int64_t i = 0; i < products.rows; ++i) trace += products.row(i)[i];
  if (!(trace > 0)) return;
  scale_ =
      (adaptation.scale_degrees + trace / static_cast<double>(images.dims())) / (adaptation.scale_degrees + degrees_);
  for (double& value : products.values) value /= scale_;
  eigen_ = Tridiagonal(std::move(products.values), products.rows).eigen();
  for (double& value : eigen_.values) value = std::max(value, 0.0);
  eigen_.vectors = transposed(product_of(transposed(contrasts), transposed(eigen_.vectors)));
}

double ForeignScatter::degrees(double usual) const {
  const std::vector<int64_t>& labels = images_.labels().labels;
  const int64_t m = images_.labels().labelled(), n = images_.labels().classes(), all = m + n;
  // An image is its difference from its class's mean, and that mean.
  VectorColumns products = images_.products();
  const auto own = [&](int64_t i) { return m + labels[static_cast<size_t>(i)]; };
  for (double& value : products.values) value /= scale_;
  for (int64_t r = 0; r < all; ++r) {
    for (int64_t i = 0; i < m; ++i) products.row(r)[i] += products.row(r)[own(i)];
  }
  const VectorColumns along = transposed(product_of(eigen_.vectors, products));  // [m + n, r], x' A' V / s
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < all; ++j) products.row(i)[j] += products.row(own(i))[j];
  }
  return choose_degrees(usual, {&labels, n, degrees_}, [&](double nu) {
    LeftOutProducts left;
    std::vector<double> inverse;
    for (const double l : eigen_.values) inverse.push_back(1 / (nu + l));
    const auto product = [&](int64_t i, int64_t j) {
      double sum = products.row(i)[j];
      for (int64_t r = 0; r < along.columns; ++r)
        sum -= along.row(i)[r] * along.row(j)[r] * inverse[static_cast<size_t>(r)];
      return sum;
    };
    for (int64_t i = 0; i < m; ++i) {
      left.images.push_back(product(i, i));
      for (int64_t c = m; c < all; ++c) left.across.push_back(product(i, c));
    }
    for (int64_t c = m; c < all; ++c) {
      for (int64_t k = m; k < all; ++k) left.means.push_back(product(c, k));
    }
    return left;
  });
}

ForeignWhitening ForeignScatter::whitening(double nu) const {
  ForeignWhitening whitening;
  if (!whitens()) return whitening;
  const double total = nu + degrees_, unit = 1 / std::sqrt(scale_);
  whitening.base = unit * std::sqrt(total / nu);
  const auto k = static_cast<int64_t>(among_.size()), stride = padded_length(k), r = eigen_.vectors.rows;
  Floats roots(static_cast<size_t>(r * stride));  // sqrt(g) V', so that Z = roots A
  for (int64_t i = 0; i < r; ++i) {
    const double root = std::sqrt(nu + eigen_.values[static_cast<size_t>(i)]);
    const double gain = std::sqrt(whitening.base / scale_ / (root * (root + std::sqrt(nu))));
    for (int64_t j = 0; j < k; ++j)
      roots[static_cast<size_t>(i * stride + j)] = static_cast<float>(gain * eigen_.vectors.row(i)[j]);
  }
  std::vector<const float*> rows;
  Floats products(static_cast<size_t>(k * stride)), half(roots.size());
  for (int64_t i = 0; i < k; ++i) {
    const int64_t own = among_[static_cast<size_t>(i)], m = images_.labels().labelled();
    rows.push_back(images_.within()[static_cast<size_t>(own)]);
    for (int64_t j = 0; j < k; ++j)
      products[static_cast<size_t>(i * stride + j)] =
          images_.products_by_between()[static_cast<size_t>(own * m + among_[static_cast<size_t>(j)])];
  }
  whitening.rank = r;
  whitening.rows.resize(static_cast<size_t>(r * images_.dim()));
  whitening.by_between.resize(static_cast<size_t>(r * r));
  sums_of_rows({rows.data(), k, roots.data(), r, stride, images_.dim()}, whitening.rows.data());
  sums_of_rows({rows_of(products, stride).data(), k, roots.data(), r, stride, stride}, half.data());
  row_dots({rows_of(half, stride).data(), r, roots.data(), r, stride, r}, whitening.by_between.data());
  return whitening;
}

}  // namespace protocom
