#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/section.h"
#include "report/sample_sections.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using ::testing::AllOf;
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

TEST(QueriesSection, NamesTheBestMethodsAtBothEndsAndThoseThatAreNotMeasurablyWorse) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 15});
  EXPECT_EQ(queries_section(points, {}).finding,
            "gauss-fusion (transductive) is best at 1 query a class (60.0\u00a0%) and at 15 queries a class "
            "(65.0\u00a0%).");
  points[2].accuracy.value = 60.1;  // mean-fusion's, ± 0.7
  EXPECT_EQ(queries_section(points, {}).finding,
            "mean-fusion and gauss-fusion (transductive) are best at 1 query a class (60.1\u00a0%), gauss-fusion "
            "(transductive) at 15 queries a class (65.0\u00a0%).");
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
  EXPECT_THAT(section.finding, HasSubstr("novel classes spread more widely by angle, but not measurably by variance."));
  DistributionAnalysis unsure = testing::sample_distribution();
  unsure.variances[1].cosine_ci95 = 0.06;  // wider than the difference of 0.05
  EXPECT_THAT(distribution_section(unsure, &testing::plain_title).finding,
              HasSubstr("novel classes spread not measurably more widely."));
}

BarChart some_bars() {
  BarChart chart;
  chart.id = "x-bars";
  chart.bars = {{"a", "", 0.5, 0.1, "m-mean"}};
  return chart;
}

/// What parse_analysis says of a section in a file.
std::string refusal_of(const Section& section) {
  nlohmann::json file = analysis_json({section, "", "", nlohmann::json::object()}, nullptr);
  return testing::message_of([&] { parse_analysis(file, "a.json"); });
}

std::string refusal_of(const Figure& figure) {
  Section section;
  section.name = "noise";
  section.figures = {figure};
  return refusal_of(section);
}

TEST(AnalysisFile, IsRefusedWhenItsTableHasNoColumns) {
  Section section;
  section.name = "noise";
  section.tables = {{"caption", {}, {{}}}};
  EXPECT_THAT(refusal_of(section), AllOf(HasSubstr("a.json"), HasSubstr("'caption' has no columns")));
  section.tables = {{"caption", {"a"}, {{"1"}}}};
  EXPECT_EQ(refusal_of(section), "(no Error)");
}

TEST(AnalysisFile, IsRefusedWhenNoChartCanShowItsNumbers) {
  EXPECT_EQ(refusal_of(some_bars()), "(no Error)");
  for (const int decimals : {-1, 500'000'000}) {
    BarChart chart = some_bars();
    chart.decimals = decimals;
    EXPECT_THAT(refusal_of(chart), AllOf(HasSubstr("a.json"), HasSubstr("'x-bars'"), HasSubstr("decimals")));
    LineChart lines;
    lines.decimals = decimals;
    EXPECT_THAT(refusal_of(lines), HasSubstr("decimals"));
  }
  BarChart far = some_bars();
  far.low = 1e16;
  far.high = 1e16 + 4;  // ticks fall between the numbers that there are
  EXPECT_THAT(refusal_of(far), HasSubstr("axis"));
  LineChart lines;
  lines.low = 1e16;
  lines.high = 1e16 + 4;
  EXPECT_THAT(refusal_of(lines), HasSubstr("axis"));
  BarChart large = some_bars();
  large.bars[0].value = 1e300;
  EXPECT_THAT(refusal_of(large), HasSubstr("too large"));
}

TEST(AnalysisFile, PutsNoScriptIntoThePage) {
  const std::string script = "\"/><script>alert(1)</script><g class=\"";
  BarChart chart = some_bars();
  chart.bars[0].css_class = script;
  EXPECT_THAT(refusal_of(chart), HasSubstr("css_class"));
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("<script")));
  for (std::string* text :
       {&chart.id, &chart.title, &chart.description, &chart.unit, &chart.bars[0].label, &chart.bars[0].note}) {
    *text = script;
  }
  chart.bars[0].css_class = "m-mean";
  chart.references = {{0.5, script}};
  EXPECT_THAT(draw(chart).str(), Not(HasSubstr("<script")));
}

// ceil and floor of a difference that vanishes beside its numbers once made a loop without end.
TEST(LinearScale, HasFewTicksWhateverItsEnds) {
  EXPECT_LE((LinearScale{1e16, 1e16 + 4, 0, 1}.ticks(5).size()), 1000U);
  EXPECT_LE((LinearScale{0, 0, 0, 1}.ticks(5).size()), 1000U);
  EXPECT_LE((LinearScale{-1e308, 1e308, 0, 1}.ticks(5).size()), 1000U);
}

TEST(FitText, TakesTimeInProportionToTheText) {
  const std::string text(4'000'000, 'x');  // letter by letter from the end it was 10^13 steps
  EXPECT_LT(fit_text_to(text, 100.0, 13.0).size(), 100U);
}

}  // namespace
}  // namespace protocom
