#include "http/page_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PageWork : public PageOfGreys {};

TEST_F(PageWork, NamesAreShownAsPeopleWriteThem) {
  go("teach");
  EXPECT_EQ(names(), json({"Bright Bird", "Dark Bird"}));
  ask_about(photos({20}));
  EXPECT_EQ(verdicts(), json({"Dark Bird"}));
  open_details(0);
  set("right-class", "bright bird");
  click("#correction button");
  ASSERT_TRUE(status_has("added to Bright Bird")) << "what is shown may be typed";
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
}

TEST_F(PageWork, TheLeastCertainComesFirstAndAsGivenKeepsTheOrder) {
  ask_about(photos({10, 250, 120, 30, 200, 90, 5, 240, 60, 220, 180, 15}));
  const json order =
      browser_->evaluate("[...document.querySelectorAll('.tile .sure')].map(e => parseFloat(e.textContent))");
  for (size_t i = 1; i < order.size(); ++i) EXPECT_LE(order[i - 1], order[i]);
  choose_value("sort", "given");
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('.tile img')].map(e => parseInt(e.alt.slice(4)))"),
            json({10, 250, 120, 30, 200, 90, 5, 240, 60, 220, 180, 15}));
}

TEST_F(PageWork, AsksAgainAfterACorrectionAndMovesNothing) {
  std::vector<int> greys;
  for (int i = 0; i < 40; ++i) greys.push_back(6 * i + 3);
  ask_about(photos(greys));
  browser_->evaluate("document.querySelectorAll('.open')[30].focus()");
  const json before = percents(),
             order = browser_->evaluate("[...document.querySelectorAll('.tile')].map(e => e.dataset.photo)");
  const std::string top = "Math.round(document.querySelectorAll('.open')[30].getBoundingClientRect().top)";
  const json place = browser_->evaluate(top);
  const auto encoded = [&] {
    const std::string metrics = ask("GET", "/metrics").body;
    const size_t at = metrics.find("\nprotocom_images_total ");
    return metrics.substr(at, metrics.find('\n', at + 1) - at);
  };
  browser_->press("Digit2");
  ASSERT_TRUE(status_has("1 photo added to"));
  const std::string images = encoded();
  EXPECT_TRUE(browser_->wait_for(
      "[...document.querySelectorAll('#answers .sure')].filter((e, i) => e.textContent !== " + before.dump() +
      "[i]).length > 5"))
      << "the other photos' answers are of the classes as they are now";
  EXPECT_EQ(encoded(), images) << "the encoder has nothing to do";
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('.open')].indexOf(document.activeElement)"), 30);
  EXPECT_EQ(browser_->evaluate(top), place);
  EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('.tile')].map(e => e.dataset.photo)"), order);
  browser_->press("KeyU");
  ASSERT_TRUE(status_has("Taken back"));
  EXPECT_TRUE(browser_->wait_for(
      "JSON.stringify([...document.querySelectorAll('#answers .sure')].map(e => e.textContent)) === '" + before.dump() +
      "'"))
      << "and as they were after undo";
}

TEST_F(PageWork, TheAnswerComesFirstEvenIfNoneOfTheseIsMoreProbable) {
  browser_->evaluate(R"(window.fetch = (asked => async (path, options) => {
    const response = await asked(path, options);
    if (path !== 'v1/classify') return response;
    const said = await response.json();
    for (const answer of said.answers) {
      Object.assign(answer, {none: 0.4, none_of_these: false});
      answer.ranking.forEach((one, i) => one.probability = 0.35 - 0.1 * i);
    }
    return new Response(JSON.stringify(said));
  })(window.fetch))");
  ask_about(photos({20}));
  EXPECT_EQ(verdicts(), json({"Dark Bird"}));
  open_details(0);
  EXPECT_EQ(texts("#ranking .choice-name"), json({"Dark Bird", "None of these", "Bright Bird"}));
  EXPECT_EQ(texts("#ranking .choice-percent"), json({"35 %", "40 %", "25 %"}));
}

