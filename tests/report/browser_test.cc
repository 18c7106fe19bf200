#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "io/files.h"
#include "report/html_report.h"
#include "report/sample_sections.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using nlohmann::json;

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::array<char, 4096> block{};
  while (const size_t n = fread(block.data(), 1, block.size(), pipe.get())) text.append(block.data(), n);
  return text;
}

/// Returns the browser's command, or "" if there is none.
std::string chromium() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (!output_of(std::string("command -v ") + name).empty()) return name;
  }
  return "";
}

std::string whole_page() {
  json results = json::array();
  for (const int k_shot : {1, 5}) {
    for (const char* method : {"mean", "completed", "mean-fusion", "gauss-fusion"}) {
      results.push_back({{"method", method},
                         {"mode", method == std::string("gauss-fusion") ? "transductive" : "inductive"},
                         {"n_way", 5},
                         {"k_shot", k_shot},
                         {"episodes", 600},
                         {"accuracy", 61.5},
                         {"ci95", 0.8},
                         {"cosine", 0.7},
                         {"cosine_ci95", 0.01}});
    }
  }
  ReportOptions options;
  for (const Section& section : testing::sample_sections())
    options.analyses.push_back({section,
                                "protocom analyse all --features a-rather-long-name-of-a-file.npz",
                                "d41d8cd98f00b204e9800998ecf8427e",
                                {}});
  return html_report({parse_evaluation({{"results", results}}, "r.json")}, options);
}

/// Inspects the layout of the page, and reports it to the surrounding window.
constexpr const char* kProbe = R"js(<script>
addEventListener('load', () => {
  const cut = [], overlapping = [], unnamed = [];
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.querySelector('title')?.textContent;
    if (svg.getAttribute('role') !== 'img' || !name || !svg.querySelector('desc')?.textContent) unnamed.push(name);
    const box = svg.viewBox.baseVal;
    // As they stand on the page, rotated or not, in the drawing's units; details under the pointer have no position
    // yet.
    const ground = svg.getBoundingClientRect(), scale = box.width / ground.width;
    const boxes = [...svg.querySelectorAll('text')].filter(t => !t.closest('.peek')).map(t => {
      const b = t.getBoundingClientRect();
      return [t.textContent, {x: (b.x - ground.x) * scale, y: (b.y - ground.y) * scale, width: b.width * scale, height: b.height * scale}];
    });
    for (const peek of svg.querySelectorAll('.peek')) if (getComputedStyle(peek).display !== 'none') cut.push(name + ': a peek shows');
    for (const [words, b] of boxes)
      if (b.x < -1 || b.y < -1 || b.x + b.width > box.width + 1 || b.y + b.height > box.height + 1) cut.push(name + ': ' + words);
    for (let i = 0; i < boxes.length; ++i) for (let j = i + 1; j < boxes.length; ++j) {
      const [a, b] = [boxes[i][1], boxes[j][1]];
      const w = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
      const h = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
      if (w > 2 && h > 5) overlapping.push(name + ': ' + boxes[i][0] + ' / ' + boxes[j][0]);
    }
  }
  const dead = [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.hash.slice(1)));
  const main = document.querySelector('main');
  const shows = selector => getComputedStyle(document.querySelector(selector)).display !== 'none';
  const matrix = document.querySelector('.wide .scroll:has(> svg)');
  parent.postMessage(JSON.stringify({
    width: innerWidth, page: document.documentElement.scrollWidth, figures: document.querySelectorAll('svg').length,
    requests: performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:')),
    dark: matchMedia('(prefers-color-scheme: dark)').matches, ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(main).color, side: shows('.side'), folded: shows('.contents'),
    matrix: matrix.querySelector('svg').getBoundingClientRect().width, room: matrix.clientWidth, cut, overlapping, unnamed, dead: dead.map(a => a.hash)}), '*');
});
</script></body>)js";

/// Returns what the probe saw in a frame of that many pixels.
json look(const std::filesystem::path& folder, int width, const std::string& flags) {
  std::string page = whole_page();
  page.replace(page.rfind("</body>"), 7, kProbe);
  write_file(folder / "page.html", page);
  write_file(folder / "frame.html",
             fmt::format("<!doctype html><body><pre id=\"seen\"></pre><iframe src=\"page.html\" width=\"{}\" "
                         "height=\"900\" style=\"border:0\"></iframe><script>addEventListener('message', e => {{ "
                         "document.getElementById('seen').textContent = e.data; }});</script>",
                         width));
  const std::string dom = output_of(
      fmt::format("timeout 120 {} --headless --no-sandbox --disable-gpu --user-data-dir='{}' --window-size=1400,1000 "
                  "--virtual-time-budget=10000 {} --dump-dom 'file://{}' 2>/dev/null",
                  chromium(), (folder / "profile").string(), flags, (folder / "frame.html").string()));
  const size_t begin = dom.find("<pre id=\"seen\">");
  const size_t end = dom.find("</pre>");
  if (begin == std::string::npos || end == std::string::npos) return {{"dom", dom}};
  std::string text = dom.substr(begin + 15, end - begin - 15);
  for (const auto& [from, to] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&amp;", "&")}) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, std::string(from).size(), to);
  }
  return json::parse(text, nullptr, false);
}

void expect_sound(const json& seen, int width) {
  ASSERT_TRUE(seen.is_object() && seen.contains("width")) << seen.dump();
  EXPECT_EQ(seen["width"], width);
  EXPECT_LE(seen["page"], width) << "the page is wider than the screen";
  EXPECT_GT(seen["figures"], 20);
  EXPECT_EQ(seen["requests"], json::array());
  EXPECT_EQ(seen["unnamed"], json::array());
  EXPECT_EQ(seen["cut"], json::array());
  EXPECT_EQ(seen["overlapping"], json::array());
  EXPECT_EQ(seen["dead"], json::array());
}

#define REQUIRE_CHROMIUM() \
  if (chromium().empty()) GTEST_SKIP() << "LEFT OUT: no chromium here, so nobody looked at the page as it is laid out"

TEST(Browser, LaysThePageOutOnAPhoneWithoutCutOrOverlappingText) {
  REQUIRE_CHROMIUM();
  const testing::TempDir folder;
  const json seen = look(folder.path(), 390, "");
  expect_sound(seen, 390);
  EXPECT_EQ(seen["side"], false);
  EXPECT_EQ(seen["folded"], true) << "contents";
  EXPECT_GE(seen["matrix"], 760) << "a matrix is scrolled, not made smaller";
  EXPECT_LT(seen["room"], 390);
}

TEST(Browser, LaysThePageOutOnADeskAndInTheDark) {
  REQUIRE_CHROMIUM();
  const testing::TempDir folder;
  const json light = look(folder.path(), 1200, "");
  expect_sound(light, 1200);
  EXPECT_EQ(light["side"], true);
  EXPECT_EQ(light["folded"], false) << "contents";
  const json dark = look(folder.path(), 1200, "--force-dark-mode");
  expect_sound(dark, 1200);
  EXPECT_EQ(light["dark"], false);
  EXPECT_EQ(dark["dark"], true);
  EXPECT_EQ(light["ground"], "rgb(251, 250, 247)");
  EXPECT_EQ(dark["ground"], "rgb(20, 23, 28)");
  EXPECT_EQ(dark["ink"], "rgb(236, 238, 242)");
}

}  // namespace
}  // namespace protocom
