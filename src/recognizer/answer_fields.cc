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

const std::array<AnswerField, 4> kAnswerFields = {
    {{"none_of_these", Type::kFlag, [](const Answer& answer) { return or_null(answer.none_of_these); }},
     {"none", Type::kNumber, [](const Answer& answer) { return or_null(answer.none); }},
     {"familiarity", Type::kNumber, [](const Answer& answer) { return json(answer.familiarity); }},
     {"nearest_note", Type::kText, [](const Answer& answer) { return json(answer.nearest_note); }}}};

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
  const auto found = std::find_if(kAnswerFields.begin(), kAnswerFields.end(),
                                  [&](const AnswerField& one) { return one.name == field; });
  if (found == kAnswerFields.end()) return kUnknown;
  const json value = found->value(answer);
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number() ? value.get<double>() : kUnknown;
}

}  // namespace protocom
