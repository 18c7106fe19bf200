#pragma once
#include <nlohmann/json.hpp>

#include "protocom/test_result.h"

namespace protocom {

/// All fields of a test by their names, as the command line prints and Python has them.
nlohmann::json test_json(const TestResult& result);

/// The same of a comparison.
nlohmann::json comparison_json(const TestComparison& comparison);

}  // namespace protocom
