#pragma once
#include <string>

#include "protocom/fewshot/fitted_method.h"

namespace protocom {

/// Fits a method, as make_method takes it. Same inputs, same method. Throws UsageError for a method that needs no
/// fitting, takes the file of another one, or lacks knowledge or maps, Error without features of base classes.
FittedMethod fit_method(const std::string& method, const FitInputs& inputs);

}  // namespace protocom
