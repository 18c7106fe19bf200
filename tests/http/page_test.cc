#include <openssl/evp.h>

#include <cstdlib>

#include "http/browser.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string from_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  return bytes;
}

/// The page in a real browser.
class Page : public Served {
 protected:
  void SetUp() override {
    if (std::getenv("PROTOCOM_NO_BROWSER") != nullptr) GTEST_SKIP() << "PROTOCOM_NO_BROWSER: the page is NOT TRIED";
    ASSERT_FALSE(Browser::command().empty())
        << "there is no Chromium (scripts/packages.txt); PROTOCOM_NO_BROWSER=1 leaves the page out";
    Served::SetUp();
    serve();
    browser_ = std::make_unique<Browser>(folder_ / "profile");
    browser_->open("http://localhost:" + std::to_string(port()) + "/");
    ASSERT_TRUE(browser_->wait_for("document.getElementById('summary').textContent.includes('class')"));
  }

  /// Fills in the form as a user does.
  void enrol_in_page(const std::string& name, const std::vector<std::string>& files,
                     const std::string& attributes = "") {
    browser_->choose("#enrol-files", files);
    browser_->evaluate("document.getElementById('class-name').value = " + json(name).dump());
    browser_->evaluate("document.getElementById('attributes').value = " + json(attributes).dump());
    browser_->evaluate("document.querySelector('#enrol-form button').click()");
    EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes(" + json(name).dump() + ")"))
        << text("#status");
  }

  std::string text(const std::string& selector) {
    return browser_->evaluate("document.querySelector(" + json(selector).dump() + ").textContent").get<std::string>();
  }

  json names() {
    return browser_->evaluate("[...document.querySelectorAll('#classes .name')].map(e => e.textContent)");
  }

  /// For those who want to look: into the folder that PROTOCOM_SCREENSHOTS names.
  void shoot(const std::string& name, int width, bool dark) {
    const char* folder = std::getenv("PROTOCOM_SCREENSHOTS");
    browser_->call("Emulation.setDeviceMetricsOverride",
                   {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", width < 500}});
    browser_->call("Emulation.setEmulatedMedia",
                   {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
    EXPECT_LE(browser_->evaluate("document.documentElement.scrollWidth").get<int>(), width) << "wider than the screen";
    if (folder == nullptr) return;
    const json shot = browser_->call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}});
    write_file(fs::path(folder) / (name + ".png"), from_base64(shot.at("data").get<std::string>()));
  }

  std::unique_ptr<Browser> browser_;
};

TEST_F(Page, EnrolsAnswersCorrectsAndRemembers) {
  enrol_in_page("dark", {photo("1.png", 5), photo("2.png", 25)}, "tail");
  enrol_in_page("middle", {photo("3.png", 120)});
  enrol_in_page("bright", {photo("4.png", 250)});
  EXPECT_EQ(names(), json({"dark", "middle", "bright"}));
  browser_->choose("#ask-files", {photo("5.png", 15)});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')")) << text("#status");
  EXPECT_EQ(text("#answers .verdict"), "dark");
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#answers .ranking rect[width]').length"), 3);
  EXPECT_TRUE(
      browser_->wait_for("[...document.querySelectorAll('.nearest img')].filter(i => i.naturalWidth > 0).length === 3"))
      << "pictures of the most similar examples";
  shoot("answer", 1000, false);
  shoot("answer-dark", 1000, true);
  shoot("answer-phone", 390, false);
  browser_->evaluate("document.querySelector('.right-class').value = 'middle'");
  browser_->evaluate("document.querySelector('.correction button.plain').click()");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes('added to middle')"));
  EXPECT_EQ(text("#answers .verdict"), "middle");
  EXPECT_EQ(ask("GET", "/v1/classes/middle").json()["images"], 2);
  browser_->evaluate("document.getElementById('undo').click()");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.startsWith('Taken back')"));
  EXPECT_EQ(ask("GET", "/v1/classes/middle").json()["images"], 1);
  browser_->call("Page.reload");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#classes .name').length === 3")) << "after reloading";
  EXPECT_EQ(names(), json({"dark", "middle", "bright"}));
  for (const std::string& one : browser_->complaints()) EXPECT_THAT(one, HasSubstr("favicon")) << one;
}

TEST_F(Page, ACorrectionThatIsUndoneIsShownNoMore) {
  enrol_in_page("dark", {photo("1.png", 5)});
  enrol_in_page("bright", {photo("2.png", 250)});
  browser_->choose("#ask-files", {photo("3.png", 15)});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')"));
  browser_->evaluate("document.querySelector('.right-class').value = 'bright'");
  browser_->evaluate("document.querySelector('.correction button.plain').click()");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers').textContent.includes('Enrolled as bright')"));
  browser_->evaluate("document.getElementById('undo').click()");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.startsWith('Taken back')"));
  EXPECT_THAT(text("#answers"), Not(HasSubstr("Enrolled as")));
  EXPECT_EQ(text("#answers .verdict"), "dark");
  EXPECT_EQ(browser_->evaluate("document.querySelector('.correction').hidden"), false);
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
  browser_->choose("#ask-files", {photo("2.png", 15)});
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('.nearest img[src]').length === 1"));
  EXPECT_TRUE(browser_->wait_for("window.kept === 0"));
}

TEST_F(Page, EnrolsClassifiesCorrectsAndUndoesByKeysAlone) {
  const std::vector<std::pair<std::string, uint8_t>> classes = {{"dark", 5}, {"bright", 250}};
  for (const auto& [name, grey] : classes) {
    ASSERT_TRUE(browser_->tab_to("#class-name"));
    browser_->type(name);
    ASSERT_TRUE(browser_->tab_to("#enrol-files"));
    ASSERT_TRUE(browser_->choose_by_key("Enter", {photo(name + ".png", grey)}));
    ASSERT_TRUE(browser_->tab_to("#enrol-form button"));
    browser_->press(name == "dark" ? "Enter" : "Space");
    ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes('added to " + name + "')"))
        << text("#status");
    EXPECT_TRUE(browser_->wait_for("document.activeElement.id === 'class-name'")) << "where the next one begins";
  }
  ASSERT_TRUE(browser_->tab_to("#ask-files"));
  ASSERT_TRUE(browser_->choose_by_key("Space", {photo("q.png", 15)}));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')")) << text("#status");
  EXPECT_EQ(text("#answers .verdict"), "dark");
  ASSERT_TRUE(browser_->tab_to(".right-class"));
  browser_->type("bright");
  ASSERT_TRUE(browser_->tab_to(".correction button.plain"));
  browser_->press("Space");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes('added to bright')"));
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["images"], 2);
  ASSERT_TRUE(browser_->wait_for("document.activeElement.id === 'undo'")) << "what may be wanted next";
  browser_->press("Enter");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('status').textContent.startsWith('Taken back')"));
  EXPECT_EQ(ask("GET", "/v1/classes/bright").json()["images"], 1);
  EXPECT_EQ(browser_->evaluate("document.activeElement.id"), "undo") << "the focus is not lost";
}

