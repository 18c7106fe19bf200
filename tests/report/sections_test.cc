#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "report/analysis_sections.h"
#include "report/sample_sections.h"
#include "report/section.h"
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

// The mean rises by 5 per shot from 40, completed stays at 50: they meet at the third shot; 40, 45, 50.
TEST(ShotsSection, HasTheLeadingMethodAtBothEndsAndWhereTheCurvesCross) {
  const Section section = series_section("shots", testing::sample_series({1, 2, 3, 4}), {});
  EXPECT_EQ(section.finding,
            "completed: 50.0 ± 0.7\u00a0% at K\u00a0=\u00a01 (+10.0 ± 0.5 points vs mean), 50.0 ± 0.7\u00a0% at "
            "K\u00a0=\u00a04 (−5.0 ± 0.5 points vs mean).");
  const auto& chart = std::get<LineChart>(section.figures.front());
  ASSERT_EQ(chart.vertical.size(), 1U);
  EXPECT_DOUBLE_EQ(chart.vertical[0].value, 3.0);
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre("completed", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7"));
}

TEST(ShotsSection, ShowsNoCrossingWhereThereIsNone) {
  const Section section = series_section("shots", testing::sample_series({1, 2}), {});
  EXPECT_TRUE(std::get<LineChart>(section.figures.front()).vertical.empty());
  EXPECT_EQ(series_section("shots", testing::sample_series({1}), {}).finding,
            "completed: 50.0 ± 0.7\u00a0% at K\u00a0=\u00a01 (+10.0 ± 0.5 points vs mean).");
}

TEST(ShotsSection, ClaimsNoGainAndNoCrossingWithinTheIntervals) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 2, 3, 4});
  for (SeriesPoint& point : points) {
    if (point.method == "completed") point.gain.ci95 = 11;
  }
  const Section section = series_section("shots", points, {});
  EXPECT_THAT(section.finding, HasSubstr("(+10.0 ± 11.0 points vs mean, not significant)"));
  EXPECT_TRUE(std::get<LineChart>(section.figures.front()).vertical.empty());
}

/// Adds the points of plda with knowledge worth 8 ± 1 points, then 0.1 ± 0.5, to the others.
std::vector<SeriesPoint> with_plda(const std::vector<double>& places) {
  std::vector<SeriesPoint> points = testing::sample_series(places);
  for (const double x : places) {
    SeriesPoint point{x, "plda", "inductive", {60.0, 0.5}, {7.0, 0.5}, 0.0};
    point.knowledge = x == places.front() ? Estimate{8.0, 1.0} : Estimate{0.1, 0.5};
    points.push_back(point);
  }
  return points;
}

TEST(SeriesSection, LeadsWithPldaAndHasATableOfWhatItsKnowledgeAdds) {
  const Section section = series_section("shots", with_plda({1, 5}), {});
  EXPECT_THAT(section.finding, HasSubstr("plda: 60.0 ± 0.5\u00a0% at K\u00a0=\u00a01 (+7.0 ± 0.5 points vs mean)"));
  ASSERT_EQ(section.tables.size(), 2U);
  EXPECT_THAT(section.tables[1].rows[0], ElementsAre("plda", "+8.0 ± 1.0", "+0.1 ± 0.5"));
}

TEST(SeriesSection, LeavesPointsWithoutALabelledImageToTheTable) {
  const Section section = series_section("shots", with_plda({0, 1}), {});
  EXPECT_THAT(section.finding, Not(HasSubstr("K\u00a0=\u00a00"))) << "gains there are over chance";
  EXPECT_THAT(section.tables[0].columns, ElementsAre("Method", "K\u00a0=\u00a00", "K\u00a0=\u00a01"));
}

TEST(SeriesSection, OfNoiseSaysWhatItChanges) {
  std::vector<SeriesPoint> points = testing::sample_series({0.0, 0.3});
  const std::map<std::string, Estimate> changes = {
      {"mean", {}}, {"completed", {-3.1, 0.4}}, {"mean-fusion", {0.3, 0.4}}, {"gauss-fusion", {0.8, 0.2}}};
  for (SeriesPoint& point : points) point.change = point.x > 0 ? changes.at(point.method) : Estimate{};
  const Section section = series_section("noise", points, {});
  EXPECT_THAT(section.finding,
              HasSubstr("at γ\u00a0=\u00a00.3 (+5.0 ± 0.5 points vs mean); change −3.1 ± 0.4 points."));
  ASSERT_EQ(section.tables.size(), 2U);
  EXPECT_THAT(section.tables[1].rows.back(), ElementsAre("gauss-fusion (transductive)", "0.0 ± 0.0", "+0.8 ± 0.2"));
  EXPECT_EQ(section.tables[1].rows.front()[0], "completed") << "a row of zeros, of the mean, says nothing";
}

