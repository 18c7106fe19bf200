#include "http/page_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Page, EnrolsAnswersCorrectsAndRemembers) {
  enrol_in_page("dark", {photo("1.png", 5), photo("2.png", 25)}, "tail");
  enrol_in_page("middle", {photo("3.png", 120)});
  enrol_in_page("bright", {photo("4.png", 250)});
  EXPECT_EQ(names(), json({"bright", "dark", "middle"}));
  ask_about({photo("5.png", 15)});
  EXPECT_EQ(text("#answers .verdict"), "dark");
  open_details(0);
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#ranking rect[width]').length"), 3);
  EXPECT_TRUE(
      browser_->wait_for("[...document.querySelectorAll('#nearest img')].filter(i => i.naturalWidth > 0).length === 3"))
      << "pictures of the most similar examples";
  shoot("answer", 1280, false);
  shoot("answer-dark", 1280, true);
  shoot("answer-phone", 390, false);
  correct("middle");
  EXPECT_EQ(text("#answers .verdict"), "middle");
  EXPECT_EQ(text("#answers .sure"), "✓ yours");
  EXPECT_EQ(ask("GET", "/v1/classes/middle").json()["images"], 2);
  undo();
  EXPECT_EQ(ask("GET", "/v1/classes/middle").json()["images"], 1);
  reload();
  go("teach");
  EXPECT_EQ(names(), json({"bright", "dark", "middle"})) << "after reloading";
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(Page, EachScriptIsStillOneAsItIsSent) {
  const json modules = browser_->evaluate(
      "performance.getEntriesByType('resource').map(r => r.name).filter(name => name.endsWith('.js'))");
  EXPECT_GT(modules.size(), 20U);
  for (const json& name : modules)
    EXPECT_EQ(browser_->evaluate("import(" + name.dump() + ").then(() => 'read', e => String(e))"), "read") << name;
}

TEST_F(Page, ItsScriptsTakeAtMost120Kilobytes) {
  const json bytes = browser_->evaluate(
      "performance.getEntriesByType('resource').filter(r => r.name.endsWith('.js')).reduce((sum, r) => sum + "
      "r.decodedBodySize, 0)");
  EXPECT_GT(bytes, 50'000);
  EXPECT_LE(bytes, 120 * 1024);
}

TEST_F(Page, WhatIsSaidCoversNoAnswer) {
  enrol_in_page("dark", {photo("1.png", 5)});
  enrol_in_page("bright", {photo("2.png", 250)});
  ask_about({photo("3.png", 15), photo("4.png", 25), photo("5.png", 35), photo("6.png", 235), photo("7.png", 245)});
  const std::string header = "document.querySelector('header').getBoundingClientRect()";
  const std::string status = "document.getElementById('status').getBoundingClientRect()";
  for (const int width : {1280, 768, 390}) {
    browser_->call("Emulation.setDeviceMetricsOverride",
                   {{"width", width}, {"height", 500}, {"deviceScaleFactor", 1}, {"mobile", width < 500}});
    open_details(0);
    forget_status();
    const json before = browser_->evaluate(header + ".height");
    click("#confirm");
    ASSERT_TRUE(status_has("added to")) << text("#details-error");
    EXPECT_EQ(browser_->evaluate(header + ".height"), before) << width << ": nothing moves under the pointer";
    EXPECT_EQ(browser_->evaluate(fmt::format("{0}.bottom <= {1}.bottom && {0}.top >= 0", status, header)), true)
        << width;
    EXPECT_EQ(browser_->evaluate("getComputedStyle(document.getElementById('status')).opacity"), "1") << width;
    EXPECT_EQ(
        browser_->evaluate("(place => [...document.querySelectorAll('header button, header nav a')].every(b => (r => "
                           "r.left >= place.right || r.right <= place.left || r.top >= place.bottom)(b."
                           "getBoundingClientRect())))(" +
                           status + ")"),
        true)
        << width << ": nor a button";
    undo();
  }
}

TEST_F(Page, ACorrectionThatIsUndoneIsShownNoMore) {
  enrol_in_page("dark", {photo("1.png", 5)});
  enrol_in_page("bright", {photo("2.png", 250)});
  ask_about({photo("3.png", 15)});
  open_details(0);
  correct("bright");
  EXPECT_THAT(text("#details-note"), HasSubstr("Added to the class by you"));
  undo();
  EXPECT_EQ(text("#answers .verdict"), "dark");
  EXPECT_EQ(text("#details-verdict"), "dark");
  EXPECT_THAT(text("#details-note"), Not(HasSubstr("Added")));
}

TEST_F(Page, AnImageThatIsDroppedBesideTheZoneDoesNotLeaveThePage) {
  const std::string dropped = R"((target => {
    const data = new DataTransfer();
    data.items.add(new File(['x'], 'x.png', {type: 'image/png'}));
    const event = name => new DragEvent(name, {bubbles: true, cancelable: true, dataTransfer: data});
    const over = event('dragover'), drop = event('drop');
    target.dispatchEvent(over);
    target.dispatchEvent(drop);
    return over.defaultPrevented && drop.defaultPrevented;
  }))";
  EXPECT_EQ(browser_->evaluate(dropped + "(document.body)"), true);
  EXPECT_EQ(text("#status"), "") << "nothing was asked";
  EXPECT_EQ(browser_->evaluate(dropped + "(document.getElementById('drop'))"), true);
  EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent !== ''"));
}

