#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "apps/protocom/entry.h"

namespace protocom::testing {
namespace fs = std::filesystem;
namespace {

void redirect(const fs::path& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
}

void read_from(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0 || ::dup2(file, STDIN_FILENO) < 0) ::_exit(126);
}

std::string path_in(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr)
    throw std::runtime_error(std::string(variable) + " must name a program under test (ctest sets it)");
  return path;
}

/// Returns the path to execute; empty: none, the child continues as the program.
std::string& executable() {
#ifdef PROTOCOM_SANITIZED  // its report at the end would cover the test too
  static std::string path = path_in("PROTOCOM_PROGRAM");
#else
  static std::string path;
#endif
  return path;
}

/// Runs the child; never returns.
[[noreturn]] void become_program(std::vector<char*> words) {
  if (!executable().empty()) {
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  // Starts like a new executable: without open files of the test, above all its sockets.
  ::closefrom(STDERR_FILENO + 1);
  cli::run_program(static_cast<int>(words.size()) - 1, words.data());
}

}  // namespace

ByExecutable::ByExecutable(const char* variable) : before_(executable()) { executable() = path_in(variable); }

ByExecutable::~ByExecutable() { executable() = before_; }

Program::Program(const fs::path& folder, const std::vector<std::string>& arguments, const fs::path& input) {
  static std::atomic<int> counter{0};
  const std::string stem =
      fs::temp_directory_path() / ("protocom-cli-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
  out_ = stem + ".out";
  err_ = stem + ".err";
  std::string program = executable().empty() ? "protocom" : executable();
  std::vector<char*> words = {program.data()};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);  // or the child would print it too
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ > 0) return;
  // As in a user's terminal, even if the process that runs the tests ignores them (nohup, a script's background job).
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  redirect(out_, STDOUT_FILENO);
  redirect(err_, STDERR_FILENO);
  if (!input.empty()) read_from(input);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  become_program(std::move(words));
}

Program::~Program() {
  if (process_ > 0) {
    kill();
    wait();
  }
}

void Program::kill() { signal(SIGKILL); }

void Program::signal(int number) const { ::kill(process_, number); }

bool Program::runs() const {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

std::string Program::out_so_far() const { return read_text(out_); }

Outcome Program::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_text(out_);
  outcome.err = read_text(err_);
  fs::remove(out_);
  fs::remove(err_);
  return outcome;
}

Outcome protocom(const fs::path& folder, const std::vector<std::string>& arguments, const fs::path& input) {
  return Program(folder, arguments, input).wait();
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace protocom::testing
