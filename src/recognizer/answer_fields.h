#pragma once
#include <array>
#include <nlohmann/json.hpp>

#include "protocom/answer.h"

namespace protocom {

/// A field of an answer that is one value. Wherever answers are given it has this name: a member in JSON and Python, a
/// column in CSV, a tensor of the Open Inference Protocol, an argument of C's protocom_answer_number().
struct AnswerField {
  enum class Type { kNumber, kFlag, kText };
  const char* name;
  Type type;
  nlohmann::json (*value)(const Answer& answer);  ///< null: not known without a calibration
};

/// In the order of CSV's columns.
extern const std::array<AnswerField, 4> kAnswerFields;

/// A field's value in CSV: a flag is 1 or 0, what is not known is empty.
std::string csv_value(const AnswerField& field, const Answer& answer);

/// A number, or a flag as 1 or 0; NaN if the answer does not know it, if it is a text, or if there is no such field.
double number_in(const Answer& answer, std::string_view field);

}  // namespace protocom
