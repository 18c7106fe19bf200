#include "base/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/own_file.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "libprotocom-torch.so";
constexpr std::string_view kTensorLibrary = "libtorch_cpu.so";

#ifdef PROTOCOM_TORCH_CPU
constexpr std::string_view kOwnTensorLibrary = PROTOCOM_TORCH_CPU;
#else
constexpr std::string_view kOwnTensorLibrary;
#endif

std::atomic<bool> provided{false};

std::vector<std::string> candidates() {
  const fs::path folder = own_file().parent_path();
  if (folder.empty()) return {};  // relative ones would be in the current folder
  return {folder / "protocom" / kPlugin, folder / kPlugin};
}

/// Returns the file of a LibTorch other than the plug-in's that is already in the process; empty for none.
std::string other_torch() {
  std::string found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const size_t slash = name.find_last_of('/');
        if (slash == std::string_view::npos || name.substr(slash + 1, kTensorLibrary.size()) != kTensorLibrary)
          return 0;
        std::error_code failed;
        const fs::path file = fs::canonical(name, failed);
        if (!failed && file == kOwnTensorLibrary) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &found);
  return found;
}

/// Loads the plug-in; returns the reason if that fails, else empty.
std::string load() {
  const std::string before = other_torch();
  std::error_code ignored;
  for (const std::string& path : candidates()) {
    if (!fs::exists(path, ignored)) continue;
    const fs::path file = trusted_library(path);
    if (file.empty()) return fmt::format("{} is not loaded: another user made it or its folder", path);
    // Two LibTorches in a process call one another's functions and crash.
    if (!before.empty())
      return fmt::format(
          "this process has loaded {} already, and a process can load only one LibTorch: use separate processes",
          before);
    if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
    return ::dlerror();
  }
  if (kOwnTensorLibrary.empty())
    return "this protocom was built without it, as is pip's wheel (ONNX files need only pip install onnxruntime); see "
           "docs/python.md for a build with it";
  return fmt::format("{} is not installed (looked for {})", kPlugin, fmt::join(candidates(), ", "));
}

/// Returns why the plug-in is not loaded; empty if it is. Tried once: a missing library does not appear while a process
/// runs.
const std::string& why_not() {
  static const std::string kReason = load();
  return kReason;
}

}  // namespace

void load_torch_plugin(const std::string& purpose) {
  if (!has_torch_plugin()) fail("{} needs LibTorch: {}", purpose, why_not());
}

bool torch_plugin_is_loaded() { return provided; }

bool has_torch_plugin() { return provided || why_not().empty(); }

void torch_plugin_provides() { provided = true; }

void refuse_unprovided(const std::string& purpose) {
  fail("{} is missing in {}, which belongs to another version of protocom", purpose, kPlugin);
}

}  // namespace protocom
