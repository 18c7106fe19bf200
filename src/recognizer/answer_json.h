#pragma once
#include <nlohmann/json.hpp>

#include "recognizer/recognizer.h"

namespace protocom {

/// An answer as `classify --format json` and `POST /v1/classify` give it: ranking, familiarity, none and none_of_these
/// (null without a calibration), attributes, nearest, nearest_note.
nlohmann::json answer_json(const Answer& answer);

}  // namespace protocom
