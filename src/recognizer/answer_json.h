#pragma once
#include <nlohmann/json.hpp>

#include "recognizer/recognizer.h"

namespace protocom {

/// An answer as `classify --format json` and `POST /v1/classify` give it: ranking, attributes, nearest, each of
/// kAnswerFields, and set and group where they are wanted.
nlohmann::json answer_json(const Answer& answer);

}  // namespace protocom
