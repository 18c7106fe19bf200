#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "protocom/report/analysis_sections.h"
#include "report/sample_sections.h"

namespace protocom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sections, AllSayWhatTheyFoundAndHowAndWhetherItIsTransductive) {
  std::set<std::string> names;
  for (const Section& section : testing::sample_sections()) {
    EXPECT_THAT(section_names(), Contains(section.name));
    EXPECT_TRUE(names.insert(section.name).second) << section.name;
    EXPECT_FALSE(section.title.empty()) << section.name;
    EXPECT_EQ(section.finding.back(), '.') << section.name;
    EXPECT_FALSE(section.how.empty()) << section.name;
    std::string text = section.finding + section.how;
    for (const ReportTable& table : section.tables) {
      for (const auto& row : table.rows) {
        EXPECT_EQ(row.size(), table.columns.size()) << section.name;
        for (const std::string& cell : row) text += cell;
      }
    }
    const bool says_mode =
        text.find("transductive") != std::string::npos || text.find("semi-supervised") != std::string::npos;
    EXPECT_TRUE(says_mode || text.find("gauss-fusion") == std::string::npos) << section.name;
  }
  EXPECT_EQ(names.size() + 1, section_names().size());  // "tables" is made of results
}

TEST(Sections, HaveFiguresWithIdsOfTheirOwnAndWords) {
  std::set<std::string> ids;
  for (const Section& section : testing::sample_sections()) {
    for (const Figure& figure : section.figures) {
      EXPECT_TRUE(ids.insert(id_of(figure)).second) << id_of(figure);
      EXPECT_EQ(id_of(figure).rfind(section.name, 0), 0U) << id_of(figure) << " is not named after " << section.name;
      const std::string text = draw(figure).str();
      EXPECT_FALSE(title_of(figure).empty());
      EXPECT_THAT(text, Not(HasSubstr("-desc\"></desc>"))) << id_of(figure);
      EXPECT_THAT(text, Not(HasSubstr("nan"))) << id_of(figure);
    }
  }
}

// The mean rises by 5 a shot from 40, completed stays at 50: they meet at the third shot; 40, 45, 50.
TEST(ShotsSection, SaysWhereTheCurvesCross) {
  const Section section = shots_section(testing::sample_series({1, 2, 3, 4}), {});
  EXPECT_EQ(section.finding,
            "Completed prototypes are better than the class mean up to 2 shots and equal or worse from 3 on.");
  const auto& chart = std::get<LineChart>(section.figures.front());
  ASSERT_EQ(chart.vertical.size(), 1U);
  EXPECT_DOUBLE_EQ(chart.vertical[0].value, 3.0);
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre("completed", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7"));
}

TEST(ShotsSection, SaysThatTheCurvesDoNotCross) {
  const Section section = shots_section(testing::sample_series({1, 2}), {});
  EXPECT_EQ(section.finding, "Completed prototypes stay above the class mean from 1 to 2 shots.");
  EXPECT_TRUE(std::get<LineChart>(section.figures.front()).vertical.empty());
}

// Differences of gauss-fusion to the mean are 30 in both episodes: no interval.
TEST(AblationSection, HasThePapersRowsAndPairedDifferences) {
  const Section section = ablation_section({testing::sample_scores(1)}, {});
  ASSERT_EQ(section.tables[0].rows.size(), 4U);
  EXPECT_THAT(section.tables[0].columns, ElementsAre("Row", "Completion", "Fusion", "5-way 1-shot", "over (i)"));
  EXPECT_THAT(section.tables[0].rows[3],
              ElementsAre("(iv) gauss-fusion (transductive)", "✓", "Gaussian", "80.0 ± 19.6", "+30.0 ± 0.0"));
  EXPECT_THAT(section.tables[0].rows[0], ElementsAre("(i) mean", "–", "–", "50.0 ± 19.6", ""));
}

TEST(CosineSection, HasOneRowForEachPrototype) {
  const Section section = cosine_section(testing::sample_scores(1), {});
  EXPECT_THAT(section.tables[0].rows[0], ElementsAre("mean", "p", "0.500 ± 0.000"));
  EXPECT_THAT(section.tables[0].rows[3], ElementsAre("gauss-fusion (transductive)", "p̂′", "0.800 ± 0.000"));
}

TEST(NearestSection, NamesTheImagesWhenThereAreNoPictures) {
  const ClassExtremes extremes{"n1", {{"a.jpg", 0.9}}, {{"z.jpg", 0.1}}};
  const Section without = nearest_section({extremes}, &testing::plain_title, &testing::no_picture);
  EXPECT_TRUE(without.figures.empty());
  EXPECT_THAT(without.tables[0].rows[0], ElementsAre("the n1", "a.jpg", "z.jpg"));
  EXPECT_THAT(without.how, HasSubstr("--images"));
  const Section with = nearest_section({extremes}, &testing::plain_title, &testing::some_picture);
  EXPECT_EQ(with.figures.size(), 1U);
  EXPECT_TRUE(with.tables.empty());
}

TEST(DistributionSection, GivesBothSplitsOfAMapTheSameAxes) {
  const Section section = distribution_section(testing::sample_distribution(), &testing::plain_title);
  ASSERT_EQ(section.figures.size(), 4U);
  const auto& base = std::get<ScatterChart>(section.figures[0]);
  const auto& novel = std::get<ScatterChart>(section.figures[1]);
  EXPECT_EQ(base.title, "t-SNE: base, σ² = 0.098");
  EXPECT_DOUBLE_EQ(base.low_x, novel.low_x);
  EXPECT_DOUBLE_EQ(base.high_y, novel.high_y);
  EXPECT_EQ(base.groups.size(), 2U);
  // Variances 0.0975 and 0.0944, cosines 0.70 and 0.65: the two measures disagree, and that is said.
  EXPECT_THAT(section.finding, HasSubstr("novel classes spread more widely by angle, but not by variance."));
}

}  // namespace
}  // namespace protocom
