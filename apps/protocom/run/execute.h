#pragma once
#include "run/config.h"
#include "run/plan.h"

namespace protocom::cli {

/// Runs a stage unless it is up to date: resumes an interrupted training, removes what an earlier run with other
/// options left, and records options, inputs and outputs. Prints what it does on standard output. Errors name the
/// stage.
void run_stage(const RunConfig& config, const Stage& stage);

}  // namespace protocom::cli
