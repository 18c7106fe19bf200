#include "http/page_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PageClasses : public PageOfGreys {};

TEST_F(PageClasses, AClassIsSearchedLookedAtRenamedAndCleaned) {
  enrol("002.Bright_Bird", 240);
  reload();
  go("teach");
  choose_value("class-search", "bright");
  EXPECT_EQ(names(), json({"Bright Bird"}));
  click(".class-card a");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#examples img[src]').length === 2")) << "its photos";
  set("rename", "001.Dark_Bird");
  click("#rename-form button");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('rename-error').textContent.includes('already')"));
  set("rename", "White bird");
  click("#rename-form button");
  ASSERT_TRUE(status_has("Bright Bird is now White bird"));
  EXPECT_EQ(text("#class-title"), "White bird");
  click("#examples button");
  ASSERT_TRUE(status_has("was removed"));
  EXPECT_EQ(images_of("White%20bird"), 1);
  undo();
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#examples li').length === 2"));
  click("#remove-class");
  ASSERT_TRUE(status_has("White bird was removed"));
  EXPECT_EQ(ask("GET", "/v1/classes/White%20bird").status, 404);
  go("history");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#changes li').length === 5"));
  browser_->evaluate("document.querySelectorAll('#changes button')[1].click()");
  ASSERT_TRUE(status_has("2 changes taken back"));
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
}

TEST_F(PageClasses, AClassIsMergedIntoAnotherAndTakenBack) {
  ask_about(photos({240}));
  open_details(0);
  click("#confirm");
  ASSERT_TRUE(status_has("added to Bright Bird"));
  go("teach/002.Bright_Bird");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#examples img[src]').length === 2"));
  shoot("class", 1280, false);
  shoot("class-phone-dark", 390, true);
  set("merge", "no such bird");
  click("#merge-form button");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('rename-error').textContent.includes('nknown class')"));
  set("merge", "dark bird");
  click("#merge-form button");
  ASSERT_TRUE(status_has("Bright Bird is part of Dark Bird now, with 2 photos"));
  EXPECT_EQ(images_of("001.Dark_Bird"), 3);
  EXPECT_EQ(text("#class-title"), "Dark Bird");
  EXPECT_EQ(verdicts(), json({"Dark Bird"}));
  undo();
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
  EXPECT_EQ(verdicts(), json({"Bright Bird"}));
}

TEST_F(PageClasses, APhotoOfAClassThatWasMergedCanStillBeCorrected) {
  ask_about(photos({240}));
  open_details(0);
  click("#confirm");
  ASSERT_TRUE(status_has("added to Bright Bird"));
  go("teach/002.Bright_Bird");
  set("merge", "dark bird");
  click("#merge-form button");
  ASSERT_TRUE(status_has("Bright Bird is part of Dark Bird now, with 2 photos"));
  go("try");
  open_details(0);
  correct("Grey");
  EXPECT_EQ(verdicts(), json({"Grey"}));
  EXPECT_EQ(images_of("001.Dark_Bird"), 2) << "it was taken out there, by its new number";
  EXPECT_EQ(images_of("Grey"), 1);
}

TEST_F(PageClasses, AttributesAreChips) {
  go("teach/001.Dark_Bird");
  set("attribute-new", "tial");
  click("#attribute-form button");
  ASSERT_TRUE(
      browser_->wait_for("document.getElementById('attribute-error').textContent.includes('no attribute “tial”')"));
  set("attribute-new", "tail");
  click("#attribute-form button");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#chips li').length === 1"));
  EXPECT_EQ(ask("GET", "/v1/classes/001.Dark_Bird").json()["attributes"][0]["name"], "tail");
}

TEST_F(PageClasses, TheSliderSaysWhatASettingCostsAndSetsIt) {
  for (const int grey : {0, 10, 15, 20, 25}) enrol("001.Dark_Bird", static_cast<uint8_t>(grey));
  for (const int grey : {225, 230, 235, 240, 245}) enrol("002.Bright_Bird", static_cast<uint8_t>(grey));
  reload();
  go("try");
  click("#calibrate");
  ASSERT_TRUE(status_has("Learned:")) << text("#calibrate-error");
  const json exchange = ask("GET", "/v1/recognizer").json()["calibration"]["exchange"];
  ASSERT_GT(exchange.size(), 1U);
  forget_status();
  choose_value("slider", browser_->evaluate("document.getElementById('slider').max").get<std::string>());
  ASSERT_TRUE(status_has("Learned:")) << text("#calibrate-error");
  const json made = ask("GET", "/v1/recognizer").json()["calibration"];
  EXPECT_FALSE(made["balanced"]);
  EXPECT_EQ(made["false_accept"], exchange.back()["false_accept"]);
  EXPECT_THAT(text("#setting"), HasSubstr("of 100 photos of similar kinds slip through"));
}

