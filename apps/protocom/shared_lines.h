#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/image_files.h"
#include "io/files.h"
#include "io/output_lock.h"
#include "jobs/process_group.h"

namespace protocom::cli {

/// Whether a job keeps the lines of an earlier, interrupted run; otherwise they are deleted.
enum class ResumeLines { kNo, kYes };

/// A list of files shared among the processes of a job: each writes a line of JSON per file of its share.
struct LinesJob {
  std::filesystem::path folder;  ///< for the processes' lines until all are complete; every process must have access
  /// What a line depends on besides its file: the command's options, the recognizer. Lines of another job are refused.
  nlohmann::json what;
  /// Number of files processed together: shares and resumed work are whole batches, so that a batch consists of the
  /// same files for any number of processes, and its numbers are the same to the last bit.
  int64_t batch = 64;
  ResumeLines resume = ResumeLines::kNo;
};

/// The lines of such a job: a file `RUN-RANK.jsonl` per process. Lines survive when a process is killed, and the next
/// run of the same job, with any number of processes, does the rest.
class SharedLines {
 public:
  /// `files` are those of process 0, whose list the others use. Throws Error if the folder has lines of another job
  /// that are to be resumed, or another job is running there.
  SharedLines(const ProcessGroup& group, LinesJob job, std::vector<std::filesystem::path> files);
  ~SharedLines();
  SharedLines(const SharedLines&) = delete;
  SharedLines& operator=(const SharedLines&) = delete;

  /// The files of this process, in order.
  [[nodiscard]] const std::vector<std::filesystem::path>& own_files() const { return own_files_; }
  /// Adds the line, JSON, of own_files()[number]. Call it from one thread at a time.
  void add(size_t number, std::string_view line);
  /// Adds own files that could not be read.
  void add(const std::vector<UnreadableFile>& unreadable);
  /// Call after the last line. Waits for all processes; then process 0 has all lines, the others have none.
  void join();

  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  /// Returns the line of a file's number; nothing if the file could not be read. Throws Error if neither is known.
  [[nodiscard]] std::optional<std::string_view> line(size_t number) const;
  /// Returns the unreadable files, in order.
  [[nodiscard]] std::vector<UnreadableFile> unreadable() const;
  /// Returns the path in the folder for notes of process 0.
  [[nodiscard]] std::filesystem::path note() const;
  /// Deletes the lines when they are no longer needed, and the folder unless it contains something else.
  void remove();

 private:
  /// The position of a line in the files that were read.
  struct Place {
    std::string_view text = {};
    bool readable = false;
  };

  /// The remaining work of a job.
  struct Work {
    int64_t run = 0;               // the number of this run
    std::vector<int64_t> batches;  // those with missing lines
  };

  void share_files();
  void read_parts();
  void read_part(std::string_view bytes);
  void delete_parts();
  [[nodiscard]] std::vector<std::filesystem::path> parts() const;
  [[nodiscard]] int64_t next_run() const;
  [[nodiscard]] Work find_work();
  [[nodiscard]] Work main_work();
  void write(size_t number, std::string_view key, std::string_view value);

  const ProcessGroup& group_;
  LinesJob job_;
  std::vector<std::filesystem::path> files_;
  std::string header_;
  std::optional<OutputLock> lock_;
  std::vector<std::filesystem::path> own_files_;
  std::vector<size_t> own_numbers_;  // indices into files_
  std::filesystem::path part_;
  std::ofstream out_;
  std::vector<std::unique_ptr<MappedFile>> mapped_;
  std::vector<Place> places_;  // by file number
};

/// Encodes bytes as text in JSON: two hexadecimal digits each.
std::string hex_of(std::string_view bytes);
/// Decodes such a text. Throws Error if it is invalid.
std::string from_hex(std::string_view text);

}  // namespace protocom::cli
