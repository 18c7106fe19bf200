#include "report/html_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <vector>

#include "base/error.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

json entry(const std::string& method, const std::string& mode, int k_shot, double accuracy) {
  return {{"method", method}, {"mode", mode},         {"n_way", 5},  {"k_shot", k_shot}, {"n_query", 15},
          {"episodes", 600},  {"accuracy", accuracy}, {"ci95", 0.5}, {"cosine", 0.5},    {"cosine_ci95", 0.01}};
}

Evaluation example(const std::string& name = "r.json") {
  const json parsed = {{"header", {{"seed", 7}, {"program_version", "0.1.0"}, {"inputs", {{"model", "ef56"}}}}},
                       {"dataset", {{"features_hash", "ab12"}, {"split", "novel"}, {"classes", 20}}},
                       {"results",
                        {entry("mean", "inductive", 1, 53.3), entry("gauss-fusion", "transductive", 1, 61.5),
                         entry("mean", "inductive", 5, 71.5), entry("gauss-fusion", "transductive", 5, 73.1),
                         entry("my <own>", "inductive", 5, 60.0)}},
                       {"episodes_hash", "9f9f"},
                       {"command", "protocom evaluate --features \"a b.npz\""}};
  return parse_evaluation(parsed, name);
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

// Reads the XML subset that we write: checks that every opened element is closed, in order.
void expect_balanced(const std::string& html) {
  static const std::set<std::string> kVoid = {"meta",     "img",     "rect",  "line",    "circle",
                                              "polyline", "polygon", "image", "!doctype"};
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z0-9!]+)[^>]*>");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (kVoid.count(name) != 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlReport, NeedsNothingFromTheNetworkAndRunsNoScript) {
  const std::string html = html_report({example()});
  for (const char* word : {"http:", "https:", "<script", "url(", "@import", "<link", "src=\"/"})
    EXPECT_THAT(html, Not(HasSubstr(word)));
}

TEST(HtmlReport, ClosesEveryElementItOpens) {
  expect_balanced(html_report({example()}));
  expect_balanced(html_report({example("a.json"), example("b.json")}));
}

