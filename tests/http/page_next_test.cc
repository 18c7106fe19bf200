// Unsorted photos one by one, the part that made an answer, parts of photos, and other windows.
#include "http/page_support.h"
#include "http/unsorted_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PageNext : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    if (IsSkipped()) return;
    path_ = make_own_photos(folder_.path(), parts());
    open_page({});
    for (const int grey : {10, 30, 50}) enrol("dark", static_cast<uint8_t>(grey));
    for (const int grey : {200, 230, 250}) enrol("bright", static_cast<uint8_t>(grey));
    reload();
  }

  void show_unsorted(const std::vector<uint8_t>& greys) {
    go("teach");
    click("#unsorted-box summary");
    std::vector<std::string> files;
    for (const uint8_t grey : greys) files.push_back(photo("u" + std::to_string(grey) + ".png", grey));
    forget_status();
    browser_->choose("#unsorted-files", files);
    ASSERT_TRUE(status_has("added")) << text("#status");
    click("#next-start");
    ASSERT_TRUE(browser_->wait_for("document.activeElement.matches('#next-choices .likely')")) << text("#status");
  }
  void shoot_four(const std::string& name) {
    for (const int width : {1280, 390}) {
      for (const bool dark : {false, true})
        shoot(name + (width < 500 ? "-phone" : "") + (dark ? "-dark" : ""), width, dark);
    }
    shoot(name, 1280, false);
  }
  [[nodiscard]] json images_of(const std::string& name) const {
    return ask("GET", "/v1/classes/" + name).json()["images"];
  }
  [[nodiscard]] json left() const { return ask("GET", "/v1/recognizer").json()["unlabelled"]; }
};

TEST_F(PageNext, NamesUnsortedPhotosByOneKeyEach) {
  show_unsorted({20, 120, 240});
  EXPECT_EQ(text("#next-left"), "3 photos left");
  EXPECT_EQ(texts("#next-choices .choice-name"), json({"bright", "dark"}));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#next-photo img')?.naturalWidth > 0"));
  shoot_four("next");
  const std::string first = text("#next-file");
  browser_->press("Digit2");
  ASSERT_TRUE(status_has("Added to dark")) << text("#status") << text("#next-error");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('next-left').textContent === '2 photos left'"));
  EXPECT_EQ(images_of("dark"), 4);
  EXPECT_EQ(left(), 2);
  ASSERT_TRUE(browser_->wait_for("document.activeElement.matches('#next-choices .likely')")) << "the next one";
  EXPECT_NE(text("#next-file"), first);
  forget_status();
  browser_->press("KeyU");
  ASSERT_TRUE(status_has("Taken back: " + first + " as dark")) << "both changes at once";
  EXPECT_EQ(images_of("dark"), 3);
  EXPECT_EQ(left(), 3);
  ASSERT_TRUE(browser_->wait_for("document.getElementById('next-left').textContent === '3 photos left'"));
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageNext, SkipsTakesNewClassesAndEnds) {
  show_unsorted({20, 120});
  const std::string first = text("#next-file");
  click("#next-skip");
  ASSERT_TRUE(browser_->wait_for("document.getElementById('next-file').textContent !== " + json(first).dump()));
  set("next-class", "middle");
  click("#next-form button");
  ASSERT_TRUE(status_has("1 photo left, which you skipped")) << text("#status") << text("#next-error");
  EXPECT_EQ(images_of("middle"), 1);
  EXPECT_EQ(browser_->evaluate("document.getElementById('next').hidden"), true);
  click("#next-start");
  ASSERT_TRUE(browser_->wait_for("document.activeElement.matches('#next-choices .likely')"));
  browser_->press("Enter");
  ASSERT_TRUE(status_has("Every unsorted photo has a class now")) << text("#status");
  EXPECT_EQ(left(), 0);
}

