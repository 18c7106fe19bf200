#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
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
            "Completed prototypes are better than the class mean with 1 to 2 shots, not measurably different with 3 "
            "shots, worse with 4 shots.");
  const auto& chart = std::get<LineChart>(section.figures.front());
  ASSERT_EQ(chart.vertical.size(), 1U);
  EXPECT_DOUBLE_EQ(chart.vertical[0].value, 3.0);
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre("completed", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7", "50.0 ± 0.7"));
}

TEST(ShotsSection, SaysThatTheCurvesDoNotCross) {
  const Section section = shots_section(testing::sample_series({1, 2}), {});
  EXPECT_EQ(section.finding, "Completed prototypes are better than the class mean with 1 to 2 shots.");
  EXPECT_TRUE(std::get<LineChart>(section.figures.front()).vertical.empty());
  EXPECT_EQ(shots_section(testing::sample_series({1}), {}).finding,
            "Completed prototypes are better than the class mean with 1 shot.");
}

TEST(ShotsSection, ClaimsNoCrossingThatIsWithinTheIntervals) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 2, 3, 4});
  for (SeriesPoint& point : points) {
    if (point.method == "completed") point.gain.ci95 = 11;
  }
  const Section section = shots_section(points, {});
  EXPECT_EQ(section.finding,
            "Completed prototypes are not measurably different from the class mean with 1 to 4 shots.");
  EXPECT_TRUE(std::get<LineChart>(section.figures.front()).vertical.empty());
}

/// The points of plda with knowledge worth 8 ± 1 points, then 0.1 ± 0.5, beside the others.
std::vector<SeriesPoint> with_plda(const std::vector<double>& places) {
  std::vector<SeriesPoint> points = testing::sample_series(places);
  for (const double x : places) {
    SeriesPoint point{x, "plda", "inductive", {60.0, 0.5}, {7.0, 0.5}, 0.0};
    point.knowledge = x == places.front() ? Estimate{8.0, 1.0} : Estimate{0.1, 0.5};
    points.push_back(point);
  }
  return points;
}

TEST(ShotsSection, LeadsWithPldaAndWhatItsKnowledgeIsWorth) {
  const Section section = shots_section(with_plda({1, 5}), {});
  EXPECT_EQ(section.finding,
            "plda is better than the class mean with 1 to 5 shots. Knowledge adds 8.0 ± 1.0 points to plda with 1 "
            "shot, adds nothing measurable with 5 shots.");
  ASSERT_EQ(section.tables.size(), 2U);
  EXPECT_THAT(section.tables[1].rows[0], ElementsAre("plda", "8.0 ± 1.0", "0.1 ± 0.5"));
  EXPECT_THAT(base_classes_section(with_plda({8, 64}), {}).finding,
              HasSubstr("plda does not change measurably: 60.0\u00a0%."));
}

TEST(NoiseSection, SaysWhatIsMeasurablyLostOrGainedAndRenamesThePapersRowsAlone) {
  std::vector<SeriesPoint> points = testing::sample_series({0.0, 0.3});
  EXPECT_EQ(noise_section(points, {}, {}).finding, "No method here is measurably affected by wrong knowledge.");
  const std::map<std::string, Estimate> changes = {
      {"mean", {1e-16, 2e-16}}, {"completed", {-3.1, 0.4}}, {"mean-fusion", {0.3, 0.4}}, {"gauss-fusion", {0.8, 0.2}}};
  for (SeriesPoint& point : points) point.change = point.x > 0 ? changes.at(point.method) : Estimate{};
  SeriesPoint variant = points[3];
  variant.method = "gauss-fusion:scale=20";
  points.push_back(variant);
  const Section section = noise_section(points, {}, {});
  EXPECT_EQ(section.finding,
            "With every attribute flipped with probability 0.3, completed loses 3.1 ± 0.4 points, gauss-fusion "
            "(transductive) gains 0.8 ± 0.2 points; mean-fusion does not change measurably.");
  EXPECT_EQ(section.tables[0].rows[3][0], "gauss-fusion (transductive; w/ GaussFusion)");
  EXPECT_EQ(section.tables[0].rows[4][0], "gauss-fusion:scale=20 (transductive)");
}

TEST(NoiseSection, OfOneLevelSaysNothingOfWhatNoiseCosts) {
  NoiseOptions options;
  options.gammas = {0.3};
  EXPECT_EQ(noise_section(testing::sample_series({0.3}), options, {}).finding,
            "gauss-fusion (transductive) is best at a noise level of 0.3 (60.0\u00a0%).");
}

