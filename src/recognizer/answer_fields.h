#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "protocom/answer.h"

namespace protocom {

/// A field of an answer with a single value. It has the same name everywhere: as a member in JSON and Python, a column
/// in CSV, a tensor of the Open Inference Protocol and an argument of C's protocom_answer_number().
struct AnswerField {
  enum class Type { kNumber, kFlag, kText };
  const char* name;
  Type type;
  nlohmann::json (*value)(const Answer& answer);  ///< null: unknown without a calibration
};

/// Returns the fields in the order of CSV's columns.
const std::vector<AnswerField>& answer_fields();

/// Returns a field's value in CSV: a flag is 1 or 0, an unknown value is empty.
std::string csv_value(const AnswerField& field, const Answer& answer);

/// Returns a field as a number; a flag is 1 or 0. NaN if the value is unknown or a text, or if no field has this name.
double number_in(const Answer& answer, std::string_view field);

}  // namespace protocom
