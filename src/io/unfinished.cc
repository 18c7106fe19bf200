#include "io/unfinished.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "io/files.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";
constexpr size_t kRandomDigits = 16;
constexpr size_t kLibraryLetters = 6;              // libzip first writes "name.XXXXXX"
constexpr std::string_view kJournal = "-journal";  // SQLite's
constexpr size_t kLongestStem = 150;  // with all suffixes a name has less than 248 of the 255 bytes allowed

struct Registry {
  std::mutex mutex;
  std::multiset<fs::path> paths;
};

// Never destroyed: a thread may finish a file after the program's statics are gone.
Registry& registry() {
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Whether a text is "" or a suffix that libzip or SQLite adds to a name.
bool is_library_suffix(std::string_view text) {
  if (text.empty() || text == kJournal) return true;
  return text.size() == kLibraryLetters + 1 && text[0] == '.' &&
         std::all_of(text.begin() + 1, text.end(), is_letter_or_digit);
}

/// Identifies this machine and its process namespace: a container numbers its own processes, often under its host's
/// name.
const std::string& host_id() {
  static const std::string kId = [] {
    std::array<char, 65> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
    std::string text = std::string(name.data()).substr(0, 32);
    for (char& c : text) c = is_letter_or_digit(c) ? c : '_';
    struct stat status {};
    const bool known = ::stat("/proc/self/ns/pid", &status) == 0;
    return fmt::format("{}.{}", text.empty() ? "host" : text, known ? status.st_ino : 0);
  }();
  return kId;
}

/// Returns "name.tmp-host.1234-", with a hash for the end of a long name.
std::string prefix_of(const fs::path& path) {
  std::string stem = path.filename().string();
  if (stem.size() > kLongestStem) stem = stem.substr(0, kLongestStem - 33) + "~" + hash_bytes(stem);
  return fmt::format("{}{}{}-", stem, kMark, host_id());
}

std::string random_digits() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
    std::random_device device;
    bits = uint64_t{device()} << 32 | device();
  }
  return fmt::format("{:016x}", bits);
}

/// Returns the process in "<prefix>123-0123456789abcdef", if the name is exactly that or a library's beside it.
std::optional<pid_t> process_in(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  name.remove_prefix(prefix.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || process <= 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (name.size() < 1 + kRandomDigits || name[0] != '-') return std::nullopt;
  const std::string_view digits = name.substr(1, kRandomDigits);
  const bool ours =
      std::all_of(digits.begin(), digits.end(), is_hex_digit) && is_library_suffix(name.substr(1 + kRandomDigits));
  return ours ? std::optional(process) : std::nullopt;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

/// Returns the result of `wanted` for the names in a folder; ignores errors.
template <typename Wanted>
std::vector<fs::path> entries(const fs::path& folder, const Wanted& wanted) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (wanted(entry->path().filename().string())) found.push_back(entry->path());
  }
  return found;
}

/// Removes a temporary file and the libraries' files beside it. Beside any other path there are files of the user,
/// whose names may end alike ("birds.pcm.backup").
void remove_with_relatives(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code ignored;
  if (name.find(kMark) == std::string::npos) {
    fs::remove_all(path, ignored);
    return;
  }
  const auto is_relative = [&](const std::string& other) {
    return other.compare(0, name.size(), name) == 0 && is_library_suffix(std::string_view(other).substr(name.size()));
  };
  for (const fs::path& file : entries(folder_of(path), is_relative)) fs::remove_all(file, ignored);
}

}  // namespace

UnfinishedPath::UnfinishedPath(fs::path path) : path_(std::move(path)) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.paths.insert(path_);
}

UnfinishedPath::~UnfinishedPath() {
  if (released_) return;
  remove_with_relatives(path_);
  release();
}

void UnfinishedPath::release() {
  released_ = true;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.paths.find(path_);
  if (found != all.paths.end()) all.paths.erase(found);
}

fs::path temporary_beside(const fs::path& path) {
  return folder_of(path) / fmt::format("{}{}-{}", prefix_of(path), ::getpid(), random_digits());
}

bool is_unfinished(const fs::path& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.paths.count(path) > 0;
}

fs::path meant_by(const fs::path& path) {
  if (!is_unfinished(path)) return path;
  const std::string name = path.filename().string();
  return path.parent_path() / name.substr(0, name.rfind(kMark));
}

void remove_unfinished() {
  Registry& all = registry();
  all.mutex.lock();                    // never unlocked: no other file may be begun now
  for (const int round : {1, 2, 3}) {  // a working thread may still create one
    for (const fs::path& path : all.paths) remove_with_relatives(path);
    if (round < 3) ::usleep(2000);
  }
}

void remove_leftovers(const fs::path& path) {
  const std::string prefix = prefix_of(path);
  const auto is_left = [&](const std::string& name) {
    const auto process = process_in(name, prefix);
    return process && is_gone(*process);
  };
  for (const fs::path& found : entries(folder_of(path), is_left)) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(found, ignored);
    if (fs::is_regular_file(status)) {
      fs::remove(found, ignored);
    } else if (fs::is_directory(status)) {
      logger().warn("{} was left by a killed process; delete it unless you need its contents", found.string());
    }
  }
}

}  // namespace protocom
