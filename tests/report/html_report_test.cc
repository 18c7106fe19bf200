#include "protocom/report/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <vector>

#include "protocom/core/error.h"

namespace protocom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json result(const std::string& method, const std::string& mode, int k_shot, double accuracy) {
  return {{"method", method}, {"mode", mode},         {"n_way", 5},  {"k_shot", k_shot}, {"n_query", 15},
          {"episodes", 600},  {"accuracy", accuracy}, {"ci95", 0.5}, {"cosine", 0.5},    {"cosine_ci95", 0.01}};
}

Evaluation example(const std::string& name = "r.json") {
  const json parsed = {{"header", {{"seed", 7}, {"program_version", "0.1.0"}, {"inputs", {{"model", "ef56"}}}}},
                       {"dataset", {{"features_hash", "ab12"}, {"split", "novel"}, {"classes", 20}}},
                       {"results",
                        {result("mean", "inductive", 1, 53.3), result("gauss-fusion", "transductive", 1, 61.5),
                         result("mean", "inductive", 5, 71.5), result("gauss-fusion", "transductive", 5, 73.1),
                         result("my <own>", "inductive", 5, 60.0)}},
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

// A reader for the XML subset we write: every element that is opened is closed, in order.
void expect_balanced(const std::string& html) {
  static const std::set<std::string> kVoid = {"meta", "img", "rect", "line", "circle", "polyline", "!doctype"};
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
  EXPECT_EQ(ids.size(), 2U * 2U * 4U);  // title and desc of four charts of two evaluations
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(HtmlReport, ShowsFiguresWithTheirModeAndInterval) {
  const std::string html = html_report({example()});
  EXPECT_THAT(html, HasSubstr("53.3 ± 0.5"));
  EXPECT_THAT(html, HasSubstr("<b>61.5 ± 0.5</b>"));
  EXPECT_THAT(html, HasSubstr("+8.2 ± 0.7"));
  EXPECT_THAT(html, HasSubstr("transductive"));
  EXPECT_THAT(html, HasSubstr("5-way 1-shot"));
  EXPECT_THAT(html, HasSubstr("<td>–</td>"));  // the method without a 1-shot result
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
