#pragma once
#include <nlohmann/json.hpp>

#include "protocom/label_check.h"
#include "protocom/suggestion.h"

namespace protocom {

/// All fields by their names, as the command line prints and Python has them.
nlohmann::json suggestions_json(const Suggestions& suggestions);
nlohmann::json label_check_json(const LabelCheck& check);

}  // namespace protocom
