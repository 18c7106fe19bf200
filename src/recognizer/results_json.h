#pragma once
#include <nlohmann/json.hpp>

#include "protocom/label_check.h"
#include "protocom/suggestion.h"
#include "protocom/test_result.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Returns an answer as in `classify --format json` and `POST /v1/classify`: ranking, attributes, nearest, each of
/// answer_fields(), and set and group if requested.
nlohmann::json answer_json(const Answer& answer);

/// Returns `class`, `is_new`, `added`, `images` of a class after photos were added, as in the server and Python.
nlohmann::json enrolled_json(const EnrolledClass& done);

/// Returns what was enrolled, by class, and what was not, as in Python.
nlohmann::json enrolment_json(const Enrolment& done);

/// Returns all fields by name, as in the command line's output and in Python.
nlohmann::json suggestions_json(const Suggestions& suggestions);
nlohmann::json label_check_json(const LabelCheck& check);
nlohmann::json test_json(const TestResult& result);
nlohmann::json comparison_json(const TestComparison& comparison);

}  // namespace protocom
