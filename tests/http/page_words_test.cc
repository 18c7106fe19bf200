// The box for words on the page.
#include "http/page_support.h"
#include "http/words_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;

class PageWords : public Page {
 protected:
  void SetUp() override {
    if (std::getenv("PROTOCOM_NO_BROWSER") == nullptr) clip_.emplace(folder_.path());
    Page::SetUp();
  }
  void open_words() {
    path_ = clip_->path();
    open_page(clip_->options());
    go("teach");
  }
  json hidden(const std::string& id) { return browser_->evaluate("document.getElementById('" + id + "').hidden"); }
  void add(const std::string& name, const std::string& words, const std::vector<std::string>& files = {}) {
    click("#add-class");
    if (!files.empty()) browser_->choose("#enrol-files", files);
    set("class-name", name);
    set("words", words);
    forget_status();
    click("#enrol-add");
  }

  std::optional<ClipRecognizer> clip_;
};

TEST_F(PageWords, AreAskedForOnlyWhereTheServerTakesThem) {
  go("teach");
  EXPECT_EQ(hidden("words-field"), true);
  open_words();
  EXPECT_EQ(hidden("words-field"), false);
  add("robin", "");
  EXPECT_TRUE(browser_->wait_for("!document.getElementById('enrol-error').hidden"));
  EXPECT_EQ(text("#enrol-error"), "Give photos of the class, or a description.");
}

TEST_F(PageWords, MakeClassesWithAndWithoutPhotos) {
  open_words();
  add("robin", "a small brown bird\nit has a red breast");
  ASSERT_TRUE(status_has("robin was added")) << text("#status") << text("#enrol-error");
  EXPECT_EQ(browser_->evaluate("document.getElementById('words').value"), "");
  add("emu", "a tall grey bird", {photo("1.png", 90)});
  ASSERT_TRUE(status_has("1 photo added to emu")) << text("#status") << text("#enrol-error");
  EXPECT_EQ(texts("#classes .name"), json({"emu", "robin"}));
  EXPECT_EQ(texts("#classes .about"), json({"1 photo, described", "0 photos, described"}));
  for (const char* name : {"robin", "emu"})
    EXPECT_EQ(ask("GET", std::string("/v1/classes/") + name).json().at("embedding_source"), "text");
  ask_about({photo("2.png", 80)});
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('.tile').length"), 1);
  go("teach");
  click("#add-class");
  set("words", "a bird that sings");
  shoot("words", 1280, false);
  shoot("words-phone-dark", 390, true);
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageWords, OfAClassThatIsThereChangeWhatIsKnown) {
  open_words();
  add("robin", "", {photo("1.png", 90)});
  ASSERT_TRUE(status_has("1 photo added to robin")) << text("#enrol-error");
  add("robin", "a small brown bird");
  ASSERT_TRUE(status_has("What is known of robin was changed")) << text("#status") << text("#enrol-error");
  undo();
  EXPECT_EQ(ask("GET", "/v1/classes/robin").json().at("embedding_source"), "nothing");
}

}  // namespace
}  // namespace protocom::testing
