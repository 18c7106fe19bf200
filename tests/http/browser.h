#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace protocom::testing {

/// A headless Chromium, controlled through its debugging pipe. There is one for all tests, since starting it takes
/// longer than most of them.
class Chromium {
 public:
  /// Returns its command, or "" if it is not installed.
  static std::string command() {
    for (const char* name : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
      if (std::filesystem::exists(name)) return name;
    }
    return "";
  }

  static Chromium& running() {
    static Chromium process;
    return process;
  }
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// Sends a command; returns the number that its answer will have.
  int send(const std::string& session, const std::string& method, const nlohmann::json& parameters) {
    nlohmann::json message = {{"id", ++id_}, {"method", method}, {"params", parameters}};
    if (!session.empty()) message["sessionId"] = session;
    const std::string text = message.dump() + '\0';
    if (::write(write_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("the browser is gone");
    return id_;
  }

  /// Returns the next answer or event.
  nlohmann::json receive() {
    for (;;) {
      const size_t end = buffer_.find('\0');
      if (end != std::string::npos) {
        nlohmann::json message = nlohmann::json::parse(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        return message;
      }
      std::array<char, 1 << 14> block{};
      const ssize_t size = ::read(read_, block.data(), block.size());
      if (size <= 0) throw std::runtime_error("the browser is gone");
      buffer_.append(block.data(), static_cast<size_t>(size));
    }
  }

 private:
  Chromium() {
    std::array<int, 2> to{}, from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) run(to[0], from[1], profile_.path());
    ::close(to[0]);
    ::close(from[1]);
    write_ = to[1];
    read_ = from[0];
  }
  ~Chromium() {
    ::close(write_);
    ::close(read_);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  [[noreturn]] static void run(int in, int out, const std::filesystem::path& profile) {
    // Chromium reads commands from descriptor 3 and answers at 4.
    const int high_in = ::fcntl(in, F_DUPFD, 10);
    const int high_out = ::fcntl(out, F_DUPFD, 10);
    ::dup2(high_in, 3);
    ::dup2(high_out, 4);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDERR_FILENO);
    ::closefrom(5);  // above all a server's sockets, as it outlives that server
    const std::string folder = "--user-data-dir=" + profile.string();
    const std::string program = command();
    ::execl(program.c_str(), program.c_str(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
            "--remote-debugging-pipe", folder.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }

  const TempDir profile_;
  pid_t process_ = -1;
  int write_ = -1, read_ = -1, id_ = 0;
  std::string buffer_;
};

/// A page in a profile of its own, as in a newly installed browser.
class Browser {
 public:
  Browser() {
    context_ = call("Target.createBrowserContext").at("browserContextId");
    const std::string target =
        call("Target.createTarget", {{"url", "about:blank"}, {"browserContextId", context_}}).at("targetId");
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}}).at("sessionId");
    for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "DOM.enable"}) call(domain);
  }
  ~Browser() {
    session_.clear();
    try {
      call("Target.disposeBrowserContext", {{"browserContextId", context_}});
    } catch (const std::exception&) {
      // The browser has exited.
    }
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Sends a command of the DevTools protocol and returns its result.
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters = nlohmann::json::object()) {
    const int id = Chromium::running().send(session_, method, parameters);
    for (;;) {
      const nlohmann::json answer = receive();
      if (answer.value("id", 0) != id) continue;
      if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
      return answer.value("result", nlohmann::json::object());
    }
  }

  /// Returns the value of an expression on the page.
  nlohmann::json evaluate(const std::string& expression) {
    const nlohmann::json done =
        call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (done.contains("exceptionDetails"))
      throw std::runtime_error(expression + ": " + done["exceptionDetails"].dump());
    return done.at("result").value("value", nlohmann::json());
  }

  /// Waits until the condition is true, at most a minute.
  bool wait_for(const std::string& condition) {
    for (int i = 0; i < 3000; ++i) {
      if (holds(condition)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  void open(const std::string& address) {
    call("Page.navigate", {{"url", address}});
    wait_for("document.readyState === 'complete' && location.href !== 'about:blank'");
  }

  /// Gives files to an input, as if the user had chosen them.
  void choose(const std::string& selector, const std::vector<std::string>& files) {
    const int64_t root = call("DOM.getDocument").at("root").at("nodeId");
    const int64_t input = call("DOM.querySelector", {{"nodeId", root}, {"selector", selector}}).at("nodeId");
    call("DOM.setFileInputFiles", {{"nodeId", input}, {"files", files}});
  }

  /// Presses a key: "Tab", "Enter", "Space", "KeyY", ... (kKeys).
  void press(const std::string& key) {
    const Key& one = kKeys.at(key);
    nlohmann::json event = {{"key", one.key}, {"code", key}, {"windowsVirtualKeyCode", one.number}};
    event["type"] = *one.text == 0 ? "rawKeyDown" : "keyDown";
    if (*one.text != 0) event["text"] = one.text;
    call("Input.dispatchKeyEvent", event);
    event["type"] = "keyUp";
    event.erase("text");
    call("Input.dispatchKeyEvent", event);
  }

  /// Types text into the focused element.
  void type(const std::string& text) { call("Input.insertText", {{"text", text}}); }

  /// Presses Tab until the element has the focus; returns false if it never gets it.
  bool tab_to(const std::string& selector) {
    for (int i = 0; i < 60; ++i) {
      if (holds("document.activeElement.matches(" + nlohmann::json(selector).dump() + ")")) return true;
      press("Tab");
    }
    return false;
  }

  /// Gives files to the dialog that a key opens.
  bool choose_by_key(const std::string& key, const std::vector<std::string>& files) {
    call("Page.setInterceptFileChooserDialog", {{"enabled", true}});
    chooser_ = 0;
    press(key);
    for (int i = 0; i < 500 && chooser_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      evaluate("0");  // events come together with answers
    }
    if (chooser_ == 0) return false;
    call("DOM.setFileInputFiles", {{"backendNodeId", chooser_}, {"files", files}});
    return true;
  }

  /// Returns how often the browser asked for confirmation, as before leaving a page; the answer is always yes.
  [[nodiscard]] int questions() const { return questions_; }

  /// Returns the errors of the page: exceptions, and what its policy or the server refused.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  /// While a page loads, neither its elements nor a context to evaluate in may exist.
  bool holds(const std::string& condition) {
    try {
      return evaluate("(() => { try { return Boolean(" + condition + "); } catch { return false; } })()") == true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  nlohmann::json receive() {
    nlohmann::json message = Chromium::running().receive();
    if (message.value("sessionId", "") != session_) return message;
    const std::string method = message.value("method", "");
    if (method == "Page.fileChooserOpened") chooser_ = message["params"].value("backendNodeId", int64_t{0});
    if (method == "Page.javascriptDialogOpening") {
      ++questions_;
      Chromium::running().send(session_, "Page.handleJavaScriptDialog", {{"accept", true}});
    }
    if (method == "Runtime.exceptionThrown" || method == "Log.entryAdded") complaints_.push_back(message.dump());
    return message;
  }

  struct Key {
    const char* key;
    int number;
    const char* text;
  };
  inline static const std::map<std::string, Key> kKeys = {{"Tab", {"Tab", 9, ""}},
                                                          {"Enter", {"Enter", 13, "\r"}},
                                                          {"Space", {" ", 32, " "}},
                                                          {"Escape", {"Escape", 27, ""}},
                                                          {"ArrowLeft", {"ArrowLeft", 37, ""}},
                                                          {"ArrowUp", {"ArrowUp", 38, ""}},
                                                          {"ArrowRight", {"ArrowRight", 39, ""}},
                                                          {"ArrowDown", {"ArrowDown", 40, ""}},
                                                          {"KeyN", {"n", 78, "n"}},
                                                          {"KeyR", {"r", 82, "r"}},
                                                          {"KeyU", {"u", 85, "u"}},
                                                          {"KeyX", {"x", 88, "x"}},
                                                          {"KeyY", {"y", 89, "y"}},
                                                          {"Digit0", {"0", 48, "0"}},
                                                          {"Digit2", {"2", 50, "2"}}};

  int questions_ = 0;
  int64_t chooser_ = 0;  // input for which the last dialog was opened
  std::string context_, session_;
  std::vector<std::string> complaints_;
};

}  // namespace protocom::testing
