#include "report/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fewshot/methods.h"
#include "report/detail/figure_style.h"
#include "report/detail/marks.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_beside_the_paper() {
  std::vector<std::string> names;
  for (const MethodSpec* spec : method_specs()) {
    if (spec->paper_row == 0) names.push_back(spec->name);
  }
  return names;
}

TEST(MethodColours, OfKnownMethodsAreTheirOwnWhateverElseIsShown) {
  std::vector<std::string> labels = names_beside_the_paper();
  for (const std::string& row : paper_rows()) labels.push_back(row);
  const std::vector<std::string> classes = method_classes(labels);
  EXPECT_EQ(std::set<std::string>(classes.begin(), classes.end()).size(), labels.size());
  std::vector<std::string> turned(labels.rbegin(), labels.rend());
  turned.insert(turned.begin(), {"plda:prior=none", "a method of others", "mean:gamma=20"});
  const std::vector<std::string> others = method_classes(turned);
  for (size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(method_class(labels[i]), classes[i]) << labels[i] << " alone";
    EXPECT_EQ(others[others.size() - 1 - i], classes[i]) << labels[i] << " beside others, in another order";
  }
  EXPECT_THAT(method_classes({"mean", "gauss-fusion"}), ElementsAre("m-mean", "m-gauss-fusion"));
}

// FNV-1a by another program: python3 -c "import functools; print(functools.reduce(lambda h, c: (h ^ c) * 16777619 %
// 2**32, b'plda:prior=none', 2166136261) % 12 + 1)"
TEST(MethodColours, OfVariantsAndOfMethodsOfOthersFollowFromTheWholeLabel) {
  EXPECT_EQ(method_class("plda:prior=none"), "other-10");
  EXPECT_EQ(method_class("a method of others"), "other-2");
  EXPECT_THAT(method_classes({"plda", "plda:prior=none", "plda-vb"}),
              ElementsAre(method_class("plda"), "other-10", method_class("plda-vb")));
  const auto variants = method_classes({"tim", "mean:gamma=20", "tim:temperature=5", "mean", "tim:temperature=30"});
  EXPECT_EQ(variants[3], "m-mean");
  EXPECT_EQ(std::set<std::string>(variants.begin(), variants.end()).size(), variants.size());
}

TEST(MethodMarks, TellCurvesApartWithoutTheirColours) {
  std::vector<std::string> labels = names_beside_the_paper();
  for (const std::string& row : paper_rows()) labels.push_back(row);
  std::set<std::string> looks;
  for (const std::string& one : method_classes(labels)) looks.insert(std::to_string(mark_of(one, 0)) + dash_of(one));
  EXPECT_EQ(looks.size(), labels.size());
}

TEST(MethodColours, AreAllInThePalette) {
  std::set<std::string> known;
  for (const PaletteColour& colour : palette()) known.insert(colour.name);
  std::vector<std::string> labels = names_beside_the_paper();
  for (const std::string& row : paper_rows()) labels.push_back(row);
  for (const std::string& one : method_classes(labels)) EXPECT_EQ(known.count(one), 1U) << one;
}

}  // namespace
}  // namespace protocom