TEST(SeriesSection, IsAboutAMethodThatUsesUnlabelledImagesWhereOneDoes) {
  std::vector<SeriesPoint> points = testing::sample_series({0, 10});
  for (SeriesPoint& point : points) {
    if (point.method == "gauss-fusion") point.mode = "semi-supervised";
  }
  EXPECT_THAT(series_section("unlabelled", points, {}).finding,
              HasSubstr("gauss-fusion (semi-supervised): 60.0 ± 0.9\u00a0% at u\u00a0=\u00a00"));
}

TEST(GainChart, IsNamedAfterTheMethodThatGainsAreOver) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 2});
  EXPECT_EQ(title_of(series_section("shots", points, {}).figures[1]), "Gain over the class mean");
  for (SeriesPoint& point : points) {
    if (point.method == "mean") point.gain = {-10, 0.5};
    if (point.method == "mean-fusion") point.gain = {};
  }
  EXPECT_EQ(title_of(series_section("shots", points, {}).figures[1]), "Gain over mean-fusion");
}

TEST(CalibrationSection, NamesTheLowestErrorWithBothIntervals) {
  ReliabilityCurve curve{"mean", "inductive", 0.02, 0.001, {{0.2, 0.3, 50, 0.25, 0.4}}, 0.005, 0.004};
  ReliabilityCurve other = curve;
  other.method = "plda";
  other.expected_error = 0.015;
  const Section section = calibration_section({curve, other}, {});
  EXPECT_EQ(
      section.finding,
      "Lowest expected calibration error: plda, 1.5 ± 0.5 points; mean probability minus accuracy +0.1 ± 0.4 points.");
  EXPECT_THAT(section.tables[0].rows[0], ElementsAre("mean", "2.0 ± 0.5", "+0.1 ± 0.4"));
}

// 90, 89 and 50 %, each ± 2.5.
TEST(Sections, NameThePaperThatTheirTablesAndFiguresAreOf) {
  for (const Section& section : testing::sample_sections()) {
    for (const char* what : {"table", "figure"}) {
      const size_t at = section.title.find(what);
      if (at == std::string::npos) continue;
      EXPECT_THAT(section.title, HasSubstr(std::string("(Zhang et al. 2021, ") + what));
    }
  }
}

TEST(EpisodesSection, SaysWhetherTheChangeIsSignificant) {
  EpisodesAnalysis analysis;
  analysis.changes = {1.0};
  analysis.change = {8.4, 0.7};
  const auto finding = [&] { return episodes_section(analysis, &testing::plain_title, {}).finding; };
  EXPECT_THAT(finding(), HasSubstr("gauss-fusion (transductive) vs mean: +8.4 ± 0.7 points; worse in"));
  analysis.change = {-1.2, 0.7};
  EXPECT_THAT(finding(), HasSubstr("−1.2 ± 0.7 points;"));
  analysis.change = {0.3, 0.7};
  EXPECT_THAT(finding(), HasSubstr("+0.3 ± 0.7 points, not significant;"));
}

// 2 and 4: mean 3, standard deviation sqrt(2), interval 1.96.
TEST(AttentionSection, GivesItsMeanTheIntervalOverClasses) {
  const ClassAttention two{"n1", "a", 10, {{"x", "x", 1.0, 0.3, 0.04, 2.0}}};
  const ClassAttention four{"n2", "b", 10, {{"x", "x", 1.0, 0.3, 0.04, 4.0}}};
  EXPECT_EQ(attention_section({two, four}).finding,
            "The attributes of a class together weigh 3.0 ± 2.0 times its image’s own code on average.");
  EXPECT_EQ(attention_section({four}).finding,
            "The attributes of a class together weigh 4.0 times its image’s own code on average.");
}

SingleImageAnalysis moved_by(const Estimate& nearest, const Estimate& farthest) {
  return {20, 249, 50, {{"mean", {0.9, 0.5, 0.1}}, {"completed", {0.8, 0.6, 0.3}, nearest, farthest}}};
}

TEST(SingleImagesSection, SaysWhatCompletionDoesAtBothEndsWithTheIntervalsOverClasses) {
  const Section section = single_images_section(moved_by({-0.021, 0.004}, {0.152, 0.02}), Split::kNovel);
  EXPECT_EQ(
      section.finding,
      "completed, cosine over that of the image itself: −0.021 ± 0.004 for the nearest images, +0.152 ± 0.020 for "
      "the farthest.");
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre("completed", "0.800", "0.600", "0.300", "−0.021 ± 0.004", "+0.152 ± 0.020"));
}

