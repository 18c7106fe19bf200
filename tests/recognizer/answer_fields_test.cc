#include "recognizer/answer_fields.h"

#include <gtest/gtest.h>

#include <cmath>

namespace protocom::testing {
namespace {

std::string csv_of(const Answer& answer) {
  std::string cells;
  for (const AnswerField& field : answer_fields()) cells += csv_value(field, answer) + "|";
  return cells;
}

TEST(AnswerFields, AreEmptyInCsvWhereTheyAreUnknown) {
  Answer answer;
  answer.familiarity = 2.5;
  EXPECT_EQ(csv_of(answer), "||2.500000||");
  answer.none = 0.75;
  answer.none_of_these = true;
  answer.nearest_note = "one photo, nearer";
  EXPECT_EQ(csv_of(answer), "1|0.750000|2.500000|\"one photo, nearer\"|");
  answer.none_of_these = false;
  EXPECT_EQ(csv_of(answer).substr(0, 2), "0|");
}

TEST(AnswerFields, AreNumbersByTheirNames) {
  Answer answer;
  answer.familiarity = -3;
  EXPECT_EQ(number_in(answer, "familiarity"), -3);
  EXPECT_TRUE(std::isnan(number_in(answer, "none")));
  answer.none = 0.25;
  answer.none_of_these = true;
  EXPECT_EQ(number_in(answer, "none"), 0.25);
  EXPECT_EQ(number_in(answer, "none_of_these"), 1);
  EXPECT_TRUE(std::isnan(number_in(answer, "nearest_note"))) << "a text";
  EXPECT_TRUE(std::isnan(number_in(answer, "weight"))) << "no such field";
}

}  // namespace
}  // namespace protocom::testing
