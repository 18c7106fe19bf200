#include "fewshot/paper/completion_attention.h"

namespace protocom {
namespace {

/// Computes z' = ReLU(W_e z + b_e) of rows [n, d] (equation 9).
FloatMatrix codes_of(const CompletionModel& model, const FloatMatrix& rows) {
  const auto weight = matrix_of<float>(model.weight("encoder.weight"));
  const auto bias = matrix_of<float>(model.weight("encoder.bias"));
  return ((rows * weight.transpose()).rowwise() + bias.row(0)).cwiseMax(0);
}

/// Returns these rows of a matrix.
FloatMatrix rows_at(const Array& matrix, const std::vector<int64_t>& rows) {
  return matrix_of<float>(matrix)(rows, Eigen::all);
}

}  // namespace

CompletionAttention completion_attention(const CompletionModel& model, const KnowledgeTable& classes, int64_t k,
                                         const std::vector<int64_t>& attributes, const FloatMatrix& images) {
  const int64_t d = model.sizes.feature_dim, e = model.sizes.embedding_dim;
  // W [p_k | h_k | h_a] is the sum of three products.
  const auto hidden = matrix_of<float>(model.weight("aggregator.0.weight"));
  const FloatMatrix of_class =
      unit_rows(matrix_of<float>(classes.class_embedding).row(k)) * hidden.middleCols(d, e).transpose();
  const FloatMatrix of_attributes =
      unit_rows(rows_at(model.attribute_embedding, attributes)) * hidden.rightCols(e).transpose();
  FloatMatrix shared = images * hidden.leftCols(d).transpose();
  shared.rowwise() += of_class.row(0) + matrix_of<float>(model.weight("aggregator.0.bias")).row(0);
  const auto output = matrix_of<float>(model.weight("aggregator.2.weight")).row(0);
  const float bias = model.weight("aggregator.2.bias").data<float>()[0];
  const Eigen::VectorXf own = codes_of(model, images).rowwise().norm().cwiseMax(1e-12F);
  const Eigen::VectorXf size = codes_of(model, rows_at(model.attribute_mean, attributes)).rowwise().norm();
  CompletionAttention found{FloatMatrix(images.rows(), of_attributes.rows()), {}};
  for (int64_t i = 0; i < of_attributes.rows(); ++i) {
    const FloatMatrix active = (shared.rowwise() + of_attributes.row(i)).cwiseMax(0);
    const float association = matrix_of<float>(classes.association)(k, attributes[static_cast<size_t>(i)]);
    found.alpha.col(i) = association * ((active * output.transpose()).array() + bias);
  }
  found.contribution = own.cwiseInverse().asDiagonal() * found.alpha.cwiseAbs() * size.asDiagonal();
  return found;
}

}  // namespace protocom