TEST(HtmlReport, GivesEveryElementItsOwnId) {
  const std::vector<std::string> ids =
      all_matches(html_report({example("a.json"), example("b.json")}), "\\sid=\"([^\"]*)\"");
  // Title and desc of four charts of two evaluations; "top", "next", "accuracy", "methods" and "reproduce".
  EXPECT_EQ(ids.size(), 2U * 2U * 4U + 5U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(HtmlReport, ShowsFiguresWithTheirModeAndInterval) {
  const std::string html = html_report({example()});
  EXPECT_THAT(html, HasSubstr("53.3 ± 0.5"));
  EXPECT_THAT(html, HasSubstr("<b>61.5 ± 0.5</b>"));
  EXPECT_THAT(html, HasSubstr("<b>71.5 ± 0.5</b>")) << "the best inductive one, though a transductive one is above it";
  EXPECT_THAT(html, HasSubstr("transductive</small><small>assumes balanced queries</small>"));
  EXPECT_THAT(html, HasSubstr("+8.2 ± 0.7"));
  EXPECT_THAT(html, HasSubstr("transductive"));
  EXPECT_THAT(html, HasSubstr("5-way 1-shot"));
  EXPECT_THAT(html, HasSubstr("<td>–</td>"));  // the method without a 1-shot result
}

TEST(HtmlReport, SaysUnderItsHeadlineWhatKnowledgeIsWorth) {
  Evaluation told = example();
  told.findings = {"Knowledge adds 3.0 ± 0.4 points to the 50 % of <one> image."};
  const std::string html = html_report({told});
  EXPECT_THAT(html, HasSubstr("<p>Knowledge adds 3.0 ± 0.4 points to the 50\u00a0% of &lt;one&gt; image.</p>"));
  EXPECT_LT(html.find("Knowledge adds"), html.find("<table>"));
}

TEST(HtmlReport, SaysHowToReproduceItself) {
  const std::string html = html_report({example()});
  EXPECT_THAT(html, HasSubstr("protocom evaluate --features &quot;a b.npz&quot;"));
  for (const char* fact : {"<span>7</span>", "<code>ab12</code>", "<code>ef56</code>", "<code>9f9f</code>"})
    EXPECT_THAT(html, HasSubstr(fact));
}

TEST(HtmlReport, EscapesWhatComesFromFiles) {
  const std::string html = html_report({example("<b>.json"), example()});
  EXPECT_THAT(html, HasSubstr("my &lt;own&gt;"));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;.json"));
  EXPECT_THAT(html, Not(HasSubstr("my <own>")));
}

TEST(HtmlReport, EmbedsPicturesWithTheirCaption) {
  ReportOptions options;
  options.pictures = {{"\x89PNG\r\n\x1a\nxyz", "A \"sheet\"", "sheet.png"}};
  const std::string html = html_report({example()}, options);
  EXPECT_THAT(html,
              HasSubstr("src=\"data:image/png;base64,iVBORw0KGgp4eXo=\""));  // as `base64` of coreutils encodes it
  EXPECT_THAT(html, HasSubstr("<figcaption>A &quot;sheet&quot;</figcaption>"));
  options.pictures[0].bytes = "GIF89a";
  EXPECT_THROW(html_report({example()}, options), Error);
}

TEST(HtmlReport, OfNothingIsRefused) { EXPECT_THROW(html_report({}), Error); }

/// Returns an analysis with every kind of figure.
AnalysisFile analysis() {
  Section section{"noise", "Wrong <knowledge>", "It costs 3.1 points.", "600 episodes.", {}, {}};
  section.tables = {{"Accuracy, %", {"Method", "γ = 0"}, {{"a & b", "1.0 ± 0.1"}}}};
  BarChart bars;
  bars.id = "bars";
  bars.bars = {{"mean", "inductive", 0.5, 0.1, "m-mean"}, {"knn", "inductive", 0.6, 0.1, "m-completed"}};
  LineChart lines;
  lines.id = "lines";
  lines.series = {{"mean", "m-mean", {1.0, 2.0}, {3.0, 4.0}, {}}};
  ScatterChart points;
  points.id = "points";
  points.groups = {{"goose", {0.5}, {0.5}}};
  HeatMap matrix;
  matrix.id = "matrix";
  matrix.labels = {"a", "b"};
  matrix.percent = {{90.0, 10.0}, {-1.0, 100.0}};
  PictureChart pictures;
  pictures.id = "pictures";
  pictures.rows = {{"near", {{"", "0.5", "x.jpg"}}}};
  section.figures = {bars, lines, points, matrix, pictures};
  return {section, "protocom analyse noise --gamma 0,0.1", "8e8e", {{"seed", 3}, {"inputs", {{"model", "77aa"}}}}};
}

TEST(HtmlReport, ShowsAnalysesWithTheirFindingFirstAndHowToReproduceThem) {
  ReportOptions options;
  options.analyses = {analysis()};
  for (const auto& evaluations : {std::vector<Evaluation>{example()}, std::vector<Evaluation>{}}) {
    const std::string html = html_report(evaluations, options);
    expect_balanced(html);
    EXPECT_LT(
        html.find(
            "<summary><h3>Wrong &lt;knowledge&gt;</h3><span class=\"soft\">It costs 3.1 points.</span></summary>"),
        html.find("<section id=\"analysis-noise\">"));
    EXPECT_THAT(html, HasSubstr("<th scope=\"row\">a &amp; b</th><td>1.0 ± 0.1</td>"));
    EXPECT_THAT(html, HasSubstr("protocom analyse noise --gamma 0,0.1"));
    EXPECT_THAT(html, HasSubstr("<code>77aa</code>"));
    EXPECT_THAT(html, HasSubstr("<dt>noise</dt><dd><code>8e8e</code>"));
  }
}

TEST(HtmlReport, GivesEveryFigureATitleAndADescription) {
  ReportOptions options;
  options.analyses = {analysis()};
  const std::string html = html_report({example()}, options);
  const auto figures = all_matches(html, "<svg[^>]* role=\"img\" aria-labelledby=\"([^\"]*)\"");
  EXPECT_EQ(figures.size(), all_matches(html, "(<svg)").size());
  EXPECT_EQ(figures.size(), 4U + 5U);
  for (const std::string& ids : figures) {
    const size_t space = ids.find(' ');
    EXPECT_THAT(html, HasSubstr("<title id=\"" + ids.substr(0, space) + "\">"));
    EXPECT_THAT(html, HasSubstr("<desc id=\"" + ids.substr(space + 1) + "\">"));
  }
  EXPECT_THAT(html, Not(HasSubstr("-desc\"></desc>")));
}

TEST(AnalysisFile, SurvivesItsJsonWithEveryKindOfFigure) {
  const AnalysisFile before = analysis();
  const json written = analysis_json(before, {{"any", 1}});
  const AnalysisFile after = parse_analysis(json::parse(written.dump()), "a.json");
  EXPECT_EQ(after.command, before.command);
  EXPECT_EQ(after.header, before.header);
  EXPECT_EQ(after.episodes_hash, before.episodes_hash);
  ASSERT_EQ(after.section.figures.size(), 5U);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(draw(after.section.figures[i]).str(), draw(before.section.figures[i]).str());
  EXPECT_EQ(after.section.tables[0].rows, before.section.tables[0].rows);
}

TEST(AnalysisFile, ThatIsDamagedIsRefusedByName) {
  const auto message = [](const json& parsed) {
    return testing::message_of([&] { parse_analysis(parsed, "a.json"); });
  };
  EXPECT_THAT(message(json::array()), HasSubstr("a.json is not a file of `protocom analyse`"));
  const json whole = analysis_json(analysis(), {});
  json damaged = whole;
  damaged["section"].erase("figures");
  EXPECT_THAT(message(damaged), HasSubstr("a.json: the analysis is damaged"));
  damaged = whole;
  damaged["section"]["figures"][0]["kind"] = "pie";
  EXPECT_THAT(message(damaged), HasSubstr("unknown kind"));
  damaged = whole;
  damaged["section"]["figures"][1]["series"][0]["x"] = {1.0};
  EXPECT_THAT(message(damaged), HasSubstr("'lines' is damaged"));
  damaged = whole;
  damaged["section"]["tables"][0]["rows"][0] = {"only one"};
  EXPECT_THAT(message(damaged), HasSubstr("1 cells for 2 columns"));
}

Evaluation of_dataset(const std::string& features, int k_shot, double mean, double fused) {
  const json parsed = {
      {"dataset", {{"features", features}}},
      {"results", {entry("mean", "inductive", k_shot, mean), entry("gauss-fusion", "transductive", k_shot, fused)}}};
  return parse_evaluation(parsed, "r.json");
}

TEST(Comparison, PutsTheTasksOfOneDatasetSideBySideAndMarksTheBest) {
  const ReportTable table =
      comparison_table({of_dataset("data/tiny.npz", 1, 53.3, 61.5), of_dataset("data/tiny.npz", 5, 71.5, 71.4),
                        of_dataset("data/cub.npz", 1, 69.6, 80.5)});
  EXPECT_THAT(table.columns, ElementsAre("Method", "tiny: 5-way 1-shot", "tiny: 5-way 5-shot", "cub: 5-way 1-shot"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(table.rows[0], ElementsAre("mean", "✓ 53.30 ± 0.50", "✓ 71.50 ± 0.50", "✓ 69.60 ± 0.50"));
  EXPECT_THAT(table.rows[1], ElementsAre("gauss-fusion\u00a0*\nassumes balanced queries", "✓ 61.50 ± 0.50",
                                         "✓ 71.40 ± 0.50", "✓ 80.50 ± 0.50"))
      << "the best of each kind";
}

TEST(Comparison, HasOneRowForAMethodWhoseSettingsDifferByTaskAndOneForEachVariantOfATask) {
  const auto of = [](int k_shot, const std::vector<json>& results) {
    json parsed = {{"dataset", {{"features", "tiny.npz"}}}, {"results", results}};
    return parse_evaluation(parsed, fmt::format("{}.json", k_shot));
  };
  const ReportTable tuned =
      comparison_table({of(1, {entry("knn:k=1", "inductive", 1, 50.0)}), of(5, {entry("knn", "inductive", 5, 60.0)})});
  ASSERT_EQ(tuned.rows.size(), 1U);
  EXPECT_THAT(tuned.rows[0], ElementsAre("knn\nk=1; defaults", "✓ 50.00 ± 0.50", "✓ 60.00 ± 0.50"));
  const ReportTable variants =
      comparison_table({of(1, {entry("knn:k=1", "inductive", 1, 50.0), entry("knn:k=3", "inductive", 1, 51.0)})});
  ASSERT_EQ(variants.rows.size(), 2U);
  EXPECT_THAT(variants.rows[0], ElementsAre("knn\nk=1", "50.00 ± 0.50"));
  EXPECT_THAT(variants.rows[1], ElementsAre("knn\nk=3", "✓ 51.00 ± 0.50"));
  const std::string html =
      html_report({of(1, {entry("knn:k=1", "inductive", 1, 50.0)}), of(5, {entry("knn", "inductive", 5, 60.0)})});
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">knn<small>k=1; defaults</small></th>"));
}

// Expected values from coreutils' base64, one for each kind of padding.
TEST(HtmlReport, EncodesPicturesOfEveryLength) {
  const auto embedded = [](const std::string& rest) {
    ReportOptions options;
    options.pictures = {{"\x89PNG\r\n\x1a\n" + rest, "", "p.png"}};
    return html_report({example()}, options);
  };
  EXPECT_THAT(embedded("f"), HasSubstr("base64,iVBORw0KGgpm\""));
  EXPECT_THAT(embedded("fo"), HasSubstr("base64,iVBORw0KGgpmbw==\""));
  EXPECT_THAT(embedded("foo"), HasSubstr("base64,iVBORw0KGgpmb28=\""));
}

}  // namespace
}  // namespace protocom
