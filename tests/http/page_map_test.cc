// The map of the page: photos are selected, searched and put in a class.
#include "http/page_support.h"
#include "http/unsorted_support.h"
#include "http/words_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PageMap : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    if (IsSkipped()) return;
    path_ = make_own_photos(folder_.path(), parts());
    open_page({});
    for (const int grey : {10, 20, 30, 40, 50}) enrol("dark", static_cast<uint8_t>(grey));
    for (const int grey : {210, 220, 230, 240}) enrol("bright", static_cast<uint8_t>(grey));
    ASSERT_EQ(ask("POST", "/v1/unlabelled", png(250), kPng).status, 200);
    reload();
    go("teach");
    click("#map-box summary");
    ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#map circle').length === 10"));
  }

  /// Draws a line with the pointer around all photos of that name on the map.
  void draw_around(const std::string& name) {
    const json frame = browser_->evaluate(
        "(rects => [Math.min(...rects.map(r => r.left)), Math.min(...rects.map(r => r.top)), "
        "Math.max(...rects.map(r => r.right)), Math.max(...rects.map(r => r.bottom))])([...document."
        "querySelectorAll('#map circle')].filter(c => c.textContent === '" +
        name + "').map(c => c.getBoundingClientRect()))");
    const double left = frame[0].get<double>() - 4, top = frame[1].get<double>() - 4;
    const double right = frame[2].get<double>() + 4, bottom = frame[3].get<double>() + 4;
    mouse("mousePressed", left, top);
    for (const auto& [x, y] : {std::pair(right, top), std::pair(right, bottom), std::pair(left, bottom)})
      mouse("mouseMoved", x, y);
    mouse("mouseReleased", left, bottom);
  }
  void mouse(const char* type, double x, double y) {
    browser_->call("Input.dispatchMouseEvent",
                   {{"type", type}, {"x", x}, {"y", y}, {"button", "left"}, {"buttons", 1}, {"clickCount", 1}});
  }
  [[nodiscard]] json images_of(const std::string& name) const {
    return ask("GET", "/v1/classes/" + name).json()["images"];
  }
};

TEST_F(PageMap, WhatIsDrawnAroundIsPutInAClassAndTakenBackAtOnce) {
  browser_->evaluate("document.getElementById('map').scrollIntoView({block: 'center'})");
  draw_around("dark");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('map-count').textContent.includes('selected')"));
  EXPECT_THAT(text("#map-count"), HasSubstr("5 selected"));
  shoot("map-selection", 1280, false);
  shoot("map-selection-phone-dark", 390, true);
  shoot("map-selection", 1280, false);
  set("map-class", "night");
  click("#map-selection button");
  ASSERT_TRUE(status_has("5 photos put in night")) << text("#status");
  EXPECT_EQ(images_of("night"), 5);
  EXPECT_EQ(images_of("dark"), 0);
  ASSERT_TRUE(browser_->wait_for(
      "[...document.querySelectorAll('[data-class=night] .thumb')].filter(one => one.naturalWidth).length === 5"))
      << "they would not be found once it is undone";
  undo();
  EXPECT_EQ(images_of("dark"), 5);
  EXPECT_EQ(ask("GET", "/v1/classes/night").status, 404);
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageMap, UnsortedPhotosAreLabelledAndPhotosRemovedByKeys) {
  EXPECT_EQ(texts("#map-legend li"), json({"bright", "dark", "Unsorted"}));
  ASSERT_TRUE(browser_->tab_to("#map"));
  for (int i = 0; i < 12 && text("#map-photo") != "Unsorted"; ++i)
    browser_->press(i % 2 == 0 ? "ArrowRight" : "ArrowDown");
  if (text("#map-photo") != "Unsorted") {
    browser_->evaluate(
        "document.querySelector('#map circle:last-of-type').dispatchEvent(new MouseEvent('click', "
        "(r => ({bubbles: true, clientX: r.left + r.width / 2, clientY: r.top + r.height / 2}))("
        "document.querySelector('#map circle:last-of-type').getBoundingClientRect())))");
  }
  ASSERT_EQ(text("#map-photo"), "Unsorted");
  browser_->evaluate("document.getElementById('map').focus()");
  browser_->press("Space");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('map-count').textContent === '1 selected'"));
  set("map-class", "bright");
  click("#map-selection button");
  ASSERT_TRUE(status_has("1 photo put in bright")) << text("#status");
  EXPECT_EQ(images_of("bright"), 5);
  EXPECT_EQ(ask("GET", "/v1/recognizer").json()["unlabelled"], 0);
  ASSERT_TRUE(
      browser_->wait_for("document.querySelectorAll('#map circle').length === 10 && "
                         "document.getElementById('map-legend').children.length === 2"));
  browser_->evaluate("document.getElementById('map').focus()");
  browser_->press("ArrowLeft");
  browser_->press("Space");
  click("#map-remove");
  ASSERT_TRUE(status_has("1 photo removed")) << text("#status");
  EXPECT_EQ(images_of("bright").get<int>() + images_of("dark").get<int>(), 9);
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageMap, SearchesByAPhoto) {
  browser_->choose("#map-files", {photo("like.png", 245)});
  ASSERT_TRUE(status_has("The 10 photos that fit best")) << text("#status");
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#map-selected button').length"), 10);
  EXPECT_EQ(browser_->evaluate("document.getElementById('map-words').hidden"), true);
  click("#map-selected button");
  EXPECT_EQ(text("#map-count"), "9 selected");
  click("#map-none");
  EXPECT_EQ(browser_->evaluate("document.getElementById('map-selection').hidden"), true);
}

TEST_F(Page, SearchesByWordsWhereATextEncoderIs) {
  const ClipRecognizer clip(folder_.path());
  path_ = clip.path();
  open_page(clip.options());
  for (int grey = 0; grey < 10; ++grey) enrol("bird", static_cast<uint8_t>(20 * grey));
  reload();
  go("teach");
  click("#map-box summary");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('map-words').hidden"));
  set("map-text", "a small brown bird");
  click("#map-words button");
  EXPECT_TRUE(status_has("that fit best are selected")) << text("#status");
}

/// As Page.HasNothingThatAxeFinds.
TEST_F(PageMap, HasNothingThatAxeFinds) {
  const char* axe = std::getenv("PROTOCOM_AXE");
  if (axe == nullptr) GTEST_SKIP() << "PROTOCOM_AXE names no axe.min.js";
  const auto check = [&](const std::string& what) {
    browser_->evaluate(read_file(axe));
    EXPECT_EQ(
        browser_->evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id "
                           "+ ': ' + v.nodes[0].html))"),
        json::array())
        << what;
  };
  browser_->choose("#map-files", {photo("like.png", 245)});
  ASSERT_TRUE(status_has("that fit best"));
  check("a selection");
  browser_->open("http://localhost:" + std::to_string(port()) + "/docs");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('details').length > 30"));
  browser_->evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  check("the requests");
}

TEST_F(Page, DocsShowEveryRequest) {
  browser_->open("http://localhost:" + std::to_string(port()) + "/docs");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('classify')"));
  size_t operations = 0;
  const json document = ask("GET", "/openapi.json").json();
  for (const json& item : document.at("paths")) operations += item.size() - item.count("parameters");
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('main details').length"), operations);
  EXPECT_THAT(text("#classify"), HasSubstr("POST /v1/classify"));
  EXPECT_THAT(text("#classify"), HasSubstr("?top= integer"));
  EXPECT_THAT(text("#classify"), HasSubstr("probability number"));
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

}  // namespace
}  // namespace protocom::testing
