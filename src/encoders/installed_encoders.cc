#include "encoders/installed_encoders.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/own_file.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 6> kSuffixes = {".onnx", ".tflite", ".pt", ".pth", ".safetensors", ".npz"};

/// Below a prefix (/usr, the user's own, the one where this library was installed).
constexpr const char* kBelowPrefix = "share/protocom/encoders";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the build tree that contains a file, by its CMakeCache.txt; empty for none.
fs::path build_tree_of(fs::path folder) {
  constexpr int kDeepest = 4;
  std::error_code ignored;
  for (int level = 0; level < kDeepest && folder.has_relative_path(); ++level, folder = folder.parent_path()) {
    if (fs::exists(folder / "CMakeCache.txt", ignored)) return folder;
  }
  return {};
}

/// Returns the folders installed with this library: in a Python package beside it, else below the prefix of lib/,
/// lib/x86_64-linux-gnu/ or libexec/protocom/.
std::vector<fs::path> folders_of_library() {
  const fs::path folder = own_file().parent_path();
  if (folder.empty()) return {};
  std::vector<fs::path> folders = {folder / "encoders"};
  const fs::path built = build_tree_of(folder);
  if (!built.empty()) folders.push_back(built / "encoders");
  folders.push_back(folder.parent_path() / kBelowPrefix);
  folders.push_back(folder.parent_path().parent_path() / kBelowPrefix);
  return folders;
}

/// Whether a file is the licence of an encoder beside it.
bool is_licence(const fs::path& path) { return path.extension() == ".LICENSE"; }

/// Whether a file is an unfinished copy (temporary_beside).
bool is_on_its_way(const std::string& name) { return name.find(".tmp-") != std::string::npos; }

/// Returns the name of the encoder in a folder's entry; empty if it is something else.
std::string encoder_name(const fs::path& path) {
  std::error_code ignored;
  const std::string file = path.filename().string();
  if (is_on_its_way(file)) return {};
  if (fs::is_directory(path, ignored)) return file;
  return has_encoder_suffix(path) ? path.stem().string() : "";
}

std::vector<fs::path> entries_of(const fs::path& folder, InstalledEncoders& found) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().front() != '.' && !is_licence(it->path())) entries.push_back(it->path());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    found.unreadable.push_back(fmt::format("{}: {}", folder.string(), error.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<std::string> names_of(const InstalledEncoders& installed) {
  std::vector<std::string> names;
  for (const InstalledEncoder& one : installed.encoders) names.push_back(one.name);
  return names;
}

std::optional<fs::path> path_of(const InstalledEncoders& installed, const std::string& name) {
  for (const InstalledEncoder& one : installed.encoders) {
    if (one.name == name) return one.path;
  }
  return std::nullopt;
}

/// Warns of folders that cannot be listed, which may be why an encoder is not found.
void warn_of_unreadable(const InstalledEncoders& installed) {
  for (const std::string& folder : installed.unreadable) logger().warn("{}", folder);
}

/// Whether a path exists; one that cannot be examined is reported when it is opened.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

/// Finds an encoder. `why` begins the message if it is not found.
fs::path found_encoder(const fs::path& name_or_path, std::string_view why) {
  if (is_there(name_or_path)) return name_or_path;
  const std::string name = name_or_path.string();
  const InstalledEncoders installed = installed_encoders();
  if (const auto found = path_of(installed, name)) return *found;
  const std::vector<std::string> names = names_of(installed);
  warn_of_unreadable(installed);
  fail(
      "{}{}: no such file or folder, and no encoder of that name is installed{} (there are {}: see `protocom "
      "encoders`)",
      why, name, did_you_mean(name, names), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

bool has_encoder_suffix(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

fs::path user_encoders() {
  const fs::path data = variable("XDG_DATA_HOME");
  if (data.is_absolute()) return data / "protocom/encoders";  // the XDG standard ignores a relative one
  const std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".local" / kBelowPrefix;
}

std::vector<fs::path> encoder_folders() {
  std::vector<fs::path> all = {variable("PROTOCOM_ENCODERS"), user_encoders()};
  for (const fs::path& folder : folders_of_library()) all.push_back(folder);
  all.push_back(fs::path("/usr/local") / kBelowPrefix);
  all.push_back(fs::path("/usr") / kBelowPrefix);
  std::vector<fs::path> folders;
  for (const fs::path& folder : all) {
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  }
  return folders;
}

InstalledEncoders installed_encoders() {
  InstalledEncoders found;
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : encoder_folders()) {
    for (const fs::path& path : entries_of(folder, found)) {
      const std::string name = encoder_name(path);
      const bool is_taken = !name.empty() && by_name.emplace(name, path).second;
      const bool is_twice = !is_taken && !name.empty() && by_name[name].parent_path() == folder;
      if (name.empty() || is_twice) found.others.push_back(path);
    }
  }
  for (const auto& [name, path] : by_name) found.encoders.push_back({name, path});
  return found;
}

fs::path find_encoder(const fs::path& name_or_path) {
  return name_or_path.empty() ? default_encoder() : found_encoder(name_or_path, "");
}

fs::path chosen_encoder(const fs::path& name_or_path) {
  const fs::path path = find_encoder(name_or_path);
  if (name_or_path.empty()) logger().info("encoder: {} (default; --backbone for another)", default_encoder_name());
  return path;
}

std::string default_encoder_name() {
  const std::string named = variable("PROTOCOM_ENCODER");
  return named.empty() ? kDefaultEncoder : named;
}

fs::path default_encoder() {
  const std::string name = default_encoder_name();
  if (name != kDefaultEncoder) return found_encoder(name, "no --backbone is given, and PROTOCOM_ENCODER is ");
  const InstalledEncoders installed = installed_encoders();
  if (const auto found = path_of(installed, name)) return *found;
  warn_of_unreadable(installed);
  fail(
      "missing --backbone, and the default, {0}, is not installed: get it by `make install-encoder` in the source "
      "tree, by the "
      "package protocom-encoder, or by `protocom encoders add {0} PATH`",
      name);
}

}  // namespace protocom
