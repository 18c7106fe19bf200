#include "trainers/detail/training_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"
#include "io/unfinished.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A truncated line belongs to no epoch.
bool is_behind(std::string_view line, int64_t epochs_done) {
  try {
    const json entry = parse_json(line, "log");
    return entry.is_object() && entry.contains("epoch") && entry["epoch"].is_number_integer() &&
           entry["epoch"].get<int64_t>() <= epochs_done;
  } catch (const Error&) {
    return false;
  }
}

void cut_lines(const fs::path& path, int64_t epochs_done) {
  remove_leftovers(path);  // of a training that was killed while cutting
  if (!fs::exists(path)) return;
  std::string kept;
  for_each_line(path, [&](int64_t, std::string_view line) {
    if (is_behind(line, epochs_done)) kept.append(line).push_back('\n');
    return true;
  });
  write_file(path, kept);
}

void append_line_to(const fs::path& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) fail("cannot create {}: {}", path.string(), std::strerror(errno));
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string reason = std::strerror(errno);
  ::close(file);
  if (!written) fail("cannot write {}: {}", path.string(), reason);
}

}  // namespace

TrainingLog::TrainingLog(const TrainingFiles& files, int64_t epochs_done) : files_(files) {
  if (!files_.out.empty()) cut_lines(files_.log(), epochs_done);
}

void TrainingLog::add(int64_t epoch, const json& figures) const {
  if (files_.out.empty()) return;
  json line = {{"epoch", epoch}};
  line.update(figures);
  append_line_to(files_.log(), json_text(line) + "\n");
}

}  // namespace protocom