TEST_F(Page, GivesBackWhatItKeptOfImages) {
  browser_->evaluate(R"((() => {
    window.kept = 0;
    const make = URL.createObjectURL, revoke = URL.revokeObjectURL;
    URL.createObjectURL = blob => { ++window.kept; return make.call(URL, blob); };
    URL.revokeObjectURL = address => { --window.kept; revoke.call(URL, address); };
  })())");
  enrol_in_page("dark", {photo("1.png", 5)});
  ask_about({photo("2.png", 15)});
  open_details(0);
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#nearest img[src]').length === 1"));
  EXPECT_TRUE(browser_->wait_for("window.kept === 0"));
}

TEST_F(Page, EnrolsClassifiesCorrectsAndUndoesByKeysAlone) {
  const std::vector<std::pair<std::string, uint8_t>> classes = {{"dark", 5}, {"bright", 250}};
  for (const auto& [name, grey] : classes) {
    ASSERT_TRUE(browser_->tab_to(name == "dark" ? "#start-class" : "#add-class"));
    browser_->press("Enter");
    ASSERT_TRUE(browser_->wait_for("document.activeElement.id === 'class-name'")) << "a dialog";
    browser_->type(name);
    ASSERT_TRUE(browser_->tab_to("#enrol-files"));
    ASSERT_TRUE(browser_->choose_by_key("Enter", {photo(name + ".png", grey)}));
    ASSERT_TRUE(browser_->tab_to("#enrol-add"));
    browser_->press(name == "dark" ? "Enter" : "Space");
    ASSERT_TRUE(status_has("added to " + name)) << text("#status");
    EXPECT_TRUE(browser_->wait_for("document.activeElement.id === 'add-class'")) << "where the next one begins";
  }
  ASSERT_TRUE(browser_->tab_to("#to-try"));
  browser_->press("Enter");
  ASSERT_TRUE(browser_->tab_to("#ask-files"));
  ASSERT_TRUE(browser_->choose_by_key("Space", {photo("q.png", 15)}));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('[data-state=sure], [data-state=unsure]')"))
      << text("#status");
  EXPECT_EQ(text("#answers .verdict"), "dark");
  ASSERT_TRUE(browser_->tab_to(".open"));
  browser_->press("KeyN");
  ASSERT_TRUE(browser_->wait_for("document.activeElement.id === 'right-class'")) << "N: say what it is";
  browser_->type("bright");
  browser_->press("Enter");
  ASSERT_TRUE(status_has("added to bright"));
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["images"], 2);
  ASSERT_TRUE(browser_->wait_for("document.activeElement.matches('.open')")) << "back at the photo";
  browser_->press("KeyU");
  ASSERT_TRUE(status_has("Taken back"));
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["images"], 1);
  browser_->press("Digit2");
  ASSERT_TRUE(status_has("added to bright")) << "the second class of the answer";
  EXPECT_TRUE(browser_->wait_for("document.activeElement.matches('.open')")) << "the focus is not lost";
}

TEST_F(Page, SaysNoneOfTheseOnceItIsCalibrated) {
  for (const uint8_t grey : {0, 10, 20}) enrol("dark", grey);
  for (const uint8_t grey : {230, 240, 250}) enrol("bright", grey);
  // With two unknown photos and every second one to be rejected, the threshold is that of the more familiar one: both
  // are.
  const std::vector<FormPart> unknown = {
      {"image", png(128), "a.png"}, {"image", png(130), "b.png"}, {"false_accept", "0.5"}};
  ASSERT_EQ(ask("POST", "/v1/calibrate", form_of(unknown), kForm).status, 200);
  reload();
  ASSERT_TRUE(browser_->wait_for("document.getElementById('calibration').textContent.includes('Tried on')"));
  ask_about({photo("q.png", 128)});
  EXPECT_EQ(text("#answers .verdict"), "None of these");
  open_details(0);
  EXPECT_THAT(text("#ranking"), HasSubstr("None of these")) << "with its probability beside the classes'";
  EXPECT_EQ(browser_->evaluate("document.getElementById('confirm').getAttribute('aria-label')"),
            "It is right: none of these");
}

