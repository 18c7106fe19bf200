#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "images/image.h"
#include "io/base64.h"
#include "report/analysis_sections.h"
#include "report/sample_sections.h"
#include "report/section.h"

namespace protocom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ClassesSection, SaysHowFarClassesAreApartAndOrdersThem) {
  ClassesAnalysis analysis = testing::sample_classes(3);
  analysis.classes[0].accuracy.value = 50;
  analysis.classes[2].accuracy.value = 90;
  analysis.classes[1].confused_episodes = 1;
  const Section section = classes_section(analysis, {});
  EXPECT_EQ(section.finding, "Accuracy by class: from 50.0 ± 2.5\u00a0% (" + analysis.classes[0].title +
                                 ") to 90.0 ± 2.5\u00a0% (" + analysis.classes[2].title + ").");
  EXPECT_THAT(section.tables[0].rows[1],
              ElementsAre(analysis.classes[1].title, "89.0 ± 2.5", "trilobite (12 %, 1 episode)"));
}

TEST(ClassesSection, SaysWhoseAnswersItShowsAndWhy) {
  const ClassesAnalysis analysis = testing::sample_classes(3);
  EXPECT_THAT(classes_section(analysis, {}, Analysed::kMostAccurate).how,
              HasSubstr("Answers of gauss-fusion, the most accurate transductive method here. "));
  EXPECT_THAT(classes_section(analysis, {}, Analysed::kNamed).how,
              HasSubstr("Answers of gauss-fusion, a transductive method, as requested. "));
  EXPECT_THAT(failures_section({}, "plda", {}, &testing::no_picture, Analysed::kMostAccurate).how,
              HasSubstr("Answers of plda, the most accurate inductive method here. "));
}

TEST(ClassesSection, ShowsPhotosOfTheWorstClassesWhereThereAreAny) {
  const WorstClass worst{"gull", 43.2, "tern", 25.0, {{"1.jpg", "tern"}, {"2.jpg", "duck"}}, {"t.jpg"}};
  const auto of = [&](const PictureSource& picture) {
    return classes_section(testing::sample_classes(3), {}, Analysed::kNamed, {worst}, picture).figures;
  };
  const std::vector<Figure> figures = of(&testing::some_picture);
  ASSERT_EQ(figures.size(), 3U);
  const auto& chart = std::get<PictureChart>(figures.front());
  EXPECT_EQ(chart.title, "gull");
  EXPECT_EQ(chart.rows[0].label, "43 % right; 25 % as tern");
  EXPECT_EQ(chart.rows[0].tiles[1].caption, "→ duck");
  EXPECT_EQ(chart.rows[0].tiles[0].caption, "its own");
  EXPECT_EQ(chart.rows[0].tiles[2].caption, "the other");
  EXPECT_EQ(of(&testing::no_picture).size(), 2U);
}

TEST(ClassesSection, PutsClassesBesideThoseThatTheyAreTakenFor) {
  ClassesAnalysis analysis = testing::sample_classes(4);
  for (size_t i = 0; i < 4; ++i) analysis.classes[i].title = std::string(1, static_cast<char>('a' + i));
  analysis.confusion = {{80, 0, 0, 20}, {0, 90, 10, 0}, {0, 10, 89, 1}, {20, 0, -1, 80}};
  const Section section = classes_section(analysis, {});
  const auto& map = std::get<HeatMap>(section.figures.front());
  EXPECT_THAT(map.labels, ElementsAre("a", "d", "c", "b"));
  EXPECT_THAT(map.percent[1], ElementsAre(20, 80, -1, 0)) << "row and column go together";
  EXPECT_THAT(map.percent[2], ElementsAre(0, 1, 89, 10));
}

TEST(ClassesSection, ShowsOfManyClassesThoseThatAreRightLeastOften) {
  const Section section = classes_section(testing::sample_classes(80), {});
  const auto& map = std::get<HeatMap>(section.figures[0]);
  EXPECT_EQ(map.labels.size(), 60U);
  EXPECT_THAT(map.title, HasSubstr("the 60 classes of 80 that are right least often"));
  EXPECT_THAT(map.labels, Not(Contains("Ruby throated Hummingbird 19"))) << "89 % and more are right of the first 20";
  const auto& bars = std::get<BarChart>(section.figures[1]);
  EXPECT_EQ(bars.bars.size(), 24U);
  EXPECT_THAT(bars.title, HasSubstr("the lowest 24 of 80"));
  EXPECT_EQ(bars.bars.back().label, "Ruby throated Hummingbird 79");
  EXPECT_EQ(section.tables[0].rows.size(), 80U);
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

TEST(DistributionSection, GivesAClassOneColourAndMarkAndNoOtherTheSame) {
  const Section section = distribution_section(testing::sample_distribution(), &testing::plain_title);
  const auto places = [&](size_t figure) {
    std::map<std::string, size_t> found;
    for (const PointGroup& group : std::get<ScatterChart>(section.figures[figure]).groups)
      found[group.label] = group.place;
    return found;
  };
  EXPECT_EQ(places(0), places(2));
  EXPECT_EQ(places(1), places(3));
  EXPECT_EQ(places(0), places(1)) << "the sample has the same names in both splits";
  DistributionAnalysis apart = testing::sample_distribution();
  for (MapPoint& point : apart.points) point.class_name += point.split;
  std::set<size_t> all;
  const Section section_apart = distribution_section(apart, &testing::plain_title);
  for (const size_t figure : {0U, 1U}) {
    for (const PointGroup& group : std::get<ScatterChart>(section_apart.figures[figure]).groups)
      all.insert(group.place);
  }
  EXPECT_EQ(all, (std::set<size_t>{0, 1, 2, 3}));
}

TEST(DistributionSection, HasPhotosOnTheMapOfNeighboursAlone) {
  const auto photo = [](const std::string&) { return base64(encode_jpeg({8, 8, std::vector<uint8_t>(192, 200)}, 80)); };
  const Section section = distribution_section(testing::sample_distribution(), &testing::plain_title, photo);
  EXPECT_FALSE(std::get<ScatterChart>(section.figures[0]).groups[0].sheet.empty());
  EXPECT_EQ(std::get<ScatterChart>(section.figures[0]).groups[0].columns, 2) << "three photos";
  EXPECT_TRUE(std::get<ScatterChart>(section.figures[2]).groups[0].sheet.empty()) << "the same photos on PCA";
}

TEST(DistributionSection, SaysHowSplitsDifferWithBothIntervals) {
  DistributionAnalysis analysis = testing::sample_distribution();
  const Section section = distribution_section(analysis, &testing::plain_title);
  EXPECT_EQ(section.finding,
            "Novel minus base classes: variance within a class −0.0031 ± 0.0028, cosine to the class centre −0.050 ± "
            "0.014.");
  EXPECT_THAT(section.tables[0].rows[2], ElementsAre("novel − base", "", "", "−0.0031 ± 0.0028", "", "−0.050 ± 0.014"));
  analysis.variances[1].classes = 1;
  EXPECT_EQ(distribution_section(analysis, &testing::plain_title).finding,
            "Fewer than two splits have several classes.");
}

}  // namespace
}  // namespace protocom
