#include "shared_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/json_text.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHash = "{\"hash\":\"";
constexpr std::string_view kNumber = "\",\"number\":";
constexpr std::string_view kLine = ",\"line\":";
constexpr std::string_view kUnreadable = ",\"unreadable\":";
constexpr std::string_view kPartEnd = ".jsonl";

/// Returns the run in "RUN-RANK.jsonl"; nothing for another name.
std::optional<int64_t> run_of(const fs::path& path) {
  const std::string name = path.filename().string();
  int64_t run = 0, rank = 0;
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, run);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, rank);
  constexpr int64_t kMostRuns = 1'000'000'000;
  const bool is_part = second.ec == std::errc() && std::string_view(second.ptr) == kPartEnd && run <= kMostRuns;
  return is_part ? std::optional(run) : std::nullopt;
}

constexpr const char* kNote = "places.jsonl";

/// Whether a job has created a file: only those are ever deleted.
bool is_own(const fs::path& path) { return run_of(path) || path.filename() == kNote; }

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Makes the folder of a job if it is missing. A link could lead to files of another user.
void make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(folder, error)))
    fail("{} is a symbolic link: remove it, protocom creates this folder itself", folder.string());
  fs::create_directories(folder, error);
  if (error) fail("cannot create the folder {}: {}", folder.string(), error.message());
}

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string text_of_paths(const std::vector<fs::path>& files) {
  std::string text;
  for (const fs::path& file : files) text += file.string() + '\0';
  return text;
}

std::vector<fs::path> paths_of_text(std::string_view text) {
  std::vector<fs::path> files;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    files.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return files;
}

/// Returns the content of a line of a part, after its hash; nothing if the hash differs. It includes the job's header,
/// so that no line of another job is accepted.
std::optional<std::string_view> line_content(std::string_view line, const std::string& header) {
  if (!starts_with(line, kHash)) return std::nullopt;
  const size_t end = line.find('"', kHash.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view content = line.substr(end);
  const bool fits = hash_bytes(header + std::string(content)) == line.substr(kHash.size(), end - kHash.size());
  return fits ? std::optional(content) : std::nullopt;
}

}  // namespace

SharedLines::SharedLines(const ProcessGroup& group, LinesJob job, std::vector<fs::path> files)
    : group_(group), job_(std::move(job)), files_(std::move(files)) {
  share_files();
  header_ = fmt::format("{{\"job\":\"{}\",\"files\":{}}}", hash_bytes(json_text(job_.what) + text_of_paths(files_)),
                        files_.size());
  const Work work = find_work();
  const auto [begin, end] = group_.share(static_cast<int64_t>(work.batches.size()));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = work.batches[static_cast<size_t>(i)] * job_.batch;
    for (int64_t n = first; n < std::min(first + job_.batch, static_cast<int64_t>(files_.size())); ++n) {
      own_numbers_.push_back(static_cast<size_t>(n));
      own_files_.push_back(files_[static_cast<size_t>(n)]);
    }
  }
  part_ = job_.folder / fmt::format("{}-{}{}", work.run, group_.rank(), kPartEnd);
  if (own_files_.empty()) return;
  out_.open(part_, std::ios::binary);
  out_ << header_ << '\n' << std::flush;
  if (!out_) fail("cannot write {}: {}", part_.string(), std::strerror(errno));
}

SharedLines::~SharedLines() = default;

/// Shares the list of process 0: only it reads the standard input, and folders may be listed in another order
/// elsewhere.
void SharedLines::share_files() {
  if (group_.is_single()) return;
  const std::string all = group_.broadcast(text_of_paths(files_));
  if (!group_.is_main()) files_ = paths_of_text(all);
}

/// Returns the work, sent by process 0.
SharedLines::Work SharedLines::find_work() {
  Work work = group_.is_main() ? main_work() : Work();
  if (group_.is_single()) return work;
  const nlohmann::json own = {work.run, work.batches};
  const nlohmann::json said = json_from_text(group_.broadcast(json_text(own)));
  return {said.at(0).get<int64_t>(), said.at(1).get<std::vector<int64_t>>()};
}

SharedLines::Work SharedLines::main_work() {
  make_folder(job_.folder);
  lock_.emplace(job_.folder);
  if (job_.resume == ResumeLines::kNo) delete_parts();
  Work work;
  work.run = next_run();
  read_parts();
  const auto count = static_cast<int64_t>(files_.size());
  for (int64_t first = 0; first < count; first += job_.batch) {
    const auto begin = places_.begin() + first, end = places_.begin() + std::min(first + job_.batch, count);
    if (!std::all_of(begin, end, [](const Place& place) { return place.readable; }))
      work.batches.push_back(first / job_.batch);
  }
  return work;
}