TEST(WaysSection, OfOneNumberOfClassesComparesNothing) {
  EXPECT_EQ(ways_section(testing::sample_series({4}), {}).finding,
            "gauss-fusion (transductive) is best at 4 classes (60.0\u00a0%), where chance is 25.0\u00a0%.");
}

TEST(BaseClassesSection, SaysWhetherMoreOfThemHelpMeasurably) {
  EXPECT_EQ(base_classes_section(testing::sample_series({8, 16}), {}).finding,
            "With 16 base classes instead of 8 completed does not change measurably: 50.0\u00a0%.");
  std::vector<SeriesPoint> points = testing::sample_series({8, 16});
  points[5].accuracy = {53.0, 0.7};  // completed's second
  EXPECT_EQ(base_classes_section(points, {}).finding,
            "With 16 base classes instead of 8 completed gains 3.0 ± 1.0 points: 53.0\u00a0%.");
  EXPECT_EQ(base_classes_section(testing::sample_series({8}), {}).finding,
            "completed has 50.0\u00a0% with 8 base classes.");
}

TEST(GainChart, IsNamedAfterTheMethodThatGainsAreOver) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 2});
  EXPECT_EQ(title_of(shots_section(points, {}).figures[1]), "Gain over the class mean");
  for (SeriesPoint& point : points) {
    if (point.method == "mean") point.gain = {-10, 0.5};
    if (point.method == "mean-fusion") point.gain = {};
  }
  EXPECT_EQ(title_of(shots_section(points, {}).figures[1]), "Gain over mean-fusion");
}

TEST(CalibrationSection, SaysTooHighOrTooLowOnlyWhereTheIntervalDoes) {
  ReliabilityCurve curve{"mean", "inductive", 0.02, 0.001, {{0.2, 0.3, 50, 0.25, 0.4}}, 0.005, 0.004};
  EXPECT_EQ(calibration_section({curve}, {}).finding,
            "Probabilities are least off for mean, by 2.0 ± 0.5 points on average; they are neither measurably too "
            "high nor too low.");
  EXPECT_THAT(calibration_section({curve}, {}).tables[0].rows[0], ElementsAre("mean", "2.0 ± 0.5", "+0.1 ± 0.4"));
  curve.overconfidence = -0.02;
  ReliabilityCurve other = curve;
  other.method = "plda";
  other.expected_error = 0.025;
  EXPECT_EQ(calibration_section({curve, other}, {}).finding,
            "Probabilities are least off for mean and plda, by 2.0 ± 0.5 points on average; those of the first are 2.0 "
            "± 0.4 points too low.");
}

TEST(ClassesSection, NamesAllThatAreNotMeasurablyWorseThanTheBest) {
  ClassesAnalysis analysis = testing::sample_classes(3);  // 90, 89 and 88 %, each ± 2.5
  EXPECT_THAT(classes_section(analysis, {}).finding,
              HasSubstr("No class is told apart measurably better than another."));
  analysis.classes[2].accuracy.value = 50;
  EXPECT_THAT(classes_section(analysis, {}).finding,
              HasSubstr("Told apart best: Ruby throated Hummingbird 0 and Ruby throated Hummingbird 1 (90 ± "
                        "2\u00a0%); worst: Ruby throated Hummingbird 2 (50 ± 2\u00a0%)."));
}

// 90, 88 and 86 %, each ± 2.5: the interval of the last, up to 88.5, reaches into that of the first, from 87.5.
TEST(ClassesSection, NamesNoClassAsBothBestAndWorst) {
  ClassesAnalysis analysis = testing::sample_classes(3);
  analysis.classes[1].accuracy.value = 88;
  analysis.classes[2].accuracy.value = 86;
  EXPECT_THAT(classes_section(analysis, {}).finding,
              HasSubstr("No class is told apart measurably better than another."));
  for (size_t i = 0; i < 3; ++i) analysis.classes[i].accuracy = {90 - 4 * static_cast<double>(i), 2.5};
  const std::vector<ClassScore>& classes = analysis.classes;
  EXPECT_THAT(classes_section(analysis, {}).finding,
              HasSubstr("Told apart best: " + classes[0].title + " (90 ± 2\u00a0%); worst: " + classes[2].title + " ("))
      << "the middle one may be either";
}