TEST_F(PageWork, ArrowsMoveBetweenPhotosAndOneIsThereOnce) {
  ask_about(photos({20, 220, 60}));
  browser_->choose("#ask-files", photos({20, 220, 60}));
  ASSERT_TRUE(status_has("These photos are here already"));
  EXPECT_EQ(verdicts().size(), 3);
  const auto focused = [&] {
    return browser_->evaluate("[...document.querySelectorAll('.open')].indexOf(document.activeElement)");
  };
  browser_->evaluate("document.querySelector('.open').focus()");
  browser_->press("ArrowRight");
  browser_->press("ArrowRight");
  browser_->press("ArrowRight");
  EXPECT_EQ(focused(), 2) << "the last one";
  browser_->press("ArrowLeft");
  EXPECT_EQ(focused(), 1);
}

TEST_F(PageWork, APhotoThatIsCorrectedTwiceIsInTheLastClassAlone) {
  ask_about(photos({20}));
  open_details(0);
  correct("Dark Bird");
  correct("Bright Bird");
  EXPECT_EQ(images_of("001.Dark_Bird"), 1);
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
  undo();
  EXPECT_EQ(images_of("001.Dark_Bird"), 2) << "one undo for one action";
  EXPECT_EQ(images_of("002.Bright_Bird"), 1);
  EXPECT_EQ(verdicts(), json({"Dark Bird"})) << "as it was decided first";
  redo();
  EXPECT_EQ(images_of("001.Dark_Bird"), 1) << "and one redo";
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
  EXPECT_EQ(verdicts(), json({"Bright Bird"}));
  correct("Dark Bird");
  EXPECT_EQ(images_of("002.Bright_Bird"), 1) << "it is still known where the photo lies";
}

TEST_F(PageWork, RedoWorksByButtonKeyAndHistoryUntilANewChange) {
  EXPECT_EQ(browser_->evaluate("document.getElementById('redo').getAttribute('aria-disabled')"), "true");
  ask_about(photos({10, 20, 240}));
  click("#select-all");
  set("selection-class", "Middle");
  click("#selection button.plain");
  ASSERT_TRUE(status_has("3 photos added to Middle"));
  undo();
  EXPECT_EQ(browser_->evaluate("document.getElementById('redo').title"), "Redo: 3 photos as Middle");
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('[data-state=decided]').length"), 0);
  forget_status();
  browser_->evaluate("document.querySelector('.open').focus()");
  browser_->press("KeyR");
  ASSERT_TRUE(status_has("Done again: 3 photos as Middle"));
  EXPECT_EQ(images_of("Middle"), 3);
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('[data-state=decided]').length"), 3) << "as they were shown";
  undo();
  undo();
  go("history");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#undone li').length === 2"));
  EXPECT_EQ(browser_->evaluate("document.querySelector('#undone li:last-child button').textContent"), "Redo");
  shoot("history", 1280, false);
  shoot("history-phone-dark", 390, true);
  forget_status();
  browser_->evaluate("document.querySelector('#undone li button').click()");
  ASSERT_TRUE(status_has("2 changes done again"));
  EXPECT_EQ(names(), json({"Bright Bird", "Dark Bird", "Middle"}));
  undo();
  enrol_in_page("Other", photos({100}));
  EXPECT_EQ(browser_->evaluate("document.getElementById('redo').getAttribute('aria-disabled')"), "true");
  EXPECT_EQ(browser_->evaluate("document.getElementById('redo').title"), "There is nothing to redo");
}

TEST_F(PageWork, AClassThatIsRenamedAndRemovedIsShownRightByUndoAndRedo) {
  ask_about(photos({20}));
  open_details(0);
  correct("Bright Bird");
  go("teach/002.Bright_Bird");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('rename').value === '002.Bright_Bird'"));
  set("rename", "White bird");
  click("#rename-form button");
  ASSERT_TRUE(status_has("Bright Bird is now White bird"));
  click("#remove-class");
  ASSERT_TRUE(status_has("White bird was removed"));
  go("try");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#answers .verdict').textContent === 'Dark Bird'"))
      << "no longer decided";
  undo();
  EXPECT_EQ(verdicts(), json({"White bird"})) << "what was decided holds again";
  undo();
  EXPECT_EQ(verdicts(), json({"Bright Bird"}));
  redo();
  EXPECT_EQ(verdicts(), json({"White bird"}));
}

