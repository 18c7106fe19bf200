#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "answer_printer.h"
#include "cli.h"
#include "protocom/data/skipped_files.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct WatchArguments {
  std::string recognizer, folder, format = "json";
  RecognizerOptions recognizing;
  int64_t most = 0;
};

/// The images that are written into a folder, or moved there, from now on.
class Arrivals {
 public:
  explicit Arrivals(const fs::path& folder) : folder_(folder), events_(::inotify_init1(IN_CLOEXEC)) {
    if (events_ >= 0 && ::inotify_add_watch(events_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR) >= 0)
      return;
    const std::string reason = std::strerror(errno);
    if (events_ >= 0) ::close(events_);
    fail("cannot watch {}: {}", folder.string(), reason);
  }
  ~Arrivals() { ::close(events_); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// Waits for some.
  [[nodiscard]] std::vector<fs::path> next() const {
    alignas(inotify_event) char buffer[1 << 16];
    const ssize_t size = ::read(events_, buffer, sizeof(buffer));
    if (size < 0 && errno != EINTR) fail("cannot watch {}: {}", folder_.string(), std::strerror(errno));
    std::vector<fs::path> images;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if (event->len > 0 && is_image_name(event->name)) images.push_back(folder_ / event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return images;
  }

 private:
  fs::path folder_;
  int events_;
};

void run_watch(const WatchArguments& options) {
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const Arrivals arrivals(options.folder);
  AnswerPrinter printer(recognizer, options.format);
  const auto take = [&](const fs::path& image, const Answer& answer) { printer.print(image, answer); };
  logger().info("watching {}", options.folder);
  for (int64_t seen = 0; options.most == 0 || seen < options.most;) {
    const std::vector<fs::path> images = arrivals.next();
    for (const UnreadableFile& one : recognizer.classify(images, take)) logger().error("{}", one.reason);
    seen += static_cast<int64_t>(images.size());
  }
}

void add_watch_command(CLI::App& app) {
  auto options = std::make_shared<WatchArguments>();
  CLI::App* command = add_command(app, "watch", "Classify the images that arrive in a folder, until it is stopped",
                                  "protocom watch birds.pcm camera/ | tee -a seen.jsonl");
  command->add_option("recognizer", options->recognizer, "Recognizer")->required();
  command->add_option("folder", options->folder, "Folder; those in it are not watched")->required();
  command->add_option("--format", options->format, "json (an object a line) or csv")
      ->check(CLI::IsMember({"json", "csv"}));
  command->add_option("--most", options->most, "Ends after so many images; 0: never")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  command->add_option("--device", options->recognizing.extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([options] { run_watch(*options); });
}

const Command kWatch{Order::kWatch, &add_watch_command};

}  // namespace
}  // namespace protocom::cli
