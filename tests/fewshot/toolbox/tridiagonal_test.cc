#include "fewshot/toolbox/detail/tridiagonal.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/vector_forms.h"

namespace protocom {
namespace {

using testing::error_of;

at::Tensor random_scatter(int64_t n, int64_t rank) {
  at::manual_seed(static_cast<uint64_t>(n));
  const at::Tensor rows = at::randn({rank, n}, at::kDouble);
  return at::mm(rows.t(), rows);
}

std::vector<double> plain(const at::Tensor& tensor) {
  const at::Tensor values = tensor.contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

VectorColumns columns_of(const at::Tensor& vectors) {
  VectorColumns columns(vectors.size(0), vectors.size(1));
  columns.values = plain(vectors);
  return columns;
}

at::Tensor tensor_of_columns(const VectorColumns& columns) {
  return at::tensor(columns.values, at::kDouble).view({columns.rows, columns.columns});
}

/// Products with rotated vectors, which no rotation changes.
void expect_solutions(const at::Tensor& matrix, double shift) {
  const int64_t n = matrix.size(0);
  const at::Tensor vectors = at::randn({n, 7}, at::kDouble), others = at::randn({n, 3}, at::kDouble);
  const Tridiagonal tridiagonal(plain(matrix), n);
  VectorColumns solved = columns_of(vectors), rotated = columns_of(others);
  tridiagonal.rotate(solved);
  tridiagonal.rotate(rotated);
  const ShiftedTridiagonal shifted = tridiagonal.plus(shift);
  const std::vector<double> squares = shifted.squares(solved);
  shifted.solve(solved);
  const at::Tensor dense = matrix + shift * at::eye(n, at::kDouble);
  const at::Tensor expected = at::linalg_solve(dense, vectors);
  EXPECT_LT(error_of(at::mm(tensor_of_columns(rotated).t(), tensor_of_columns(solved)), at::mm(others.t(), expected)),
            1e-12);
  EXPECT_LT(error_of(at::tensor(squares, at::kDouble), (vectors * expected).sum(0)), 1e-12);
  EXPECT_NEAR(shifted.log_determinant(), at::logdet(dense).item<double>(), 1e-11 * static_cast<double>(n + 1));
}

TEST(Tridiagonal, SolvesAsTheDenseMatrixDoes) {
  const testing::VectorFormKept kept;
  for (const std::string& form : vector_form_names()) {
    SCOPED_TRACE(form);
    use_vector_form(form);
    for (const int64_t n : {1, 2, 3, 5, 24, 61}) expect_solutions(random_scatter(n, n + 3), 0.3);
  }
}

TEST(Tridiagonal, TakesWhatIsDiagonalOrOfLowRank) {
  expect_solutions(at::diag(at::rand({6}, at::kDouble)), 0.1);
  expect_solutions(at::zeros({4, 4}, at::kDouble), 2);
  expect_solutions(random_scatter(20, 3), 0.5);
}

void expect_eigenvectors(const at::Tensor& matrix) {
  const int64_t n = matrix.size(0);
  const SymmetricEigen eigen = Tridiagonal(plain(matrix), n).eigen();
  const at::Tensor values = at::tensor(eigen.values, at::kDouble), vectors = tensor_of_columns(eigen.vectors);
  EXPECT_LT(error_of(at::mm(vectors.t() * values, vectors), matrix), 1e-13);
  EXPECT_LT(error_of(at::mm(vectors, vectors.t()), at::eye(n, at::kDouble)), 1e-13);
}

TEST(Tridiagonal, HasTheEigenvectorsOfTheMatrix) {
  const testing::VectorFormKept kept;
  for (const std::string& form : vector_form_names()) {
    SCOPED_TRACE(form);
    use_vector_form(form);
    for (const int64_t n : {1, 2, 3, 5, 24, 140}) expect_eigenvectors(random_scatter(n, n + 3));
  }
  expect_eigenvectors(random_scatter(20, 15));
  expect_eigenvectors(random_scatter(30, 2));
  expect_eigenvectors(at::diag(at::tensor({2.0, -1.0, 2.0, 0.0})));
  expect_eigenvectors(at::zeros({3, 3}, at::kDouble));
  EXPECT_TRUE(Tridiagonal({}, 0).eigen().values.empty());
}

TEST(Tridiagonal, OfNoDimensionsHasNothingToSolve) {
  const Tridiagonal tridiagonal({}, 0);
  VectorColumns none(0, 4);
  tridiagonal.rotate(none);
  EXPECT_EQ(tridiagonal.plus(1).log_determinant(), 0);
  EXPECT_EQ(tridiagonal.plus(1).squares(none), std::vector<double>(4));
}

}  // namespace
}  // namespace protocom
