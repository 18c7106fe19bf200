#include "protocom/report/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "protocom/fewshot/methods.h"
#include "report/figure_style.h"

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

TEST(MethodColours, FollowFromTheNameAndNotFromTheOtherMethodsThereAre) {
  // FNV-1a by another program: python3 -c "import functools; print(functools.reduce(lambda h, c: (h ^ c) * 16777619 %
  // 2**32, b'plda', 2166136261) % 24 + 1)"
  EXPECT_EQ(method_class("plda"), "extra-3");
  EXPECT_EQ(method_class("tim:temperature=30"), "extra-2");
  EXPECT_EQ(method_class("a method of others"), "extra-14");
}

TEST(MethodColours, StayTheSameBesideOthersThatTakeOtherColours) {
  ASSERT_NE(method_class("plda"), method_class("tim"));
  EXPECT_THAT(method_classes({"mean", "tim", "plda"}),
              ElementsAre("m-mean", method_class("tim"), method_class("plda")));
  EXPECT_THAT(method_classes({"plda", "tim"}), ElementsAre(method_class("plda"), method_class("tim")));
}

TEST(MethodColours, AreDistinctInOneFigureOfAsManyMethodsAsThereAreColours) {
  std::vector<std::string> labels = names_beside_the_paper();
  labels.resize(24);
  for (const std::string& row : paper_rows()) labels.push_back(row);
  const std::vector<std::string> classes = method_classes(labels);
  EXPECT_EQ(std::set<std::string>(classes.begin(), classes.end()).size(), labels.size());
}

TEST(MethodColours, OfVariantsAreDistinctAndThePapersRowsKeepTheirOwn) {
  EXPECT_THAT(method_classes({"mean", "gauss-fusion"}), ElementsAre("m-mean", "m-gauss-fusion"));
  const auto variants = method_classes({"tim", "mean:gamma=20", "tim:temperature=5", "mean", "tim:temperature=30"});
  EXPECT_EQ(variants[1], "m-mean");
  EXPECT_EQ(std::set<std::string>(variants.begin(), variants.end()).size(), variants.size());
}

// Beside one another in the demo: the next colour would be as green as that of plda-vb.
TEST(MethodColours, OfAVariantFollowFromItsWholeName) {
  EXPECT_THAT(method_classes({"plda", "plda:prior=none", "plda-vb"}), ElementsAre("extra-3", "extra-22", "extra-10"));
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
