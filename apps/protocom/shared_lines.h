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

/// A list of files, shared among the processes of a job: each writes a line of JSON per file of its share.
struct LinesJob {
  std::filesystem::path folder;  ///< of the processes' lines until all are there; every process must reach it
  /// What a line depends on besides its file: the command's options, the recognizer. Lines of another job are refused.
  nlohmann::json what;
  /// Files that are worked on together: shares and what is taken up again are whole batches, so that a batch is made of
  /// the same files in any number of processes, and its numbers are the same to the last bit.
  int64_t batch = 64;
  ResumeLines resume = ResumeLines::kNo;
};

/// The lines of such a job: a file `RUN-RANK.jsonl` a process. What is written stays when a process is killed, and the
/// next run of the same job, in any number of processes, does the rest.
class SharedLines {
 public:
  /// `files` are those of process 0, the others take its list. Throws Error if the folder holds lines of another job
  /// and they are to be taken up, or another job is at work there.
  SharedLines(const ProcessGroup& group, LinesJob job, std::vector<std::filesystem::path> files);
  ~SharedLines();
  SharedLines(const SharedLines&) = delete;
  SharedLines& operator=(const SharedLines&) = delete;

  /// Those that fall to this process, in order.
  [[nodiscard]] const std::vector<std::filesystem::path>& own_files() const { return own_files_; }
  /// The line, JSON, of own_files()[number]. From one thread at a time.
  void add(size_t number, std::string_view line);
  /// Own files that could not be read.
  void add(const std::vector<UnreadableFile>& unreadable);
  /// After the last of them. Waits for all processes; then process 0 has what all have written, others have nothing.
  void join();

  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  /// Of the file of a number; nothing if it could not be read. Throws Error if neither is known.
  [[nodiscard]] std::optional<std::string_view> line(size_t number) const;
  /// Those that could not be read, in order.
  [[nodiscard]] std::vector<UnreadableFile> unreadable() const;
  /// The file of the folder for what process 0 notes besides.
  [[nodiscard]] std::filesystem::path note() const;
  /// Deletes the lines when they are no longer needed, and the folder unless it holds something else.
  void remove();

 private:
  /// Where a line lies in the files that were read.
  struct Place {
    std::string_view text = {};
    bool readable = false;
  };

  /// What is left to do of a job.
  struct Work {
    int64_t run = 0;               // the number of this run
    std::vector<int64_t> batches;  // of which not every line is there
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
  std::vector<size_t> own_numbers_;  // in files_
  std::filesystem::path part_;
  std::ofstream out_;
  std::vector<std::unique_ptr<MappedFile>> mapped_;
  std::vector<Place> places_;  // by the number of the file
};

/// Bytes as text in JSON: two hexadecimal digits each.
std::string hex_of(std::string_view bytes);
/// The bytes again. Throws Error for what is not such a text.
std::string from_hex(std::string_view text);

}  // namespace protocom::cli
