#include <openssl/evp.h>

#include <cstdlib>

#include "http/browser.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
    if (Browser::command().empty()) GTEST_SKIP() << "there is no Chromium: the page is NOT TRIED";
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

TEST_F(Page, SaysNoneOfTheseOnceItIsCalibrated) {
  for (const uint8_t grey : {0, 10, 20}) enrol("dark", grey);
  for (const uint8_t grey : {230, 240, 250}) enrol("bright", grey);
  ASSERT_EQ(ask("POST", "/v1/calibrate", R"({"false_accept": 0.5})", kJson).status, 200);
  const std::string picture = photo("q.png", 128);
  const bool none = ask("POST", "/v1/classify", read_file(picture), kPng).json()["answers"][0]["none_of_these"];
  browser_->call("Page.reload");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('calibration').textContent.includes('Calibrated on')"));
  browser_->choose("#ask-files", {picture});
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict')"));
  EXPECT_EQ(text("#answers .verdict") == "None of these", none);
  EXPECT_EQ(browser_->evaluate("document.querySelector('#answers .given').hidden"), !none);
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
