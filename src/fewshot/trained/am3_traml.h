#pragma once
#include "fewshot/trained/am3.h"

namespace protocom {

/// Settings of the method; am3_traml.cc says what each is.
struct Am3TramlOptions : Am3SemanticsOptions {
  double alpha = 1;
  double beta = 0;
};

}  // namespace protocom