TEST(ClassesSection, SaysHowOftenTheMostFrequentConfusionWasSeenAndNothingOfASingleEpisode) {
  ClassesAnalysis analysis = testing::sample_classes(3);
  analysis.classes[1].confused_percent = 20;
  EXPECT_THAT(classes_section(analysis, {}).finding,
              HasSubstr(" No confusion was seen more often than Ruby throated Hummingbird 1 taken for trilobite: "
                        "20\u00a0% of the queries in episodes with both, in 7 of these."));
  analysis.classes[1].confused_episodes = 1;
  EXPECT_THAT(classes_section(analysis, {}).finding, Not(HasSubstr("confusion")));
}

TEST(EpisodesSection, SaysWhatFusionAddsOnlyWhereTheIntervalDoes) {
  EpisodesAnalysis analysis;
  analysis.changes = {1.0};
  analysis.change = {8.4, 0.7};
  const auto finding = [&] { return episodes_section(analysis, &testing::plain_title, {}).finding; };
  EXPECT_THAT(finding(), HasSubstr("on average it adds 8.4 ± 0.7 points."));
  analysis.change = {-1.2, 0.7};
  EXPECT_THAT(finding(), HasSubstr("on average it costs 1.2 ± 0.7 points."));
  analysis.change = {0.3, 0.7};
  EXPECT_THAT(finding(), HasSubstr("on average it adds nothing measurable."));
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

TEST(SingleImagesSection, SaysWhatMovesOnlyWhereTheIntervalOverClassesDoes) {
  const Section section = single_images_section(moved_by({-0.021, 0.004}, {0.152, 0.02}), Split::kNovel);
  EXPECT_EQ(section.finding,
            "Completion moves the nearest images by −0.021 ± 0.004 and the farthest by +0.152 ± 0.020, in cosine to "
            "their centre.");
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre("completed", "0.800", "0.600", "0.300", "−0.021 ± 0.004", "+0.152 ± 0.020"));
  EXPECT_EQ(single_images_section(moved_by({-0.021, 0.021}, {0.152, 0.02}), Split::kNovel).finding,
            "Completion moves the nearest images not measurably and the farthest by +0.152 ± 0.020, in cosine to their "
            "centre.");
  EXPECT_EQ(single_images_section(moved_by({-0.021, 0.03}, {0.152, 0.2}), Split::kNovel).finding,
            "Completion moves neither the nearest nor the farthest images measurably in cosine to their centre.");
}

TEST(SingleImagesSection, ClaimsNothingOfOneClass) {
  SingleImageAnalysis alone = moved_by({-0.021, 0.0}, {0.152, 0.0});
  alone.classes = 1;
  EXPECT_EQ(single_images_section(alone, Split::kNovel).finding,
            "How near each method’s prototype from one image comes to the centre.");
}

TEST(OpenSections, NameWhatIsBestAtTheFewestShotsAndWhatIsNotMeasurablyBelow) {
  const std::vector<OpenSetResult> results = {{"plda", "inductive", 0, true, {50, 1}, 0.6, 90, 0.02, 0.01},
                                              {"mean", "inductive", 1, false, {57, 1}, 0.71, 85, 0.31, 0.01},
                                              {"plda", "inductive", 1, true, {62, 1}, 0.72, 80, 0.02, 0.01},
                                              {"knn", "inductive", 1, false, {57, 1}, 0.60, 85, 0.31, 0.01},
                                              {"plda", "inductive", 5, true, {70, 1}, 0.80, 70, 0.02, 0.01}};
  EXPECT_THAT(open_set_section(results, {}).finding,
              HasSubstr("With 1 labelled image a class, plda and mean tell images of the given classes from those of "
                        "others best: area under the ROC curve 0.720 ± 0.010; where 95\u00a0% of the former"));
  const auto of = [](const char* method, double shots, Estimate harmonic) {
    return GeneralisedResult{method, "inductive", shots, {{40, 1}, {70, 1}, harmonic}, std::nullopt};
  };
  EXPECT_THAT(generalised_section({of("plda", 0, {30, 1}), of("mean", 1, {45, 1}), of("plda", 1, {50, 1})}, {}).finding,
              HasSubstr("with 1 labelled image a novel class, plda is best: 40\u00a0% of novel"));
}

