#pragma once
#include <spdlog/sinks/sink.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/progress.h"

namespace protocom::cli {

/// How much the program prints on stderr.
enum class Verbosity { kQuiet, kNormal, kVerbose };

/// Shows progress on stderr: a bar with the remaining time on a terminal; elsewhere a plain line every tenth of the job
/// and every ten seconds, less often if a job takes hours. A job of less than a second shows nothing.
class TerminalProgress : public Progress {
 public:
  void set_verbosity(Verbosity verbosity) { verbosity_ = verbosity; }

  void start(std::string_view what, int64_t total) override;
  void advance(int64_t done, std::string_view detail) override;
  void finish() override;

  /// Removes the bar so that a message can be written; the next advance redraws it.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kNoReport = -1;

  [[nodiscard]] double elapsed() const;
  [[nodiscard]] std::string timing() const;
  void draw_bar();
  void print_line();

  Verbosity verbosity_ = Verbosity::kNormal;
  std::string what_;
  std::string detail_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  int64_t printed_done_ = 0;
  int64_t first_done_ = kNoReport;  // at the first report
  bool running_ = false;
  bool bar_visible_ = false;
  Clock::time_point started_;
  Clock::time_point printed_;
  Clock::time_point first_report_;
};

/// Returns the program's only progress display.
TerminalProgress& terminal_progress();

/// Makes a log sink that writes to stderr around the progress bar: "warning: ...".
std::shared_ptr<spdlog::sinks::sink> make_stderr_sink();

/// Returns "1:02:03", "2:03" or "0:03".
std::string format_duration(double seconds);

}  // namespace protocom::cli
