#include "knowledge/graph_embedding.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

at::Tensor matrix(std::vector<float> values, int64_t rows) { return at::tensor(values).reshape({rows, -1}); }

TEST(GraphEmbedding, OfADiagonalMatrixIsTheSquareRootOfTheDiagonal) {
  // A = diag(4, 9): S = (9, 4); V's columns are (0, 1) and (1, 0), so V sqrt(S) = [[0, 2], [3, 0]].
  const at::Tensor columns = tensor_of(embed_graph(array_of(matrix({4, 0, 0, 9}, 2)), 2));
  EXPECT_TRUE(columns.allclose(matrix({0, 2, 3, 0}, 2)));
}

TEST(GraphEmbedding, DotProductsOfClassesAndAttributesAreTheWeightsWhenNothingIsCutOff) {
  const at::Tensor association = matrix({1, 0, 1, 0, 1, 1, 0.5, 0, 0, 1, 1, 1}, 3);
  const at::Tensor columns = tensor_of(embed_graph(array_of(association), 50));
  EXPECT_EQ(columns.size(1), 3);
  const at::Tensor rows = tensor_of(place_rows(array_of(columns), array_of(association)));
  EXPECT_TRUE(at::matmul(rows, columns.t()).allclose(association, 1e-5, 1e-6));
}

TEST(GraphEmbedding, TruncatedIsTheBestApproximationOfItsRank) {
  // Eckart-Young: the squared error is the sum of the squares of the discarded singular values.
  const at::Tensor association = matrix({1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1}, 3);
  const at::Tensor all = at::linalg_svdvals(association);
  const at::Tensor columns = tensor_of(embed_graph(array_of(association), 1));
  const at::Tensor product = at::matmul(tensor_of(place_rows(array_of(columns), array_of(association))), columns.t());
  EXPECT_NEAR((product - association).pow(2).sum().item<float>(), all.slice(0, 1).pow(2).sum().item<float>(), 1e-4);
}

TEST(GraphEmbedding, HasOrthogonalColumnsWithTheSingularValuesAsSquaredNormsAndFixedSigns) {
  const at::Tensor association = matrix({1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0}, 3);
  const at::Tensor columns = tensor_of(embed_graph(array_of(association), 3));
  EXPECT_TRUE(
      at::matmul(columns.t(), columns).allclose(at::diag(at::linalg_svdvals(association).slice(0, 0, 3)), 1e-4, 1e-5));
  for (int64_t j = 0; j < 3; ++j) {
    const at::Tensor column = columns.select(1, j);
    const at::Tensor largest = column.abs().ge(0.99999 * column.abs().max()).nonzero();
    EXPECT_GT(column[largest[0].item<int64_t>()].item<float>(), 0) << j;
  }
}

TEST(GraphEmbedding, HasNoMoreDimensionsThanTheMatrixHasRank) {
  EXPECT_EQ(tensor_of(embed_graph(array_of(matrix({1, 1, 0, 1, 1, 0, 0, 0, 1}, 3)), 50)).size(1), 2);
}

TEST(GraphEmbedding, OfNothingIsZero) {
  const at::Tensor columns = tensor_of(embed_graph(array_of(at::zeros({2, 3})), 5));
  EXPECT_TRUE(columns.equal(at::zeros({3, 1})));
  EXPECT_TRUE(tensor_of(place_rows(array_of(columns), array_of(at::ones({1, 3})))).equal(at::zeros({1, 1})));
  EXPECT_EQ(tensor_of(embed_graph(array_of(at::zeros({2, 0})), 5)).size(0), 0);
}

TEST(GraphEmbedding, PlacesAClassWithoutAttributesAtZeroAndEqualClassesTogether) {
  const at::Tensor columns = tensor_of(embed_graph(array_of(matrix({1, 0, 1, 0, 1, 1}, 2)), 2));
  const at::Tensor rows = tensor_of(place_rows(array_of(columns), array_of(matrix({0, 0, 0, 1, 0, 1, 1, 0, 1}, 3))));
  EXPECT_TRUE(rows[0].equal(at::zeros({2})));
  EXPECT_TRUE(rows[1].equal(rows[2]));
}

TEST(GraphEmbedding, RefusesNoDimension) { EXPECT_THROW(embed_graph(array_of(at::ones({2, 2})), 0), UsageError); }

}  // namespace
}  // namespace protocom
