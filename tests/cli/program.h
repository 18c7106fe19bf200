#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace protocom::testing {

/// What a finished program said.
struct Outcome {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;     ///< stdout
  std::string err;     ///< stderr
};

/// The program under test, running in a folder of its own.
///
/// It is a process of its own, but a fork of the test's, which has loaded LibTorch and done nothing with it: loading
/// takes ten times as long as a short command. What depends on how an executable begins (ByExecutable) is tested by
/// one.
class Program {
 public:
  /// Starts `protocom arguments...` in `folder`, with a file as its standard input unless `input` is empty.
  Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
          const std::filesystem::path& input = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Ends it at once, as a power cut would.
  void kill();
  /// Sends it a signal.
  void signal(int number) const;
  /// Whether it still runs.
  [[nodiscard]] bool runs() const;
  /// What it has printed until now.
  [[nodiscard]] std::string out_so_far() const;
  /// Waits for its end.
  Outcome wait();

 private:
  std::filesystem::path out_, err_;
  pid_t process_ = -1;
};

/// For as long as it lives, programs are started from the executable that a variable of the environment names (ctest
/// sets PROTOCOM_PROGRAM and PROTOCOM_SERVE_PROGRAM), as a user's shell does it.
class ByExecutable {
 public:
  explicit ByExecutable(const char* variable = "PROTOCOM_PROGRAM");
  ~ByExecutable();
  ByExecutable(const ByExecutable&) = delete;
  ByExecutable& operator=(const ByExecutable&) = delete;

 private:
  std::string before_;
};

/// Runs it to its end.
Outcome protocom(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                 const std::filesystem::path& input = {});

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// The relative paths of all files below a folder, sorted.
std::vector<std::string> files_below(const std::filesystem::path& folder);

}  // namespace protocom::testing