TEST(SingleImagesSection, ClaimsNothingOfOneClass) {
  SingleImageAnalysis alone = moved_by({-0.021, 0.0}, {0.152, 0.0});
  alone.classes = 1;
  EXPECT_EQ(single_images_section(alone, Split::kNovel).finding, "One class: there is no interval over classes.");
}

TEST(OpenSections, NameWhatIsBestAtTheFewestShots) {
  const std::vector<OpenSetResult> results = {{"plda", "inductive", 0, true, {50, 1}, 0.6, 90, 0.02, 0.01},
                                              {"mean", "inductive", 1, false, {57, 1}, 0.71, 85, 0.31, 0.01},
                                              {"plda", "inductive", 1, true, {62, 1}, 0.72, 80, 0.02, 0.01},
                                              {"plda", "inductive", 5, true, {70, 1}, 0.80, 70, 0.02, 0.01}};
  EXPECT_EQ(open_set_section(results, {}).finding,
            "Highest area under the ROC curve at K\u00a0=\u00a01: plda, 0.720 ± 0.010; at 95\u00a0% recall it accepts "
            "80\u00a0% of the others.");
  const auto of = [](const char* method, double shots, Estimate harmonic) {
    return GeneralisedResult{method, "inductive", shots, {{40, 1}, {70, 1}, harmonic}, std::nullopt};
  };
  EXPECT_EQ(generalised_section({of("plda", 0, {30, 1}), of("mean", 1, {45, 1}), of("plda", 1, {50, 1})}, {}).finding,
            "Highest harmonic mean at K\u00a0=\u00a01: plda, 50.0 ± 1.0 (novel 40.0 ± 1.0\u00a0%, base 70.0 ± "
            "1.0\u00a0%).");
}

// Differences between gauss-fusion and the mean are 30 in both episodes: no interval.
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
  EXPECT_THAT(section.tables[0].rows[0], ElementsAre("mean", "p", "0.500 ± 0.000", ""));
  EXPECT_THAT(section.tables[0].rows[3],
              ElementsAre("gauss-fusion (transductive)", "p̂′", "0.800 ± 0.000", "+0.300 ± 0.000"));
  EXPECT_EQ(section.finding,
            "Highest cosine to the true centre: gauss-fusion (transductive), 0.800 ± 0.000 (+0.300 ± 0.000 vs mean).");
}

// 0.4 and 0.8: 0.6 ± 0.392, far wider than the differences; these are both 0.05, or -0.1 and 0.2: 0.05 ± 0.294.
TEST(CosineSection, ComparesOnTheSameEpisodes) {
  TaskScores scores = testing::sample_scores(1);
  scores.methods.resize(2);
  const auto over_mean = [&](const std::vector<double>& mean, const std::vector<double>& completed) {
    scores.methods[0].cosine = mean;
    scores.methods[1].cosine = completed;
    return cosine_section(scores, {}).tables[0].rows[1][3];
  };
  EXPECT_EQ(over_mean({0.4, 0.8}, {0.45, 0.85}), "+0.050 ± 0.000");
  EXPECT_EQ(over_mean({0.4, 0.8}, {0.3, 1.0}), "+0.050 ± 0.294");
  EXPECT_EQ(over_mean({0.4}, {0.9}), "–") << "one episode has no interval";
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

// Two classes in each split: those of novel go on after those of base, on both kinds of map.
// Variances 0.0975 and 0.0944, each ± 0.002: 0.0031 ± 0.0028 less. Cosines 0.70 and 0.65, each ± 0.01.
BarChart some_bars() {
  BarChart chart;
  chart.id = "x-bars";
  chart.bars = {{"a", "", 0.5, 0.1, "m-mean"}};
  return chart;
}

/// Returns the error of parse_analysis about a section in a file.
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
  far.high = 1e16 + 4;  // ticks lie between representable numbers
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

// ceil and floor of a difference that vanishes beside its numbers once caused an endless loop.
TEST(LinearScale, HasFewTicksWhateverItsEnds) {
  EXPECT_LE((LinearScale{1e16, 1e16 + 4, 0, 1}.ticks(5).size()), 1000U);
  EXPECT_LE((LinearScale{0, 0, 0, 1}.ticks(5).size()), 1000U);
  EXPECT_LE((LinearScale{-1e308, 1e308, 0, 1}.ticks(5).size()), 1000U);
}

TEST(FitText, TakesTimeInProportionToTheText) {
  const std::string text(4'000'000, 'x');  // letter by letter from the end it took 10^13 steps
  EXPECT_LT(fit_text_to(text, 100.0, 13.0).size(), 100U);
}

}  // namespace
}  // namespace protocom
