#pragma once
#include "fewshot/trained/am3.h"

namespace protocom {

/// Settings of the method, described in am3_traml.cc.
struct Am3TramlOptions : Am3SemanticsOptions {
  double alpha = 1;
  double beta = 0;
};

}  // namespace protocom
