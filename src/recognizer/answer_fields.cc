#include "recognizer/answer_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "io/csv.h"

namespace protocom {
namespace {

using nlohmann::json;
using Type = AnswerField::Type;

template <typename Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

}  // namespace

const std::vector<AnswerField>& answer_fields() {
  static const std::vector<AnswerField> kFields = {
      {"none_of_these", Type::kFlag, [](const Answer& answer) { return or_null(answer.none_of_these); }},
      {"none", Type::kNumber, [](const Answer& answer) { return or_null(answer.none); }},
      {"familiarity", Type::kNumber, [](const Answer& answer) { return json(answer.familiarity); }},
      {"nearest_note", Type::kText, [](const Answer& answer) { return json(answer.nearest_note); }}};
  return kFields;
}

std::string csv_value(const AnswerField& field, const Answer& answer) {
  const json value = field.value(answer);
  if (value.is_null()) return "";
  switch (field.type) {
    case Type::kNumber:
      return fmt::format("{:.6f}", value.get<double>());
    case Type::kFlag:
      return value.get<bool>() ? "1" : "0";
    case Type::kText:
      return csv_cell(value.get<std::string>());
  }
  return "";
}

double number_in(const Answer& answer, std::string_view field) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<AnswerField>& all = answer_fields();
  const auto found = std::find_if(all.begin(), all.end(), [&](const AnswerField& one) { return one.name == field; });
  if (found == all.end()) return kUnknown;
  const json value = found->value(answer);
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number() ? value.get<double>() : kUnknown;
}

}  // namespace protocom
