// The lines of text files, including gzip.
#include <zlib.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "io/detail/open_file.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

// gzip does not compress tables and word vectors more; a file that unpacks to more was made to exhaust its reader.
constexpr int64_t kMostRatio = 200;
constexpr int64_t kRatioFrom = int64_t{32} << 20;

/// Splits a stream of blocks into lines; a line may span blocks.
class LineSplitter {
 public:
  LineSplitter(const std::function<bool(int64_t, std::string_view)>& visit, const fs::path& path)
      : visit_(visit), path_(path) {}

  bool add(std::string_view block) {
    size_t end = 0;
    while ((end = block.find('\n')) != std::string_view::npos) {
      if (!emit(block.substr(0, end))) return false;
      block.remove_prefix(end + 1);
    }
    if (pending_.size() + block.size() > kLongestLine)
      fail("{}:{}: the line is longer than {} MiB", path_.string(), line_ + 1, kLongestLine >> 20);
    pending_.append(block);
    return true;
  }

  void finish() {
    if (!pending_.empty()) emit({});
  }

 private:
  bool emit(std::string_view tail) {
    if (!pending_.empty()) {
      pending_.append(tail);
      tail = pending_;
    }
    if (!tail.empty() && tail.back() == '\r') tail.remove_suffix(1);
    const bool go_on = visit_(++line_, tail);
    pending_.clear();
    return go_on;
  }

  const std::function<bool(int64_t, std::string_view)>& visit_;
  const fs::path& path_;
  std::string pending_;
  int64_t line_ = 0;
};

}  // namespace

void for_each_line(const fs::path& path, const std::function<bool(int64_t, std::string_view)>& visit) {
  if (is_folder(path)) fail("cannot read {}: it is a folder, expected a text file", path.string());
  check_readable(path, Streams::kOpenOnes);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail("cannot open {}: {}", path.string(), system_reason());
  gzbuffer(file.get(), 1 << 17);
  LineSplitter lines(visit, path);
  std::vector<char> block(1 << 17);
  int64_t unpacked = 0;
  for (;;) {
    const int count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail("cannot read {}: {}", path.string(), code == Z_ERRNO ? system_reason() : std::string(reason));
    }
    if (count == 0) break;
    unpacked += count;
    if (unpacked > kRatioFrom && unpacked / kMostRatio > gzoffset(file.get()))
      fail("cannot read {}: it unpacks to more than {} times its size", path.string(), kMostRatio);
    if (!lines.add({block.data(), static_cast<size_t>(count)})) return;
  }
  lines.finish();
}

}  // namespace protocom
