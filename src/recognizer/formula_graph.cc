#include "recognizer/detail/formula_graph.h"

#include <cmath>

namespace protocom {
namespace {

using onnx::GraphWriter;

constexpr double kShortest = 1e-12;  // scale_to_unit_rows

/// A constant [1, n].
std::string row_constant(const Eigen::RowVectorXf& row, GraphWriter& graph) { return graph.matrix(row); }

/// A constant [n, 1].
std::string column_constant(const Eigen::RowVectorXf& row, GraphWriter& graph) { return graph.matrix(row.transpose()); }

std::string transposed_constant(const FloatMatrix& rows, GraphWriter& graph) { return graph.matrix(rows.transpose()); }

std::string at_unit_length(const std::string& rows, GraphWriter& graph) {
  const std::string length = graph.reduced("ReduceL2", rows, 1, /*keep=*/true);
  return graph.node("Div", {rows, graph.node("Max", {length, graph.number(kShortest)})});
}

/// sign(x) sqrt |x|; Sign is an operator that few programs for phones have.
std::string add_roots(const std::string& values, GraphWriter& graph) {
  const auto root = [&](const std::string& signed_values) {
    return graph.node("Sqrt", {graph.node("Relu", {signed_values})});
  };
  return graph.node("Sub", {root(values), root(graph.node("Neg", {values}))});
}

/// f [n, e] of AnswerFormula.
std::string dims_of(const AnswerFormula& formula, const std::string& features, GraphWriter& graph) {
  std::string f = formula.roots ? add_roots(features, graph) : features;
  if (formula.center.size() > 0) f = graph.node("Sub", {f, row_constant(formula.center, graph)});
  f = at_unit_length(f, graph);
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

/// p [n, 1] of FamiliarityFormula.
std::string pooled(const FamiliarityFormula& formula, const std::string& scores, GraphWriter& graph) {
  const std::string best = add_best(scores, graph);
  if (formula.by_best) return best;
  const std::string less = scaled(graph.node("Sub", {scores, best}), formula.factor, graph);
  const std::string mean = graph.reduced("ReduceMean", graph.node("Exp", {less}), 1, /*keep=*/true);
  return graph.node("Add", {best, scaled(graph.node("Log", {mean}), 1 / formula.factor, graph)});
}

/// [n, 1]
std::string familiarity_of(const FamiliarityFormula& formula, const std::string& f, const std::string& scores,
                           GraphWriter& graph) {
  const std::string squares =
      graph.node("MatMul", {graph.node("Mul", {f, f}), column_constant(formula.squares, graph)});
  const std::string linear = graph.node("MatMul", {f, column_constant(formula.row, graph)});
  const std::string of_image = graph.node("Add", {graph.node("Add", {squares, linear}), graph.number(formula.bias)});
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
  const std::string f = dims_of(formula, features, graph);
  std::string scores = graph.node("MatMul", {f, transposed_constant(formula.rows, graph)});
  if (formula.biases.size() > 0) scores = graph.node("Add", {scores, row_constant(formula.biases.transpose(), graph)});
  FormulaValues made{scaled(scores, formula.scale, graph), {}};
  if (formula.texts.size() > 0) {
    const std::string cosines =
        graph.node("MatMul", {at_unit_length(features, graph), transposed_constant(formula.texts, graph)});
    made.logits = graph.node("Add", {made.logits, cosines});
  }
  made.familiarity =
      formula.familiarity ? familiarity_of(*formula.familiarity, f, scores, graph) : add_best(made.logits, graph);
  return made;
}

}  // namespace protocom
