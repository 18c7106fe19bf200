#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace protocom::testing {

/// Result of a finished program.
struct Outcome {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;     ///< stdout
  std::string err;     ///< stderr
};

/// The program under test, running in a folder of its own.
///
/// It is a separate process, but a fork of the test's, which has loaded LibTorch without using it: loading takes ten
/// times as long as a short command. Behaviour that depends on how an executable starts is tested with a real one
/// (ByExecutable).
class Program {
 public:
  /// Starts `protocom arguments...` in `folder`, with a file as its standard input unless `input` is empty.
  Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
          const std::filesystem::path& input = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Kills it at once, like a power failure.
  void kill();
  /// Sends it a signal.
  void signal(int number) const;
  /// Returns whether it is still running.
  [[nodiscard]] bool runs() const;
  /// Returns what it has printed so far.
  [[nodiscard]] std::string out_so_far() const;
  /// Waits for it to end.
  Outcome wait();

 private:
  std::filesystem::path out_, err_;
  pid_t process_ = -1;
};

/// During its lifetime, programs are started from the executable that an environment variable names (ctest sets
/// PROTOCOM_PROGRAM and PROTOCOM_SERVE_PROGRAM), as a user's shell does.
class ByExecutable {
 public:
  explicit ByExecutable(const char* variable = "PROTOCOM_PROGRAM");
  ~ByExecutable();
  ByExecutable(const ByExecutable&) = delete;
  ByExecutable& operator=(const ByExecutable&) = delete;

 private:
  std::string before_;
};

/// Runs the program to its end.
Outcome protocom(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                 const std::filesystem::path& input = {});

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// Returns the relative paths of all files below a folder, sorted.
std::vector<std::string> files_below(const std::filesystem::path& folder);

}  // namespace protocom::testing
