#pragma once
#include <string>

#include "encoders/onnx_graph_writer.h"
#include "fewshot/answer_formula.h"

namespace protocom {

/// Names of values in a graph.
struct FormulaValues {
  std::string logits;       ///< [n, c]
  std::string familiarity;  ///< [n, 1]
};

/// Adds the operators that compute a formula of `features`, the name of a value float32 [n, d].
FormulaValues add_formula(const AnswerFormula& formula, const std::string& features, onnx::GraphWriter& graph);

}  // namespace protocom