TEST(QueriesSection, NamesTheBestMethodsAtBothEndsAndThoseThatAreNotMeasurablyWorse) {
  std::vector<SeriesPoint> points = testing::sample_series({1, 75});
  EXPECT_EQ(queries_section(points, {}).finding,
            "gauss-fusion (transductive) is best at 1 query (60.0\u00a0%) and at 75 queries (65.0\u00a0%).");
  points[2].accuracy.value = 60.1;  // mean-fusion's, ± 0.7
  EXPECT_EQ(queries_section(points, {}).finding,
            "mean-fusion and gauss-fusion (transductive) are best at 1 query (60.1\u00a0%), gauss-fusion "
            "(transductive) at 75 queries (65.0\u00a0%).");
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
  EXPECT_EQ(section.finding,
            "Cosine of the prototypes to the true class centres: mean 0.500 ± 0.000, completed 0.600 ± 0.000, "
            "mean-fusion 0.700 ± 0.000, gauss-fusion (transductive) 0.800 ± 0.000. Nearest is gauss-fusion "
            "(transductive).");
}

std::string nearest_of(const std::vector<double>& mean, const std::vector<double>& completed) {
  TaskScores scores = testing::sample_scores(1);
  scores.methods.resize(2);
  scores.methods[0].cosine = mean;
  scores.methods[1].cosine = completed;
  return cosine_section(scores, {}).finding;
}

// 0.4 and 0.8: 0.6 ± 0.392, far wider than the differences; these are 0.05 both, or -0.1 and 0.2: 0.05 ± 0.294.
TEST(CosineSection, SaysWhatIsNearestByTheDifferencesOnTheSameEpisodes) {
  EXPECT_THAT(nearest_of({0.4, 0.8}, {0.45, 0.85}),
              HasSubstr("mean 0.600 ± 0.392, completed 0.650 ± 0.392. Nearest is completed."));
  EXPECT_THAT(nearest_of({0.4, 0.8}, {0.3, 1.0}), HasSubstr(". None of them is measurably the nearest."));
  EXPECT_THAT(nearest_of({0.4}, {0.9}), HasSubstr(". None of them is measurably the nearest."));
  TaskScores one = testing::sample_scores(1);
  one.methods.resize(1);
  EXPECT_EQ(cosine_section(one, {}).finding, "Cosine of the prototypes to the true class centres: mean 0.500 ± 0.000.");
}

// completed is 0.05 above mean both times, and 0.3 below and 0.4 above mean-fusion: 0.05 ± 0.69.
TEST(CosineSection, NamesAllThatAreNotMeasurablyFartherThanTheNearest) {
  TaskScores scores = testing::sample_scores(1);
  scores.methods.resize(3);
  scores.methods[0].cosine = {0.45, 0.45};
  scores.methods[1].cosine = {0.5, 0.5};
  scores.methods[2].cosine = {0.8, 0.1};
  EXPECT_THAT(cosine_section(scores, {}).finding, HasSubstr(". Nearest are completed and mean-fusion."));
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
  EXPECT_THAT(section.tables[0].rows[0],
              ElementsAre("base", "64", "32000", "0.0975 ± 0.0020", "0.0400", "0.700 ± 0.010"));
}

// Variances 0.0975 and 0.0944, each ± 0.002: 0.0031 ± 0.0028 less. Cosines 0.70 and 0.65, each ± 0.01.
TEST(DistributionSection, SaysOfBothMeasuresWhatTheirIntervalsDo) {
  DistributionAnalysis analysis = testing::sample_distribution();
  SplitVariance& novel = analysis.variances[1];
  const auto finding = [&] { return distribution_section(analysis, &testing::plain_title).finding; };
  EXPECT_THAT(finding(), HasSubstr("novel classes spread more widely by angle, but less widely by variance."));
  novel.within_ci95 = 0.003;
  EXPECT_THAT(finding(), HasSubstr("novel classes spread more widely by angle, but not measurably by variance."));
  novel.cosine_ci95 = 0.06;  // wider than the difference of 0.05
  EXPECT_THAT(finding(), HasSubstr("novel classes spread not measurably more or less widely."));
  novel.within = 0.12;
  EXPECT_THAT(finding(), HasSubstr("novel classes spread more widely by variance, but not measurably by angle."));
  novel.cosine_ci95 = 0.01;
  EXPECT_THAT(finding(), HasSubstr("novel classes spread more widely."));
  novel.classes = 1;
  EXPECT_THAT(finding(), HasSubstr("novel classes spread not measurably more or less widely."));
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
