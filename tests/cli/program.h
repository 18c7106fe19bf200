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
class Program {
 public:
  /// Starts `protocom arguments...` in `folder` (the file named by PROTOCOM_PROGRAM), with a file as its standard input
  /// unless `input` is empty.
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

/// Runs it to its end.
Outcome protocom(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                 const std::filesystem::path& input = {});

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// The relative paths of all files below a folder, sorted.
std::vector<std::string> files_below(const std::filesystem::path& folder);

}  // namespace protocom::testing