TEST_F(Page, SaysNoneOfTheseOnceItIsCalibrated) {
  for (const uint8_t grey : {0, 10, 20}) enrol("dark", grey);
  for (const uint8_t grey : {230, 240, 250}) enrol("bright", grey);
  // With two strangers and every second to be kept out, the threshold is at the more familiar of them: both are.
  const std::vector<FormPart> strangers = {
      {"image", png(128), "a.png"}, {"image", png(130), "b.png"}, {"false_accept", "0.5"}};
  ASSERT_EQ(ask("POST", "/v1/calibrate", form_of(strangers), kForm).status, 200);
  browser_->call("Page.reload");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('calibration').textContent.includes('Calibrated on')"));
  browser_->choose("#ask-files", {photo("q.png", 128)});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')"));
  EXPECT_EQ(text("#answers .verdict"), "None of these");
  EXPECT_THAT(text("#answers .ranking"), HasSubstr("None of these")) << "with its probability beside the classes'";
  EXPECT_THAT(text("#answers .confirm"), HasSubstr("It is"));
}

TEST_F(Page, IsNoWiderThanAPhoneHoweverLongANameIs) {
  const std::string name = "has_bill_length::" + std::string(60, 'a');
  enrol_in_page(name, {photo("1.png", 5)}, "tail");
  browser_->choose("#ask-files", {photo("2.png", 15)});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')"));
  shoot("long-name-phone", 390, false);
}

TEST_F(Page, SaysWhatTheServerRefuses) {
  browser_->evaluate("document.getElementById('class-name').value = 'cat'");
  browser_->evaluate("document.getElementById('attributes').value = 'tial'");
  browser_->evaluate("document.querySelector('#enrol-form button').click()");
  EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes(\"did you mean 'tail'\")"));
  write_file(folder_ / "broken.png", "no image");
  browser_->choose("#ask-files", {(folder_ / "broken.png").string()});
  EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent.includes('no image could be read')"));
}

TEST_F(Page, EveryControlHasANameAndCanBeReachedByKeyboard) {
  enrol_in_page("dark", {photo("1.png", 5)});
  browser_->choose("#ask-files", {photo("2.png", 15)});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')"));
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('input')].filter(i => !i.labels.length).map(i => i.id)"),
            json::array());
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('button')].filter(b => !(b.textContent || "
                               "b.getAttribute('aria-label')).trim()).length"),
            0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('#answers img')].filter(i => !i.alt).length"), 0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('input, button')].filter(e => e.tabIndex < 0).length"),
            0);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('form:not([hidden]), #classes, #answers')].filter(e => "
                               "!e.hasAttribute('aria-label') && !e.hasAttribute('aria-labelledby')).map(e => e.id)"),
            json::array());
  EXPECT_EQ(browser_->evaluate("document.getElementById('status').getAttribute('aria-live')"), "polite");
}

}  // namespace
}  // namespace protocom::testing