TEST_F(Page, IsNoWiderThanAPhoneHoweverLongANameIs) {
  const std::string name = "has_bill_length::" + std::string(60, 'a');
  enrol_in_page(name, {photo("1.png", 5)}, "tail");
  for (const char* view : {"teach", "try", "use", "history"}) {
    go(view);
    shoot(std::string("long-name-phone-") + view, 390, false);
  }
  go("teach/" + name);
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#examples img')"));
  shoot("long-name-phone-class", 390, false);
  ask_about({photo("2.png", 15)});
  open_details(0);
  shoot("long-name-phone", 390, false);
}

TEST_F(Page, SaysWhatTheServerRefusesBesideTheForm) {
  set("class-name", "cat");
  set("attributes", "tial");
  click("#enrol-add");
  EXPECT_TRUE(
      browser_->wait_for("document.getElementById('enrol-error').textContent.includes(\"did you mean 'tail'\")"));
  set("class-name", "");
  click("#enrol-add");
  EXPECT_TRUE(
      browser_->wait_for("document.getElementById('enrol-error').textContent.includes('Give the class a name')"));
  enrol_in_page("dark", {photo("1.png", 5)});
  EXPECT_EQ(browser_->evaluate("document.getElementById('enrol-error').hidden"), true);
  write_file(folder_ / "broken.png", "no image");
  ask_about({photo("2.png", 15), (folder_ / "broken.png").string()});
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('[data-state=failed]').length"), 1);
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('[data-state=sure]').length"), 1);
}

TEST_F(Page, EveryControlHasANameAndCanBeReachedByKeyboard) {
  enrol_in_page("dark", {photo("1.png", 5)}, "tail");
  ask_about({photo("2.png", 15)});
  open_details(0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('input, select')].filter(i => !i.labels.length && "
                               "!i.getAttribute('aria-label')).map(i => i.id)"),
            json::array());
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('button, a')].filter(b => !(b.textContent || "
                               "b.getAttribute('aria-label')).trim()).length"),
            0);
  EXPECT_EQ(browser_->evaluate(
                "[...document.querySelectorAll('#answers img, #details img.large')].filter(i => !i.alt).length"),
            0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('input, button')].filter(e => e.tabIndex < 0).length"),
            0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('form:not([hidden]), ul, ol')].filter(e => "
                               "!e.hasAttribute('aria-label') && !e.hasAttribute('aria-labelledby') && e.id !== "
                               "'key-form').map(e => e.id)"),
            json::array());
  EXPECT_EQ(browser_->evaluate("document.getElementById('status').getAttribute('aria-live')"), "polite");
  click(".skip");
  EXPECT_EQ(browser_->evaluate("document.activeElement.id + location.hash"), "main#try") << "the view stays";
}

/// PROTOCOM_AXE=axe.min.js (scripts/page_checks) looks for obstacles for users of screen readers.
TEST_F(Page, HasNothingThatAxeFinds) {
  const char* axe = std::getenv("PROTOCOM_AXE");
  if (axe == nullptr) GTEST_SKIP() << "PROTOCOM_AXE names no axe.min.js";
  enrol_in_page("dark", {photo("1.png", 0), photo("2.png", 10), photo("3.png", 245)}, "tail");
  enrol_in_page("bright", {photo("5.png", 235), photo("6.png", 240)});
  ask_about({photo("4.png", 15)});
  open_details(0);
  click("#select-all");
  browser_->evaluate(read_file(axe));
  for (const char* view : {"try", "teach", "teach/dark", "use", "history"}) {
    go(view);
    if (std::string(view) == "teach/dark") {
      ASSERT_TRUE(browser_->wait_for("document.querySelector('.taken-for')"));
    }
    if (std::string(view) == "use") {
      click("#programs summary");
      click("#share");
      ASSERT_TRUE(
          browser_->wait_for("document.querySelector('#invitation:not([hidden]), #share-error:not([hidden])')"));
    }
    EXPECT_EQ(
        browser_->evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id "
                           "+ ': ' + v.nodes[0].html))"),
        json::array())
        << view;
  }
}

}  // namespace
}  // namespace protocom::testing
