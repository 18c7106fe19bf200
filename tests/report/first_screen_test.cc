#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html_report.h"
#include "report/is_informative.h"
#include "report/sample_sections.h"

namespace protocom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json row(const std::string& method, const std::string& mode, int k_shot, double accuracy) {
  return {{"method", method}, {"mode", mode},         {"n_way", 5},  {"k_shot", k_shot}, {"episodes", 600},
          {"n_query", 15},    {"accuracy", accuracy}, {"ci95", 0.5}, {"cosine", 0.5},    {"cosine_ci95", 0.01}};
}

Evaluation of_rows(const std::vector<json>& rows) { return parse_evaluation({{"results", rows}}, "r.json"); }

std::vector<json> plain_rows() {
  return {row("mean", "inductive", 1, 53.3),       row("plda", "inductive", 1, 83.2),
          row("plda-vb", "transductive", 1, 92.1), row("mean", "inductive", 5, 71.5),
          row("plda", "inductive", 5, 89.9),       row("plda-vb", "transductive", 5, 93.7)};
}

/// Returns the analysis by class, with a photo of one of the worst.
AnalysisFile classes() {
  const WorstClass worst{"gull", 43.0, "tern", 25.0, {{"1.jpg", "tern"}}, {"t.jpg"}};
  ClassesAnalysis analysis = testing::sample_classes(5);
  return {classes_section(analysis, {}, Analysed::kMostAccurate, {worst}, &testing::some_picture), "", "", {}};
}

/// Returns the analysis by classes at once, of mean and plda, up to 20.
AnalysisFile ways() {
  std::vector<SeriesPoint> points;
  for (const double n : {5.0, 20.0}) {
    points.push_back({n, "mean", "inductive", {50.0 - n, 0.8}, {0.0, 0.0}, 0.0});
    points.push_back({n, "plda", "inductive", {87.0 - n, 0.8}, {37.0, 0.5}, 0.0});
    points.push_back({n, "tim", "transductive", {60.0 - n, 0.8}, {10.0, 0.5}, 0.0});
  }
  return {series_section("ways", points, {}), "", "", {{"options", {{"k-shot", 1}}}}};
}

std::string part(const std::string& html, const std::string& from, const std::string& to) {
  const size_t begin = html.find(from);
  return begin == std::string::npos ? "" : html.substr(begin, html.find(to, begin) - begin);
}

TEST(FirstScreen, HasExpectationChartsWorstClassesAndAdviceBeforeTheTable) {
  ReportOptions options;
  options.analyses = {ways(), classes()};
  const std::string html = html_report({of_rows(plain_rows())}, options);
  std::vector<size_t> places;
  for (const char* words : {"5 classes at once: 83 of 100 right with 1 photo per class, 90 with 5 photos per class; 20 "
                            "classes at once: 67 of 100 right with 1 photo per class (plda, inductive).",
                            "Accuracy by classes at once</figcaption>", "What to do next</h2>",
                            "Classes that are wrong most often</h2>", "id=\"accuracy\"", "<table>"}) {
    ASSERT_THAT(html, HasSubstr(words));
    EXPECT_LT(places.empty() ? 0U : places.back(), html.find(words)) << words;
    places.push_back(html.find(words));
  }
  const std::string chart = part(html, "first-ways-title", "</svg>");
  EXPECT_THAT(chart, HasSubstr(">plda</text>"));
  EXPECT_THAT(chart, Not(HasSubstr("tim"))) << "the best method and the mean alone";
}

TEST(FirstScreen, SaysWhatToDoNext) {
  ReportOptions options;
  options.analyses = {classes()};
  const std::string next = part(html_report({of_rows(plain_rows())}, options), "<section id=\"next\">", "</section>");
  EXPECT_THAT(next, HasSubstr("<b>5 photos per class</b> rather than 1: 90 of 100 are right in place of 83"));
  EXPECT_THAT(next, HasSubstr("Ruby throated Hummingbird 4 (86.0\u00a0%)"));
  EXPECT_THAT(next,
              HasSubstr("<b>Classify photos that come together as one batch</b>: plda-vb (transductive) has 92 of "
                        "100 right in place of 83."));
  EXPECT_THAT(next, Not(HasSubstr("attributes"))) << "it was not measured without";
}