TEST_F(PageWork, ManyAreCorrectedAtOnceAndTakenBackAtOnce) {
  ask_about(photos({10, 20, 30, 240}));
  click("#select-all");
  EXPECT_EQ(text("#selection-count"), "4 selected");
  set("selection-class", "Middle");
  click("#selection button.plain");
  ASSERT_TRUE(status_has("4 photos added to Middle"));
  EXPECT_EQ(images_of("Middle"), 4);
  EXPECT_EQ(browser_->evaluate("document.getElementById('selection').hidden"), true);
  undo();
  EXPECT_EQ(ask("GET", "/v1/classes/Middle").status, 404);
  click("#select-all");
  click("#selection-confirm");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('[data-state=decided]').length === 4"));
  EXPECT_EQ(images_of("001.Dark_Bird"), 4);
  EXPECT_EQ(images_of("002.Bright_Bird"), 2);
}

TEST_F(PageWork, FiltersAndTakesTheAnswersHome) {
  ask_about(photos({10, 240, 245}));
  choose_value("filter-class", "002.Bright_Bird");
  EXPECT_EQ(verdicts(), json({"Bright Bird", "Bright Bird"}));
  EXPECT_EQ(text("#shown-count"), "2 of 3 photos");
  browser_->evaluate("document.querySelector('#answers .open').focus()");
  browser_->press("Digit0");
  choose_value("filter-class", "");
  choose_value("filter", "none");
  EXPECT_EQ(verdicts(), json({"None of these"}));
  const std::string csv = from_module("exports", "m.csv()").get<std::string>();
  EXPECT_THAT(csv, AllOf(HasSubstr("photo,class,probability,decided_by,none,error\r\n"),
                         HasSubstr("grey10.png,001.Dark_Bird,"), HasSubstr(",none of these,,you,")));
  const std::string zip = from_module(
      "exports",
      "m.zip(m.sorted()).then(async b => btoa(String.fromCharCode(...new Uint8Array(await b.arrayBuffer()))))");
  write_file(folder_ / "sorted.zip", from_base64(zip));
  EXPECT_EQ(
      std::system(("python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
                   "assert sorted(n.split(\"/\")[0] for n in z.namelist()) == [\"001.Dark_Bird\", "
                   "\"002.Bright_Bird\", \"none of these\"], z.namelist()' " +
                   (folder_ / "sorted.zip").string())
                      .c_str()),
      0);
  click("#clear");
  EXPECT_EQ(browser_->evaluate("document.getElementById('asked').hidden"), true);
}

TEST_F(PageWork, TheRecognizerGoesHomeAsAFile) {
  const std::string taken = from_module(
      "api",
      "m.callBlob('v1/recognizer/file').then(async b => { const n = new Uint8Array(await b.arrayBuffer()); let t = ''; "
      "for (let i = 0; i < n.length; i += 8192) t += String.fromCharCode(...n.subarray(i, i + 8192)); return btoa(t); "
      "})");
  write_file(folder_ / "home.pcm", from_base64(taken));
  EXPECT_EQ(RecognizerFile(folder_ / "home.pcm").revision(), RecognizerFile(path_).revision()) << "with every change";
}

TEST_F(PageWork, AHundredAndTwentyPhotosFitSomeScreens) {
  std::vector<int> greys;
  for (int i = 0; i < 120; ++i) greys.push_back(2 * i);
  ask_about(photos(greys));
  EXPECT_EQ(verdicts().size(), 120);
  shoot("many", 1280, false);
  EXPECT_LT(browser_->evaluate("document.documentElement.scrollHeight").get<int>(), 6000);
  shoot("many-phone", 390, false);
  EXPECT_LT(browser_->evaluate("document.documentElement.scrollHeight").get<int>(), 10000);
}