TEST_F(PageNext, ShowsWhichPartMadeAnAnswer) {
  Image image{4 * kSide, 6 * kSide, std::vector<uint8_t>(static_cast<size_t>(kSide * kSide) * 4 * 6 * 3, 20)};
  for (int64_t y = 0; y < 2 * kSide; ++y) {
    for (int64_t x = 0; x < kSide * 3 * 3; ++x) image.rgb[static_cast<size_t>(y * kSide * 3 * 6 + x)] = 250;
  }
  write_file(folder_ / "half.png", encode_png(image));
  ask_about({(folder_ / "half.png").string()});
  open_details(0);
  click("#show-where");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('where-note').hidden")) << text("#details-error");
  EXPECT_THAT(text("#where-note"), HasSubstr("Bright: the parts that support"));
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#where rect').length"), 49);
  EXPECT_EQ(browser_->evaluate("Math.round(100 * document.getElementById('where').clientWidth / "
                               "document.getElementById('where').clientHeight)"),
            150)
      << "as the photo";
  shoot_four("where");
  click("#show-where");
  EXPECT_TRUE(browser_->wait_for("document.querySelectorAll('#where rect').length === 0"));
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageNext, TakesAPartOfAPhotoForAPhoto) {
  Image image{100, 200, std::vector<uint8_t>(size_t{100} * 200 * 3)};
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = i / 3 % 200 < 100 ? 10 : 240;
  write_file(folder_ / "scene.png", encode_png(image));
  ask_about({(folder_ / "scene.png").string()});
  open_details(0);
  click("#enlarge");
  ASSERT_TRUE(browser_->wait_for(
      "document.getElementById('zoom').open && document.getElementById('zoom-photo').naturalWidth > 0"));
  const json frame = browser_->evaluate(
      "(r => [r.left, r.top, r.width, r.height])(document.getElementById('zoom-boxes').getBoundingClientRect())");
  const auto mouse = [&](const char* type, double x, double y) {
    browser_->call("Input.dispatchMouseEvent", {{"type", type},
                                                {"x", frame[0].get<double>() + x * frame[2].get<double>()},
                                                {"y", frame[1].get<double>() + y * frame[3].get<double>()},
                                                {"button", "left"},
                                                {"buttons", 1},
                                                {"clickCount", 1}});
  };
  mouse("mousePressed", 0.9, 0.8);
  mouse("mouseMoved", 0.7, 0.5);
  mouse("mouseMoved", 0.6, 0.2);
  mouse("mouseReleased", 0.6, 0.2);
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('zoom-ask').hidden"));
  shoot_four("zoom");
  click("#zoom-ask");
  ASSERT_TRUE(browser_->wait_for(
      "document.querySelectorAll('#answers .tile').length === 2 && !document.querySelector('[data-state=waiting]')"));
  const std::string part =
      "[...document.querySelectorAll('#answers .tile')].find(t => "
      "t.querySelector('img').alt.includes('#xywh=percent:'))";
  EXPECT_EQ(browser_->evaluate(part + ".querySelector('.verdict').textContent"), "bright");
  const json numbers =
      browser_->evaluate(part + ".querySelector('img').alt.split('percent:')[1].split(',').map(Number)");
  ASSERT_EQ(numbers.size(), 4U);
  EXPECT_NEAR(numbers[0].get<double>(), 60, 2);
  EXPECT_NEAR(numbers[1].get<double>(), 20, 2);
  EXPECT_NEAR(numbers[2].get<double>(), 30, 2);
  EXPECT_NEAR(numbers[3].get<double>(), 60, 2);
  open_details(0);
  browser_->evaluate(part + ".querySelector('.open').click()");
  correct("bright");
  EXPECT_THAT(ask("GET", "/v1/classes/bright").json()["examples"].back()["source"].get<std::string>(),
              HasSubstr("scene.png#xywh=percent:"));
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageNext, MapsPhotosByLikeness) {
  for (const int grey : {15, 25, 35, 45}) enrol("dark", static_cast<uint8_t>(grey));
  go("teach");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('map-box').hidden"));
  click("#map-box summary");
  ASSERT_TRUE(browser_->wait_for("document.querySelectorAll('#map circle').length === 10"));
  EXPECT_EQ(texts("#map-legend a"), json({"bright", "dark"}));
  browser_->evaluate(R"((dot => {
    const {left, top, width, height} = dot.getBoundingClientRect();
    dot.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: left + width / 2 + 1, clientY: top + height / 2}));
  })(document.querySelector('#map circle:last-child')))");
  EXPECT_EQ(text("#map-photo a"), "bright");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#map-photo img')?.naturalWidth > 0"));
  shoot_four("map");
  ASSERT_TRUE(browser_->tab_to("#map"));
  const json before =
      browser_->evaluate("[...document.querySelectorAll('#map circle')].findIndex(c => c.matches('.chosen'))");
  for (const char* key : {"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"}) browser_->press(key);
  EXPECT_EQ(browser_->evaluate("document.querySelectorAll('#map .chosen').length"), 1);
  EXPECT_GE(before.get<int>(), 0);
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageNext, MarksAPartByKeys) {
  ask_about({photo("q.png", 20)});
  open_details(0);
  click("#enlarge");
  ASSERT_TRUE(browser_->wait_for(
      "document.getElementById('zoom').open && document.getElementById('zoom-photo').naturalWidth > 0"));
  ASSERT_TRUE(browser_->tab_to("#zoom-mark"));
  browser_->press("Enter");
  ASSERT_TRUE(browser_->wait_for("document.activeElement.id === 'zoom-ask'"));
  browser_->press("ArrowRight");
  browser_->press("ArrowDown");
  EXPECT_EQ(browser_->evaluate("['x', 'y', 'width'].map(name => Number(document.querySelector('#zoom-boxes "
                               ".marked').getAttribute(name)).toFixed(2))"),
            json({"0.27", "0.27", "0.50"}));
}