TEST(FirstScreen, SaysWhetherToKeepTheAttributes) {
  const auto next = [](double without) {
    return part(
        html_report({of_rows({row("plda", "inductive", 1, 83.2), row("plda:prior=none", "inductive", 1, without)})}),
        "<section id=\"next\">", "</section>");
  };
  EXPECT_THAT(next(75.2), HasSubstr("<b>Keep the attributes of the classes</b>: they add +8.0 ± 0.7 points to plda"));
  EXPECT_THAT(next(83.0), HasSubstr("<b>Omit the attributes of the classes</b>: they add +0.2 ± 0.7 points, not "
                                    "significant to plda"));
}

TEST(FirstScreen, TakesThePhotosOfTheWorstClassesOutOfTheirSection) {
  ReportOptions options;
  options.analyses = {classes()};
  const std::string html = html_report({of_rows(plain_rows())}, options);
  EXPECT_THAT(part(html, "<section id=\"worst\">", "</section>"), HasSubstr("classes-worst-0-title"));
  EXPECT_THAT(part(html, "<section id=\"analysis-classes\">", "</section>"), Not(HasSubstr("classes-worst")));
}

TEST(Contents, LinkToEveryPartOfThePageTwiceAndToNothingElse) {
  ReportOptions options;
  options.analyses = {ways(), classes()};
  const std::string html = html_report({of_rows(plain_rows())}, options);
  for (const char* id :
       {"top", "next", "worst", "accuracy", "methods", "analyses", "analysis-ways", "analysis-classes", "reproduce"}) {
    const std::string link = fmt::format("<a href=\"#{}\">", id);
    const size_t first = html.find(link);
    ASSERT_NE(first, std::string::npos) << id << ": beside the page";
    EXPECT_NE(html.find(link, first + 1), std::string::npos) << id << ": folded, on a phone";
    EXPECT_THAT(html, HasSubstr(fmt::format("id=\"{}\"", id)));
  }
  EXPECT_THAT(html_report({of_rows({row("mean", "inductive", 1, 50.0)})}), Not(HasSubstr("href=\"#worst\"")));
}

TEST(Report, LeavesOutWhatSaysNothing) {
  TaskScores alone = testing::sample_scores(1);
  alone.methods.resize(1);
  const SingleImageAnalysis single{20, 3, 1, {{"mean", {0.9, 0.8, 0.7}}}};
  ReportOptions options;
  options.analyses = {
      {cosine_section(alone, {}), "", "", {}}, {single_images_section(single, Split::kNovel), "", "", {}}, ways()};
  const std::string html = html_report({of_rows({row("mean", "inductive", 1, 50.0)})}, options);
  for (const char* gone : {"analysis-cosine", "analysis-single-images", "Cosine to the true centre"})
    EXPECT_THAT(html, Not(HasSubstr(gone)));
  EXPECT_THAT(html, HasSubstr("analysis-ways"));
}

TEST(SaysSomething, NotOneBarNotOnePointNotZeros) {
  BarChart bars;
  bars.bars = {{"mean", "", 0.962, 0.001, "m-mean"}};
  EXPECT_FALSE(is_informative(Figure(bars)));
  bars.bars.push_back({"plda", "", 0.97, 0.001, "extra-1"});
  EXPECT_TRUE(is_informative(Figure(bars)));
  LineChart lines;
  lines.series = {{"plda", "extra-1", {1, 2}, {0.0, 0.04}, {0.0, 0.0}}};
  EXPECT_FALSE(is_informative(Figure(lines))) << "0.0 as it is printed";
  lines.series[0].y = {0.0, 0.1};
  EXPECT_TRUE(is_informative(Figure(lines)));
  lines.series = {{"plda", "extra-1", {1}, {50.0}, {0.0}}};
  EXPECT_FALSE(is_informative(Figure(lines))) << "one point";
  EXPECT_FALSE(is_informative(Figure(LineChart())));
}

TEST(Report, FoldsLongTables) {
  ReportOptions options;
  AnalysisFile many = classes();
  EXPECT_THAT(html_report({}, {"t", {}, {many}}), Not(HasSubstr("class=\"card wide rows\"")));
  many.section = classes_section(testing::sample_classes(30), {});
  EXPECT_THAT(html_report({}, {"t", {}, {many}}), HasSubstr("(30 rows)</summary>"));
}

}  // namespace
}  // namespace protocom
