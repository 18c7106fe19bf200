#pragma once
#include <openssl/evp.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "http/browser.h"
#include "http/server_support.h"

namespace protocom::testing {

inline std::string from_base64(const std::string& text) {
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
    ASSERT_FALSE(Chromium::command().empty())
        << "there is no Chromium (scripts/packages-test.txt); PROTOCOM_NO_BROWSER=1 leaves the page out";
    Served::SetUp();
    open_page({});
  }

  void open_page(const ServerOptions& options) {
    // A page that is still open would complain that its server is gone.
    if (browser_) browser_->call("Page.navigate", {{"url", "about:blank"}});
    serve(options);
    if (!browser_) browser_ = std::make_unique<Browser>();
    browser_->open("http://localhost:" + std::to_string(port()) + "/");
    ASSERT_TRUE(browser_->wait_for("document.getElementById('summary').textContent.includes('class')"));
  }

  /// Reloads the page with the server's current state.
  void reload() {
    browser_->evaluate("window.before = true");
    browser_->call("Page.reload");
    ASSERT_TRUE(
        browser_->wait_for("!window.before && document.getElementById('summary').textContent.includes('class')"));
  }

  void go(const std::string& view) {
    browser_->evaluate("location.hash = " + nlohmann::json("#" + view).dump());
    const std::string id = "view-" + view.substr(0, view.find('/'));
    ASSERT_TRUE(browser_->wait_for("!document.getElementById('" + id + "').hidden"));
  }

  /// Fills in the dialog as a user would.
  void enrol_in_page(const std::string& name, const std::vector<std::string>& files,
                     const std::string& attributes = "") {
    go("teach");
    browser_->choose("#enrol-files", files);
    EXPECT_TRUE(browser_->wait_for("document.getElementById('pending').textContent.includes('ready')"));
    set("class-name", name);
    set("attributes", attributes);
    forget_status();
    click("#enrol-add");
    EXPECT_TRUE(status_has("added to ")) << text("#status") << text("#enrol-error");
  }

  /// Submits photos and waits for all answers.
  void ask_about(const std::vector<std::string>& files) {
    go("try");
    browser_->choose("#ask-files", files);
    EXPECT_TRUE(
        browser_->wait_for("document.querySelector('.tile') && document.getElementById('progress').hidden && "
                           "!document.querySelector('[data-state=waiting]')"))
        << text("#status");
  }

  /// Opens the details of a photo by its index in the grid, from 0.
  void open_details(int place) {
    browser_->evaluate("document.querySelectorAll('#answers .open')[" + std::to_string(place) + "].click()");
    ASSERT_TRUE(browser_->wait_for("!document.getElementById('details').hidden"));
  }

  /// Assigns the photo to that class in the details.
  void correct(const std::string& name) {
    set("right-class", name);
    click("#correction button");
    EXPECT_TRUE(status_has("added to " + name)) << text("#status") << text("#details-error");
  }

  void set(const std::string& id, const std::string& value) {
    browser_->evaluate("document.getElementById('" + id + "').value = " + nlohmann::json(value).dump());
  }
  /// Sets a control's value and triggers its listeners.
  void choose_value(const std::string& id, const std::string& value) {
    set(id, value);
    browser_->evaluate("document.getElementById('" + id + "').dispatchEvent(new Event('input', {bubbles: true}))");
    browser_->evaluate("document.getElementById('" + id + "').dispatchEvent(new Event('change', {bubbles: true}))");
  }
  void click(const std::string& selector) {
    browser_->evaluate("document.querySelector(" + nlohmann::json(selector).dump() + ").click()");
  }
  /// Moves files that are being dragged onto an element, which is scrolled into view; "dragEnter", "dragOver" or
  /// "drop".
  void drag(const std::string& type, const std::string& selector, const std::vector<std::string>& files) {
    const nlohmann::json middle = browser_->evaluate(
        "(e => { e.scrollIntoView({block: 'nearest'}); const box = e.getBoundingClientRect(); "
        "return [box.x + box.width / 2, box.y + box.height / 2]; })(document.querySelector(" +
        nlohmann::json(selector).dump() + "))");
    browser_->call("Input.dispatchDragEvent",
                   {{"type", type},
                    {"x", middle[0]},
                    {"y", middle[1]},
                    {"data", {{"items", nlohmann::json::array()}, {"files", files}, {"dragOperationsMask", 1}}}});
  }
  void forget_status() { browser_->evaluate("document.getElementById('status').textContent = ''"); }
  bool status_has(const std::string& part) {
    return browser_->wait_for("document.getElementById('status').textContent.includes(" + nlohmann::json(part).dump() +
                              ")");
  }
  void undo() {
    forget_status();
    click("#undo");
    EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent.startsWith('Taken back')"));
  }

