#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http/detail/cancellation.h"
#include "http/detail/file_state.h"
#include "http/detail/http_error.h"
#include "http/detail/metrics.h"
#include "protocom/server_options.h"
#include "recognizer/recognizer.h"

namespace protocom::http {

/// Limits of `top` and `nearest` of a request, unless the server's own settings are larger.
constexpr int64_t kMostTop = 20, kMostNearest = 20;

/// What is wanted of images: their features alone, or also answers.
enum class Want { kFeatures, kAnswers };

/// What became of a Job.
struct Recognised {
  Array features;                  ///< float32 [n, d]
  std::vector<Answer> answers;     ///< of as many classes and enrolled images as any request may ask for
  std::string method, mode;        ///< of the answers
  std::optional<HttpError> error;  ///< then there is nothing else
};

/// Images of one request, or features that it brought.
struct Job {
  std::vector<Image> images;  ///< as Recognizer::features_of takes them
  Array features;             ///< float32 [n, d], instead of images
  Want want = Want::kAnswers;
  Recognizer::Asked asked = {};                     ///< of the answers
  std::function<void(Recognised)> done;             ///< called once, in a thread of the engine; must be quick
  std::shared_ptr<Cancellation> cancellation = {};  ///< nullptr: nothing cancels it
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point until = {};

  /// How many images it has for the backbone.
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(images.size()); }
  /// How many features it was given, which need no backbone.
  [[nodiscard]] int64_t rows() const { return features.defined() ? features.size(0) : 0; }
};

/// Lanes, threads that take the images of several requests through the backbone. On a processor several small passes
/// at once do more than one pass on all cores, and a request need not wait for the one before it; a lane
/// that is free takes its share of what waits, up to a batch, so that a lone image does not wait. Where
/// a pass gains by more cores it has those that other lanes leave. Thread-safe.
class BatchEngine {
 public:
  /// Opens the recognizer and loads a backbone for each of `options.lanes`. `file` is what all requests know of it.
  /// Throws what opening throws.
  BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics, FileState& file);
  /// Does what waits, and ends.
  ~BatchEngine();
  BatchEngine(const BatchEngine&) = delete;
  BatchEngine& operator=(const BatchEngine&) = delete;

  /// Throws HttpError 503 when as many images wait as may; then `done` is not called.
  void submit(Job job);

 private:
  void start_lanes(const std::filesystem::path& recognizer);
  void run_lane(const std::filesystem::path& recognizer, std::promise<void> loaded);
  void end_lanes();
  std::vector<Job> next();
  int threads_for(const std::vector<Job>& jobs);
  void work_on(Recognizer& embedding, std::vector<Job> jobs);
  void answer_asking(const std::vector<const Job*>& asking);

  ServerLimits limits_;
  RecognizerOptions recognizing_;
  Metrics& metrics_;
  int lane_count_ = 1;
  int threads_ = 1;     ///< of all lanes together
  int busy_lanes_ = 0;  ///< lanes that do not wait
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  int64_t waiting_images_ = 0;
  bool stopping_ = false;
  FileState& file_;
  std::mutex answering_mutex_;
  Recognizer answering_;  ///< what all lanes answer with, so that classes are in memory once
  std::vector<std::thread> lanes_;
};

}  // namespace protocom::http