/// As Page.HasNothingThatAxeFinds.
TEST_F(PageNext, HasNothingThatAxeFinds) {
  const char* axe = std::getenv("PROTOCOM_AXE");
  if (axe == nullptr) GTEST_SKIP() << "PROTOCOM_AXE names no axe.min.js";
  const auto check = [this](const char* what) {
    EXPECT_EQ(browser_->evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                                 "v.id + ': ' + v.nodes[0].html))"),
              json::array())
        << what;
  };
  browser_->evaluate(read_file(axe));
  show_unsorted({20, 120});
  check("photos one by one");
  ask_about({photo("q.png", 20)});
  open_details(0);
  click("#show-where");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('where-note').hidden"));
  check("where it looks");
  click("#enlarge");
  click("#zoom-mark");
  check("a part that is marked");
}

TEST_F(PageNext, TakesTheKeyOfASharedAddress) {
  http::ApiKeys keys;
  http::ApiKey one;
  one.name = "share";
  one.role = http::Role::kWrite;
  const std::string key = keys.add(one);
  keys.write(folder_ / "keys.json");
  ServerOptions options;
  options.keys = folder_ / "keys.json";
  browser_->call("Page.navigate", {{"url", "about:blank"}});
  serve(options);
  server_->invite({{"https://192.0.2.7:8080/#key=" + key}, "3A:5F"});
  browser_->open("http://localhost:" + std::to_string(port()) + "/#key=" + key);
  ASSERT_TRUE(browser_->wait_for("document.getElementById('summary').textContent.includes('2 classes')"));
  EXPECT_EQ(browser_->evaluate("location.href.includes('key')"), false) << "it is not left where others see it";
  EXPECT_EQ(browser_->evaluate("document.getElementById('key-form').hidden"), true);
  go("use");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('invitation').hidden"));
  EXPECT_THAT(text("#invitation"), HasSubstr("https://192.0.2.7:8080/#key=" + key));
  EXPECT_EQ(text("#fingerprint"), "3A:5F");
  EXPECT_GT(browser_->evaluate("document.querySelector('#invitation-code path').getBBox().width").get<double>(), 20);
  EXPECT_EQ(text("#phone-title"), "On your phone");
  shoot("invitation", 1280, true);
  browser_->open("http://phone.localhost:" + std::to_string(port()) + "/#key=" + key);
  EXPECT_TRUE(browser_->wait_for("document.getElementById('phone-title').textContent === 'On another phone'"));
  go("use");
  ASSERT_TRUE(browser_->wait_for("!document.getElementById('invitation').hidden"));
  shoot("invitation-phone", 390, false);
  EXPECT_EQ(complaints(), std::vector<std::string>());
}

TEST_F(PageNext, FollowsWhatOthersChange) {
  go("teach");
  forget_status();
  enrol("grey", 128);  // another window
  ASSERT_TRUE(status_has("Another window or program: Added 1 photo to grey")) << text("#status");
  EXPECT_EQ(names(), json({"bright", "dark", "grey"}));
  ask("POST", "/v1/undo");
  ASSERT_TRUE(status_has("Another window or program undid: Added 1 photo to grey")) << text("#status");
  EXPECT_EQ(names(), json({"bright", "dark"}));
  enrol_in_page("grey", {photo("g.png", 120)});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_THAT(text("#status"), HasSubstr("1 photo added to grey")) << "its own changes are no news";
}

TEST_F(PageNext, SaysWhatAnUndoMetThatCameTooLate) {
  enrol_in_page("grey", {photo("g.png", 120)});
  std::this_thread::sleep_for(std::chrono::seconds(1));  // it waits for the next change by now
  browser_->evaluate(R"((() => {
    const real = window.fetch;
    window.fetch = (path, options) => path.startsWith('v1/events') ? new Promise(() => {}) : real(path, options);
  })())");
  enrol("grey", 130);  // ends what it waits for; from now on it follows nothing
  ASSERT_TRUE(status_has("Another window or program"));
  enrol("grey", 140);
  forget_status();
  click("#undo");
  ASSERT_TRUE(status_has("Another window or program changed something meanwhile")) << text("#status");
  EXPECT_EQ(images_of("grey"), 3) << "nothing was taken back";
  undo();
  EXPECT_EQ(images_of("grey"), 2);
}

}  // namespace
}  // namespace protocom::testing
