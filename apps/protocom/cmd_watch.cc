#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>

#include "answer_printer.h"
#include "cli.h"
#include "images/skipped_files.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct WatchArguments {
  std::string recognizer, folder, format;
  RecognizerOptions recognizing;
  int64_t most = 0;
  bool existing = false;
};

/// Images of a folder with their modification times.
using Images = std::map<fs::path, fs::file_time_type>;

Images images_in(const fs::path& folder) {
  Images images;
  std::error_code error, ignored;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(ignored) && is_image_name(it->path())) images[it->path()] = it->last_write_time(ignored);
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  return images;
}

/// The images that are written into a folder, or moved there, from now on.
class Arrivals {
 public:
  explicit Arrivals(const fs::path& folder) : folder_(folder), events_(::inotify_init1(IN_CLOEXEC)) {
    constexpr uint32_t kWhat = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    if (events_ < 0 || ::inotify_add_watch(events_, folder.c_str(), kWhat) < 0) {
      const std::string reason = std::strerror(errno);
      if (events_ >= 0) ::close(events_);
      fail("cannot watch {}: {}", folder.string(), reason);
    }
    known_ = images_in(folder_);
  }
  ~Arrivals() { ::close(events_); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// Returns the images that existed when watching began.
  [[nodiscard]] std::vector<fs::path> existing() const {
    std::vector<fs::path> images;
    for (const auto& item : known_) images.push_back(item.first);
    return images;
  }

  /// Waits for images. Throws Error if the folder is gone.
  [[nodiscard]] std::vector<fs::path> next() {
    if (gone_) fail("cannot watch {}: it no longer exists", folder_.string());
    alignas(inotify_event) char buffer[1 << 16];
    const ssize_t size = ::read(events_, buffer, sizeof(buffer));
    if (size < 0 && errno != EINTR) fail("cannot watch {}: {}", folder_.string(), std::strerror(errno));
    std::vector<fs::path> images;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      take(*event, images);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return images;
  }

 private:
  void take(const inotify_event& event, std::vector<fs::path>& images) {
    if ((event.mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0) gone_ = true;
    if ((event.mask & IN_Q_OVERFLOW) != 0) return look_again(images);
    if (event.len == 0 || !is_image_name(folder_ / event.name)) return;
    images.push_back(folder_ / event.name);
    std::error_code ignored;
    known_[images.back()] = fs::last_write_time(images.back(), ignored);
  }

  /// Rescans after the system dropped events: files that are new, or were modified after their last event.
  void look_again(std::vector<fs::path>& images) {
    logger().warn("too many files arrived at once: searching {}", folder_.string());
    Images now = images_in(folder_);
    for (const auto& [image, time] : now) {
      const auto found = known_.find(image);
      if (found == known_.end() || found->second != time) images.push_back(image);
    }
    known_ = std::move(now);
  }

  fs::path folder_;
  int events_;
  Images known_;
  bool gone_ = false;
};

/// Answers images. Errors do not end the watch: the next images may be answered.
void answer(Recognizer& recognizer, const std::vector<fs::path>& images, const Recognizer::TakeAnswer& take) {
  if (images.empty()) return;
  try {
    for (const UnreadableFile& file : recognizer.classify(images, take)) logger().error("{}", file.reason);
  } catch (const Error& error) {
    logger().error("{}; {} new images may not be classified", error.what(), images.size());
  }
}

void run_watch(const WatchArguments& options) {
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  Arrivals arrivals(options.folder);
  const std::string format = !options.format.empty() ? options.format : ::isatty(STDOUT_FILENO) != 0 ? "table" : "json";
  AnswerPrinter printer(recognizer, {format}, AnswerPrinter::Layout::kAsTheyCome);
  std::vector<fs::path> images;
  const auto take = [&](size_t number, const Answer& answer) {
    printer.print(format == "table" ? images[number].filename() : images[number], answer);
  };
  logger().info("watching {}", options.folder);
  if (options.existing) images = arrivals.existing();
  size_t left = options.most == 0 ? SIZE_MAX : static_cast<size_t>(options.most);
  for (;; images = arrivals.next()) {
    if (images.size() > left) images.resize(left);
    answer(recognizer, images, take);
    left -= images.size();
    if (left == 0) return;
  }
}

void add_watch_command(CLI::App& app) {
  auto options = std::make_shared<WatchArguments>();
  options->recognizing.use = FileUse::kRead;
  CLI::App* command = add_command(app, "watch", "Classify the images that arrive in a folder, until it is stopped",
                                  "protocom watch birds.pcm camera/ | tee -a seen.jsonl");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  add_input_option(*command, "folder", options->folder, "Folder, without its subfolders")->required();
  command
      ->add_option("--format", options->format,
                   "table, json (an object per line) or csv; default: table on a terminal, else json")
      ->check(CLI::IsMember(AnswerPrinter::formats()));
  command->add_flag("--existing", options->existing, "Classify existing images first");
  command->add_option("--most", options->most, "Stop after this many images, including those of --existing; 0: never")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  add_device(*command, options->recognizing.device);
  command->callback([options] { run_watch(*options); });
}

const Command kWatch{Group::kOwnPhotos, 50, &add_watch_command};

}  // namespace
}  // namespace protocom::cli
