#include "recognizer/detail/formula_graph.h"

#include <cmath>
#include <optional>

#include "recognizer/detail/folded_formula.h"

namespace protocom {
namespace {

using onnx::GraphWriter;

constexpr double kShortest = 1e-12;  // scale_to_unit_rows

/// Adds a constant [1, n].
std::string row_constant(const Eigen::RowVectorXf& row, GraphWriter& graph) { return graph.matrix(row); }

/// Adds a constant [n, 1].
std::string column_constant(const Eigen::RowVectorXf& row, GraphWriter& graph) { return graph.matrix(row.transpose()); }

std::string transposed_constant(const FloatMatrix& rows, GraphWriter& graph) { return graph.matrix(rows.transpose()); }

std::string at_unit_length(const std::string& rows, GraphWriter& graph) {
  const std::string length = graph.reduced("ReduceL2", rows, 1, /*keep=*/true);
  return graph.node("Div", {rows, graph.node("Max", {length, graph.number(kShortest)})});
}

/// Adds sign(x) sqrt |x|, without the operator Sign, which few runtimes for phones have.
std::string add_roots(const std::string& values, GraphWriter& graph) {
  const auto root = [&](const std::string& signed_values) {
    return graph.node("Sqrt", {graph.node("Relu", {signed_values})});
  };
  return graph.node("Sub", {root(values), root(graph.node("Neg", {values}))});
}

/// Adds z [n, d] of AnswerFormula.
std::string directions_of(const AnswerFormula& formula, const std::string& features, GraphWriter& graph) {
  std::string z = formula.roots ? add_roots(features, graph) : features;
  if (formula.center.size() > 0) z = graph.node("Sub", {z, row_constant(formula.center, graph)});
  return at_unit_length(z, graph);
}

/// Adds f [n, e], computed from z.
std::string dims_of(const AnswerFormula& formula, const std::string& z, GraphWriter& graph) {
  std::string f = z;
  if (formula.projection.size() > 0) f = graph.node("MatMul", {f, graph.matrix(formula.projection)});
  if (formula.offset.size() > 0) f = graph.node("Sub", {f, row_constant(formula.offset, graph)});
  return f;
}

std::string scaled(const std::string& values, double factor, GraphWriter& graph) {
  return factor == 1 ? values : graph.node("Mul", {values, graph.number(factor)});
}

std::string add_best(const std::string& rows, GraphWriter& graph) {
  return graph.reduced("ReduceMax", rows, 1, /*keep=*/true);
}

/// Adds p [n, 1] of FamiliarityFormula.
std::string pooled(const FamiliarityFormula& formula, const std::string& scores, GraphWriter& graph) {
  const std::string best = add_best(scores, graph);
  if (formula.by_best) return best;
  const std::string less = scaled(graph.node("Sub", {scores, best}), formula.factor, graph);
  const std::string mean = graph.reduced("ReduceMean", graph.node("Exp", {less}), 1, /*keep=*/true);
  return graph.node("Add", {best, scaled(graph.node("Log", {mean}), 1 / formula.factor, graph)});
}

std::string squares_of(const std::string& values, GraphWriter& graph) { return graph.node("Mul", {values, values}); }

/// Adds r - p of FamiliarityFormula for f, [n, 1].
std::string rest_of_ratio(const FamiliarityFormula& formula, const std::string& f, GraphWriter& graph) {
  const std::string squares = graph.node("MatMul", {squares_of(f, graph), column_constant(formula.squares, graph)});
  const std::string linear = graph.node("MatMul", {f, column_constant(formula.row, graph)});
  return graph.node("Add", {graph.node("Add", {squares, linear}), graph.number(formula.bias)});
}

/// Adds the same for y of FoldedFormula.
std::string rest_of_ratio(const FoldedFormula& formula, const std::string& y, GraphWriter& graph) {
  const std::string length = graph.reduced("ReduceSumSquare", y, 1, /*keep=*/true);
  std::string sum = graph.node("Add", {scaled(length, formula.length, graph), graph.number(formula.bias)});
  sum = graph.node("Add", {sum, graph.node("MatMul", {y, column_constant(formula.row, graph)})});
  if (formula.axes.cols() == 0) return sum;
  const std::string along = squares_of(graph.node("MatMul", {y, graph.matrix(formula.axes)}), graph);
  return graph.node("Add", {sum, graph.node("MatMul", {along, column_constant(formula.squares, graph)})});
}

/// Adds the familiarity, [n, 1].
std::string familiarity_of(const FamiliarityFormula& formula, const std::string& of_image, const std::string& scores,
                           GraphWriter& graph) {
  const std::string ratio = graph.node("Add", {pooled(formula, scores, graph), of_image});
  const std::string odds = graph.node("Add", {scaled(ratio, formula.slope, graph), graph.number(formula.offset)});
  if (formula.alike == 0) return odds;
  // -log(alike + exp(-odds)) = -(l + softplus(-odds - l)) with l = log alike
  const std::string alike = graph.number(std::log(formula.alike));
  const std::string above = graph.node("Softplus", {graph.node("Neg", {graph.node("Add", {odds, alike})})});
  return graph.node("Neg", {graph.node("Add", {above, alike})});
}

}  // namespace

FormulaValues add_formula(const AnswerFormula& formula, const std::string& features, GraphWriter& graph) {
  const std::optional<FoldedFormula> fewer = folded(formula);
  const std::string z = directions_of(formula, features, graph);
  const std::string f = fewer ? graph.node("Sub", {z, row_constant(fewer->center, graph)}) : dims_of(formula, z, graph);
  const FloatMatrix& rows = fewer ? fewer->rows : formula.rows;
  const Eigen::VectorXf& biases = fewer ? fewer->biases : formula.biases;
  std::string scores = graph.node("MatMul", {f, transposed_constant(rows, graph)});
  if (biases.size() > 0) scores = graph.node("Add", {scores, row_constant(biases.transpose(), graph)});
  FormulaValues made{scaled(scores, formula.scale, graph), {}};
  if (formula.texts.size() > 0) {
    const std::string cosines =
        graph.node("MatMul", {at_unit_length(features, graph), transposed_constant(formula.texts, graph)});
    made.logits = graph.node("Add", {made.logits, cosines});
  }
  if (!formula.familiarity) {
    made.familiarity = add_best(made.logits, graph);
    return made;
  }
  const std::string of_image = fewer ? rest_of_ratio(*fewer, f, graph) : rest_of_ratio(*formula.familiarity, f, graph);
  made.familiarity = familiarity_of(*formula.familiarity, of_image, scores, graph);
  return made;
}

}  // namespace protocom