TEST_F(PageClasses, SaysHowWellTheClassesAreToldApart) {
  for (const int grey : {0, 10, 245}) enrol("001.Dark_Bird", static_cast<uint8_t>(grey));
  for (const int grey : {235, 240}) enrol("002.Bright_Bird", static_cast<uint8_t>(grey));
  reload();
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('accuracy').hidden"));
  EXPECT_THAT(text("#accuracy-text"),
              AllOf(HasSubstr("of 100 new photos will be right (between "), HasSubstr(" and ")));
  EXPECT_THAT(text("#accuracy-more"), HasSubstr("each asked about as if it were new: 2 of 5 right"));
  EXPECT_EQ(texts("#classes .certainty .sure"), json({"2 of 3 right", "0 of 2 right"}));
  EXPECT_THAT(text("#confused"), AllOf(HasSubstr("Dark Bird"), HasSubstr("Bright Bird")));
  go("teach/001.Dark_Bird");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('.taken-for')"));
  EXPECT_EQ(text(".taken-for"), "Looks like Bright Bird") << "the bright one is in the wrong class";
  click("[aria-label^='It is right']");
  ASSERT_TRUE(status_has("is not asked about again")) << text("#status");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('.taken-for').length === 1")) << "of two";
  reload();
  ASSERT_TRUE(browser_->wait_for("document.querySelector('.taken-for')"));
  EXPECT_EQ(texts(".taken-for").size(), 1) << "the recognizer keeps it, for every window";
  undo();
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('.taken-for').length === 2"));
  enrol("Middle", 128);
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('.example select option').length === 4"));
  EXPECT_EQ(browser_->evaluate("document.querySelector('.example select').value"), "002.Bright_Bird");
  click(".move");
  ASSERT_TRUE(status_has("was moved to Bright Bird")) << text("#status");
  EXPECT_EQ(ask("GET", "/v1/classes/002.Bright_Bird").json()["examples"].size(), 4);
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('.example select').length === 1"));
  browser_->evaluate("document.querySelector('.example select').value = 'Middle'");
  click(".move");
  ASSERT_TRUE(status_has("was moved to Middle")) << text("#status");
  EXPECT_EQ(ask("GET", "/v1/classes/Middle").json()["examples"].size(), 2) << "to any class, not only the likely one";
}

TEST_F(PageClasses, SaysWhichPhotosAreThereTwice) {
  for (const int grey : {0, 5}) enrol("001.Dark_Bird", static_cast<uint8_t>(grey));
  for (const int grey : {245, 240}) enrol("002.Bright_Bird", static_cast<uint8_t>(grey));
  enrol("Middle", 240);
  reload();
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('accuracy').hidden"));
  go("teach/Middle");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('.twin')"));
  EXPECT_EQ(text(".twin"), "Also in Bright Bird");
  shoot("twins", 1280, false);
  go("teach/002.Bright_Bird");
  ASSERT_TRUE(
      browser_->wait_for("document.getElementById('class-title').textContent === 'Bright Bird' && "
                         "[...document.querySelectorAll('.twin')].some(e => e.textContent === 'Also in Middle')"))
      << "and the other way round";
}

TEST_F(PageClasses, AnAnswerThatBreaksOffIsAnError) {
  const std::string broken = R"((async signal => {
    const asked = window.fetch;
    const body = new ReadableStream({start: stream => stream.error(new Error('broken off'))});
    window.fetch = async () => new Response(body);
    const error = await m.call('GET', 'v1/accuracy', undefined, {signal})
                         .then(value => 'an answer: ' + JSON.stringify(value), error => error);
    window.fetch = asked;
    return error instanceof m.ServerError ? error.message : String(error);
  }))";
  EXPECT_EQ(from_module("api", broken + "(undefined)"), "The connection to the server was lost.");
  EXPECT_THAT(from_module("api", broken + "(AbortSignal.abort())").get<std::string>(), HasSubstr("TypeError"))
      << "the browser's own error, which is not shown";
}

}  // namespace
}  // namespace protocom::testing
