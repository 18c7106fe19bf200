#pragma once
#include "fewshot/method_definition.h"
#include "fewshot/paper/paper_row.h"

namespace protocom {

/// Returns the parameters common to all rows.
Parameters<PaperRowOptions> paper_row_parameters();

/// Defines a row of the paper's ablation, MethodSpec::paper_row: its prototypes, then softmax(gamma * cosine) of
/// equation 8, by PaperRowsRun.
MethodDefinition define_paper_row(MethodSpec spec, Parameters<PaperRowOptions> parameters = paper_row_parameters());

}  // namespace protocom