TEST_F(PageWork, LargePhotosAreMadeSmallerAndGoInPieces) {
  ServerOptions narrow;
  narrow.limits.body_bytes = 200'000;
  open_page(narrow);
  // Ten photos of 12 megapixels, more than a megabyte each.
  const std::string large = R"((async () => {
    const canvas = new OffscreenCanvas(4000, 3000), context = canvas.getContext('2d'), data = new DataTransfer();
    for (let i = 0; i < 10; ++i) {
      for (let y = 0; y < 3000; y += 20) for (let x = 0; x < 4000; x += 20) {
        context.fillStyle = `rgb(${(x * y + i * 31) % 256} ${(x + 7 * y) % 256} ${i * 20})`;
        context.fillRect(x, y, 13, 17);
      }
      data.items.add(new File([await canvas.convertToBlob({type: 'image/jpeg', quality: 0.95})], `large${i}.jpg`, {type: 'image/jpeg'}));
    }
    const least = Math.min(...[...data.files].map(f => f.size));  // the page empties the list
    document.getElementById('enrol-files').files = data.files;
    document.getElementById('enrol-files').dispatchEvent(new Event('change'));
    return least;
  })())";
  go("teach");
  EXPECT_GT(browser_->evaluate(large).get<int64_t>(), 1'000'000);
  set("class-name", "Pattern");
  click("#enrol-add");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('progress').hidden"));
  EXPECT_THAT(text("#progress-text"), HasSubstr("of 10"));
  ASSERT_TRUE(status_has("10 photos added to Pattern")) << text("#enrol-error");
  EXPECT_EQ(images_of("Pattern"), 10);
}

TEST_F(PageWork, AFolderOfClassFoldersMakesTheClasses) {
  for (const char* name : {"cats", "dogs"}) fs::create_directories(folder_ / "pets" / name);
  photo("pets/cats/1.png", 40);
  photo("pets/cats/2.png", 50);
  photo("pets/dogs/1.png", 200);
  write_file(folder_ / "pets/dogs/notes.txt", "no photo");
  go("teach");
  browser_->choose("#more-folder", {(folder_ / "pets").string()});
  ASSERT_TRUE(status_has("3 photos added to 2 classes")) << text("#status");
  EXPECT_EQ(names(), json({"Bright Bird", "cats", "Dark Bird", "dogs"}));
  EXPECT_EQ(images_of("cats"), 2);
  undo();
  EXPECT_EQ(names(), json({"Bright Bird", "Dark Bird"})) << "one undo for one action";
}

/// Goes from nothing to a recognizer in use, as a first-time user of the page would.
TEST_F(Page, MakesSixClassesOfAFolderCorrectsThreeAnswersAndSetsNoneOfThese) {
  for (int k = 0; k < 6; ++k) {
    const std::string name = "made/class " + std::to_string(k + 1);
    fs::create_directories(folder_ / name);
    for (int i = 0; i < 3; ++i) photo(name + "/" + std::to_string(i) + ".png", static_cast<uint8_t>(45 * k + 3 * i));
  }
  EXPECT_EQ(browser_->evaluate("document.getElementById('start').hidden"), false) << "where to begin";
  shoot("start", 1280, false);
  shoot("start-phone-dark", 390, true);
  browser_->choose("#start-folder", {(folder_ / "made").string()});
  ASSERT_TRUE(status_has("18 photos added to 6 classes")) << text("#status");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('accuracy-text').textContent.includes('of 100 new photos')"));
  shoot("classes", 1280, false);
  std::vector<std::string> asked;
  for (const int grey : {20, 64, 110, 154, 199, 244})
    asked.push_back(photo("asked" + std::to_string(grey) + ".png", static_cast<uint8_t>(grey)));
  ask_about(asked);
  for (int i = 0; i < 3; ++i) {
    open_details(i);
    forget_status();
    correct("class 6");
  }
  EXPECT_EQ(ask("GET", "/v1/classes/class%206").json()["images"], 6);
  go("try");
  forget_status();
  click("#calibrate");
  ASSERT_TRUE(status_has("Learned:")) << text("#calibrate-error");
  click("#none-box summary");
  shoot("none", 1280, false);
  shoot("none-phone-dark", 390, true);
  go("use");
  forget_status();
  click("#take-pcm");
  ASSERT_TRUE(status_has(".pcm is saved")) << text("#status");
  forget_status();
  click("#take-onnx");
  ASSERT_TRUE(status_has("pets-onnx.zip is saved")) << text("#status");
  go("try");
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('[data-state=decided]').length === 3"));
  open_details(5);
  EXPECT_TRUE(browser_->wait_for("document.getElementById('ranking').textContent.includes('None of these')"))
      << "asked again after the calibration";
}

}  // namespace
}  // namespace protocom::testing