std::vector<fs::path> SharedLines::parts() const {
  std::vector<fs::path> found = entries_of(job_.folder);
  found.erase(std::remove_if(found.begin(), found.end(), [](const fs::path& path) { return !run_of(path); }),
              found.end());
  return found;
}

int64_t SharedLines::next_run() const {
  int64_t next = 1;
  for (const fs::path& part : parts()) next = std::max(next, *run_of(part) + 1);
  return next;
}

void SharedLines::delete_parts() {
  std::error_code ignored;
  const std::vector<fs::path> left = entries_of(job_.folder);
  for (const fs::path& path : left) {
    if (!is_own(path))
      fail("{} contains {}, which is not part of this job: move that file elsewhere", job_.folder.string(),
           path.filename().string());
  }
  for (const fs::path& path : left) fs::remove(path, ignored);
}

void SharedLines::read_parts() {
  places_.assign(files_.size(), {});
  mapped_.clear();
  for (const fs::path& part : parts()) {
    std::error_code ignored;
    if (fs::file_size(part, ignored) == 0) continue;  // killed before the first line
    mapped_.push_back(std::make_unique<MappedFile>(part));
    const std::string_view bytes = mapped_.back()->bytes();
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) continue;
    if (bytes.substr(0, end) != header_)
      fail("{} is of a job with other files, options or another recognizer: delete that folder to start again",
           job_.folder.string());
    read_part(bytes.substr(end + 1));
  }
}

/// Reads a part, ignoring incomplete or changed lines: their photos are computed again.
void SharedLines::read_part(std::string_view bytes) {
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    const std::optional<std::string_view> content = line_content(bytes.substr(0, end), header_);
    bytes.remove_prefix(end + 1);
    if (!content || !starts_with(*content, kNumber) || content->back() != '}') continue;
    std::string_view text = *content;
    text = text.substr(kNumber.size(), text.size() - kNumber.size() - 1);
    size_t number = 0;
    const auto found = std::from_chars(text.data(), text.data() + text.size(), number);
    if (found.ec != std::errc() || number >= places_.size()) continue;
    text.remove_prefix(static_cast<size_t>(found.ptr - text.data()));
    const bool readable = starts_with(text, kLine);
    if (!readable && !starts_with(text, kUnreadable)) continue;
    text.remove_prefix(readable ? kLine.size() : kUnreadable.size());
    if (places_[number].readable || !nlohmann::json::accept(text)) continue;
    places_[number] = {text, readable};
  }
}

void SharedLines::write(size_t number, std::string_view key, std::string_view value) {
  const std::string content = fmt::format("{}{}{}{}}}", kNumber, number, key, value);
  out_ << kHash << hash_bytes(header_ + content) << content << '\n' << std::flush;
  if (!out_) fail("cannot write {}: {}", part_.string(), std::strerror(errno));
}

void SharedLines::add(size_t number, std::string_view line) { write(own_numbers_.at(number), kLine, line); }

void SharedLines::add(const std::vector<UnreadableFile>& unreadable) {
  size_t at = 0;
  for (const UnreadableFile& file : unreadable) {
    while (own_files_.at(at) != file.path) ++at;
    write(own_numbers_[at++], kUnreadable, json_text(file.reason));
  }
}

void SharedLines::join() {
  out_.close();
  group_.barrier();
  if (group_.is_main()) read_parts();
}

std::optional<std::string_view> SharedLines::line(size_t number) const {
  const Place& place = places_.at(number);
  if (place.text.empty())
    fail("{} has no answer for {}: all processes must use this one folder", job_.folder.string(),
         files_[number].string());
  return place.readable ? std::optional(place.text) : std::nullopt;
}

std::vector<UnreadableFile> SharedLines::unreadable() const {
  std::vector<UnreadableFile> found;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!line(i)) found.push_back({files_[i], json_from_text(places_[i].text).get<std::string>()});
  }
  return found;
}

fs::path SharedLines::note() const {
  const fs::path path = job_.folder / kNote;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail("{} is not a regular file: protocom did not write it; remove it", path.string());
  return path;
}

void SharedLines::remove() {
  mapped_.clear();
  places_.clear();
  std::error_code ignored;
  for (const fs::path& path : entries_of(job_.folder)) {
    if (is_own(path)) fs::remove(path, ignored);
  }
  fs::remove(job_.folder, ignored);
  lock_.reset();
}

std::string hex_of(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (; text.size() > 1; text.remove_prefix(2)) {
    unsigned value = 0;
    const auto found = std::from_chars(text.data(), text.data() + 2, value, 16);
    if (found.ec != std::errc() || found.ptr != text.data() + 2) break;
    bytes += static_cast<char>(value);
  }
  if (!text.empty()) fail("'{}': expected two hexadecimal digits per byte", excerpt(text));
  return bytes;
}

}  // namespace protocom::cli
