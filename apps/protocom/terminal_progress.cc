#include "terminal_progress.h"

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/error.h"
#include "base/to_whole.h"
#include "standard_streams.h"

namespace protocom::cli {
namespace {

constexpr double kBarInterval = 0.1;    // s between two redraws
constexpr double kLineInterval = 10.0;  // s between two plain lines, at first
constexpr double kLineShare = 0.01;     // of the time a job has taken: a day's training fills no log with lines
constexpr double kShortJob = 1.0;       // s below which nothing is shown on a plain stream

std::mutex& output_mutex() {
  static std::mutex mutex;
  return mutex;
}

bool is_terminal() {
  static const bool kResult = isatty(STDERR_FILENO) != 0;
  return kResult;
}

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

class StderrSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    terminal_progress().clear();
    const std::lock_guard lock(output_mutex());
    const std::string_view text(message.payload.data(), message.payload.size());
    const auto name = spdlog::level::to_string_view(message.level);
    const std::string prefix =
        message.level == spdlog::level::info ? "" : fmt::format("{}: ", std::string_view(name.data(), name.size()));
    say(fmt::format("{}{}\n", prefix, one_line(text)));
  }
  void flush_() override {}
};

}  // namespace

std::string format_duration(double seconds) {
  const auto total = to_whole<int64_t>(std::round(std::max(0.0, seconds)));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

TerminalProgress& terminal_progress() {
  static TerminalProgress progress;
  return progress;
}

std::shared_ptr<spdlog::sinks::sink> make_stderr_sink() { return std::make_shared<StderrSink>(); }

double TerminalProgress::elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

std::string TerminalProgress::timing() const {
  const double seconds = elapsed();
  if (done_ >= total_ || done_ <= first_done_) return format_duration(seconds);
  // Since the first report: a resumed job begins with much done, and the first step is slower than the others.
  const double since = std::chrono::duration<double>(Clock::now() - first_report_).count();
  const double left = since / static_cast<double>(done_ - first_done_) * static_cast<double>(total_ - done_);
  return fmt::format("{} left", format_duration(left));
}

void TerminalProgress::start(std::string_view what, int64_t total) {
  if (running_) finish();
  const std::lock_guard lock(output_mutex());
  what_ = what;
  detail_.clear();
  total_ = std::max<int64_t>(total, 0);
  done_ = printed_done_ = 0;
  first_done_ = kNoReport;
  started_ = printed_ = Clock::now();
  running_ = true;
}

void TerminalProgress::advance(int64_t done, std::string_view detail) {
  const std::lock_guard lock(output_mutex());
  if (!running_ || verbosity_ == Verbosity::kQuiet) return;
  done_ = std::min(done, total_);
  detail_ = one_line(detail);
  if (first_done_ == kNoReport) {
    first_done_ = done_;
    if (done_ < total_) printed_done_ = done_;
    first_report_ = Clock::now();
  }
  const double since = std::chrono::duration<double>(Clock::now() - printed_).count();
  if (is_terminal()) {
    if (since >= kBarInterval) draw_bar();
    return;
  }
  const bool tenth = (done_ - printed_done_) * 10 >= total_ && since >= kShortJob;
  if (since >= std::max(kLineInterval, kLineShare * elapsed()) || tenth) print_line();
}

void TerminalProgress::finish() {
  const std::lock_guard lock(output_mutex());
  if (!running_) return;
  running_ = false;
  if (verbosity_ == Verbosity::kQuiet) return;
  if (bar_visible_) {
    draw_bar();
    say("\n");
    bar_visible_ = false;
  } else if (elapsed() >= kShortJob && printed_done_ < done_) {
    print_line();
  }
}

void TerminalProgress::clear() {
  const std::lock_guard lock(output_mutex());
  if (!bar_visible_) return;
  say("\r\033[K");
  bar_visible_ = false;
}

void TerminalProgress::draw_bar() {
  constexpr int64_t kBarWidth = 24;
  const int64_t filled = total_ == 0 ? kBarWidth : done_ * kBarWidth / total_;
  std::string line = fmt::format("{} [{}{}] {}/{} {}", what_, std::string(static_cast<size_t>(filled), '#'),
                                 std::string(static_cast<size_t>(kBarWidth - filled), '.'), done_, total_, timing());
  if (!detail_.empty()) line += "  " + detail_;
  const size_t width = terminal_width() - 1;
  if (line.size() > width) line.resize(width);
  say(fmt::format("\r{}\033[K", line));
  bar_visible_ = true;
  printed_ = Clock::now();
}

void TerminalProgress::print_line() {
  const int64_t percent = total_ == 0 ? 100 : done_ * 100 / total_;
  say(fmt::format("{} {}/{} ({} %) {}{}{}\n", what_, done_, total_, percent, timing(), detail_.empty() ? "" : "  ",
                  detail_));
  printed_ = Clock::now();
  printed_done_ = done_;
}

}  // namespace protocom::cli
