#include "encoders/onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/own_file.h"
#include "base/text.h"
#include "encoders/onnxruntime/schema_errors.h"

namespace protocom::onnxruntime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "libonnxruntime.so";
constexpr const char* kPlaceVariable = "PROTOCOM_ONNXRUNTIME";
/// The requested version of the function table: available in ONNX Runtime 1.16 and later.
constexpr uint32_t kApiVersion = 16;

constexpr int kOnlyFatal = 4;       // OrtLoggingLevel
constexpr int kArenaAllocator = 1;  // OrtAllocatorType
constexpr int kDefaultMemory = 0;   // OrtMemType

struct ApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};

std::mutex preferred_mutex;
fs::path preferred_place;

fs::path preferred() {
  const std::lock_guard lock(preferred_mutex);
  return preferred_place;
}

struct Place {
  fs::path path;
  bool is_derived = false;  ///< derived from protocom's location, as opposed to the user's or the system's
};

/// Returns where to search the library, in order.
std::vector<Place> places() {
  std::vector<Place> found;
  // A program with more privileges than its user ignores the variable: the user could otherwise choose the code that it
  // runs.
  if (const char* place = ::secure_getenv(kPlaceVariable); place != nullptr && *place != '\0') return {{place}};
  if (const fs::path place = preferred(); !place.empty()) found.push_back({place});
  const fs::path folder = own_file().parent_path();
  if (!folder.empty()) {
    found.push_back({folder.parent_path() / "onnxruntime" / "capi", true});  // beside our package, where pip puts it
    found.push_back({folder, true});
  }
  for (const char* place : {"/usr/local/lib", "/usr/lib/" PROTOCOM_LIBRARY_ARCHITECTURE, "/usr/lib"})
    found.push_back({place});
  return found;
}

/// Returns the library at a place: the file itself, or in a folder the last by name that begins with kName; empty for
/// none.
fs::path file_at(const fs::path& place) {
  std::error_code ignored;
  if (fs::is_regular_file(place, ignored)) return place;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::string_view(name).substr(0, kName.size()) == kName) found.push_back(entry.path());
  }
  return found.empty() ? fs::path() : *std::max_element(found.begin(), found.end());
}

/// Loads the first library that can be loaded; otherwise returns null, with the reason.
void* load(std::string& reason) {
  std::vector<std::string> looked;
  for (const Place& place : places()) {
    const fs::path file = file_at(place.path);
    looked.push_back(place.path.string());
    if (file.empty()) continue;
    const fs::path trusted = place.is_derived ? trusted_library(file) : file;
    if (trusted.empty()) {
      reason = fmt::format("{} is not loaded: another user made it or its folder", file.string());
      return nullptr;
    }
    if (void* handle = ::dlopen(trusted.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
    reason = ::dlerror();
    return nullptr;
  }
  reason = fmt::format("{} is not found in {}", kName, fmt::join(looked, ", "));
  return nullptr;
}

/// Returns three quarters of the machine's memory: a file that needs more fails, instead of the whole process.
size_t most_memory() {
  const auto pages = static_cast<size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  return pages * static_cast<size_t>(::sysconf(_SC_PAGE_SIZE)) / 4 * 3;
}

/// Disables telemetry: newer builds of ONNX Runtime store an identifier of the machine and report usage, unless this is
/// set before their environment is created.
void forbid_reports() { ::setenv("ORT_DISABLE_TELEMETRY", "1", 1); }

std::mutex mutex;
std::string reason;  // why it is not available

}  // namespace

Library::Library(void* handle) {
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) fail("it is not ONNX Runtime: OrtGetApiBase is missing");
  version_ = get_base()->get_version();
  table_ = get_base()->get_api(kApiVersion);
  if (table_ == nullptr) fail("ONNX Runtime {} is too old: expected 1.16 or newer", version_);
  make_environment();
}

void Library::check_has(int minor, const std::string& what) const {
  const std::string part = version_.substr(std::min(version_.find('.') + 1, version_.size()));
  if (number_from<int>(part.substr(0, part.find('.'))).value_or(0) < minor)
    fail("ONNX Runtime {} is too old for {}: expected 1.{} or newer, or use --engine torch", version_, what, minor);
}

void Library::make_environment() {
  {
    const SchemaErrors dropped;
    call<CreateEnv>(kOnlyFatal, "protocom", &environment_);
  }
  call<DisableTelemetry>(static_cast<const Env*>(environment_));
  // Freed memory stays with the arena; it grows by the requested amount, not by doubling.
  const std::array<const char*, 2> keys = {"max_mem", "arena_extend_strategy"};
  const std::array<size_t, 2> values = {most_memory(), 1};
  ArenaConfig* config = nullptr;
  MemoryInfo* memory = nullptr;
  call<CreateArenaConfig>(keys.data(), values.data(), keys.size(), &config);
  call<CreateCpuMemoryInfo>(kArenaAllocator, kDefaultMemory, &memory);
  call<CreateAndRegisterAllocator>(environment_, static_cast<const MemoryInfo*>(memory),
                                   static_cast<const ArenaConfig*>(config));
  call<ReleaseMemoryInfo>(memory);
  call<ReleaseArenaConfig>(config);
}

void Library::check(Status* status) const {
  if (status == nullptr) return;
  const auto message = reinterpret_cast<GetErrorMessage::Type*>(table_[GetErrorMessage::kIndex]);
  const std::string words = message(status);
  call<ReleaseStatus>(status);
  fail("ONNX Runtime {}: {}", version_, excerpt(words));
}

const Library* Library::loaded() {
  static const Library* library = nullptr;
  const std::lock_guard lock(mutex);
  if (library != nullptr) return library;
  forbid_reports();
  void* handle = load(reason);
  if (handle == nullptr) return nullptr;
  try {
    library = new Library(handle);  // never deleted: its threads may outlive static objects
  } catch (const Error& error) {
    reason = error.what();
  }
  return library;
}

const Library& Library::get() {
  const Library* library = loaded();
  if (library == nullptr) {
    const std::lock_guard lock(mutex);
    fail(
        "ONNX Runtime is not found ({}): pip install onnxruntime beside protocom, apt install libonnxruntime-dev on "
        "Debian 13, or name its library by {}",
        reason, kPlaceVariable);
  }
  return *library;
}

bool Library::is_there() { return loaded() != nullptr; }

void Library::prefer(const fs::path& place) {
  const std::lock_guard lock(preferred_mutex);
  preferred_place = place;
}

}  // namespace protocom::onnxruntime