  void redo() {
    forget_status();
    click("#redo");
    EXPECT_TRUE(browser_->wait_for("document.getElementById('status').textContent.startsWith('Done again')"));
  }

  std::string text(const std::string& selector) {
    return browser_->evaluate("document.querySelector(" + nlohmann::json(selector).dump() + ").textContent")
        .get<std::string>();
  }
  nlohmann::json texts(const std::string& selector) {
    return browser_->evaluate("[...document.querySelectorAll(" + nlohmann::json(selector).dump() +
                              ")].map(e => e.textContent)");
  }
  nlohmann::json names() { return texts("#classes .name"); }
  nlohmann::json verdicts() { return texts("#answers .verdict"); }

  /// Returns the page's errors, without those about thumbnails of photos that were removed before the browser loaded
  /// them: an undo may come between the list of a class's photos and its thumbnails.
  [[nodiscard]] std::vector<std::string> complaints() const {
    std::vector<std::string> left;
    for (const std::string& complaint : browser_->complaints()) {
      const nlohmann::json entry =
          nlohmann::json::parse(complaint).at("params").value("entry", nlohmann::json::object());
      const std::string url = entry.value("url", "");
      const size_t path = url.find("/v1/");
      if (path != std::string::npos && url.find("/thumbnail", path) != std::string::npos) {
        const Reply now = ask("GET", url.substr(path));
        if (now.status == 404 && now.body.find("has no thumbnail") == std::string::npos) continue;
      }
      left.push_back(complaint);
    }
    return left;
  }

  /// Saves a screenshot to the folder named by PROTOCOM_SCREENSHOTS.
  void shoot(const std::string& name, int width, bool dark) {
    const char* folder = std::getenv("PROTOCOM_SCREENSHOTS");
    browser_->call("Emulation.setDeviceMetricsOverride",
                   {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", width < 500}});
    browser_->call("Emulation.setEmulatedMedia",
                   {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
    EXPECT_LE(browser_->evaluate("document.documentElement.scrollWidth").get<int>(), width) << "wider than the screen";
    if (folder == nullptr) return;
    const nlohmann::json shot =
        browser_->call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}});
    write_file(fs::path(folder) / (name + ".png"), from_base64(shot.at("data").get<std::string>()));
  }

  std::unique_ptr<Browser> browser_;
};

/// The page of two classes, a dark and a bright photo, and photos of any grey.
class PageOfGreys : public Page {
 protected:
  void SetUp() override {
    Page::SetUp();
    if (IsSkipped()) return;
    enrol("001.Dark_Bird", 5);
    enrol("002.Bright_Bird", 250);
    reload();
  }

  std::vector<std::string> photos(const std::vector<int>& greys) const {
    std::vector<std::string> files;
    for (const int grey : greys)
      files.push_back(photo("grey" + std::to_string(grey) + ".png", static_cast<uint8_t>(grey)));
    return files;
  }

  nlohmann::json percents() { return texts("#answers .sure"); }

  int64_t images_of(const std::string& name) const {
    return ask("GET", "/v1/classes/" + name).json()["images"].get<int64_t>();
  }

  /// Returns the value of an expression in which `m` is one of the page's modules.
  nlohmann::json from_module(const std::string& module, const std::string& expression) {
    return browser_->evaluate("import('/page/" + module + ".js').then(m => " + expression + ")");
  }
};

}  // namespace protocom::testing
