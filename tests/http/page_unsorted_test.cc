// Unsorted photos on the page.
#include "http/page_support.h"
#include "http/unsorted_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PageUnsorted : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    if (IsSkipped()) return;
    path_ = make_own_photos(folder_.path(), parts());
    open_page({});
    for (const int grey : {10, 30, 70}) enrol("001.Dark_Bird", static_cast<uint8_t>(grey));
    for (const int grey : {180, 200, 230}) enrol("002.Bright_Bird", static_cast<uint8_t>(grey));
    reload();
    go("teach");
  }
  std::vector<std::string> pile() {
    std::vector<std::string> files;
    for (int i = 0; i < 6; ++i)
      files.push_back(photo("u" + std::to_string(i) + ".png", static_cast<uint8_t>(20 + 40 * i)));
    return files;
  }
  void add(const std::vector<std::string>& files) {
    forget_status();
    browser_->choose("#unsorted-files", files);
  }
  json shown() { return browser_->evaluate("document.querySelectorAll('#unsorted li').length"); }
};

TEST_F(PageUnsorted, AreCountedShownAndRemoved) {
  EXPECT_EQ(text("#unsorted-count"), "");
  click("#unsorted-box summary");
  add(pile());
  ASSERT_TRUE(status_has("6 unsorted photos added")) << text("#status") << text("#unsorted-error");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#unsorted li').length === 6"));
  EXPECT_EQ(text("#unsorted-count"), "6 photos");
  EXPECT_EQ(ask("GET", "/v1/recognizer").json().at("unlabelled"), 6);
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('unsorted-effect').hidden"));
  EXPECT_THAT(text("#unsorted-effect"), HasSubstr("of 100 new photos will be right, without them"));
  ASSERT_TRUE(
      browser_->wait_for("document.querySelector('#unsorted img').complete && "
                         "document.querySelector('#unsorted img').naturalWidth > 0"));
  shoot("unsorted", 1280, false);
  shoot("unsorted-dark", 1280, true);
  shoot("unsorted-phone", 390, false);
  shoot("unsorted-phone-dark", 390, true);
  click("#unsorted button");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#unsorted li').length === 5"));
  click("#unsorted-clear");
  ASSERT_TRUE(status_has("5 unsorted photos removed")) << text("#status");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#unsorted li').length === 0"));
  undo();
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#unsorted li').length === 5"));
  EXPECT_EQ(text("#unsorted-count"), "5 photos");
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageUnsorted, WhatIsThereOrCannotBeReadIsSaid) {
  click("#unsorted-box summary");
  add({photo("1.png", 55)});
  ASSERT_TRUE(status_has("1 unsorted photo added")) << text("#unsorted-error");
  add({photo("1.png", 55)});
  ASSERT_TRUE(status_has("These photos are here already")) << text("#unsorted-error");
  write_file(folder_ / "broken.png", "no image");
  add({photo("2.png", 65), (folder_ / "broken.png").string()});
  ASSERT_TRUE(status_has("1 photo could not be read: broken.png")) << text("#status");
}

TEST_F(PageUnsorted, AreAskedForOnlyWhereTheyAreOfUse) {
  EXPECT_EQ(browser_->evaluate("document.getElementById('unsorted-box').hidden"), false);
  path_ = folder_ / "pets.pcm";
  open_page({});
  go("teach");
  EXPECT_EQ(browser_->evaluate("document.getElementById('unsorted-box').hidden"), true);
}

}  // namespace
}  // namespace protocom::testing
