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

/// Limits of a request's `top` and `nearest`, unless the server's own settings are larger.
constexpr int64_t kMostTop = 20, kMostNearest = 20;

/// What to compute for images: only features, or answers too.
enum class Want { kFeatures, kAnswers };

/// The result of a Job.
struct Recognised {
  Array features;                  ///< float32 [n, d]
  std::vector<Answer> answers;     ///< with as many classes and enrolled images as any request may want
  std::string method, mode;        ///< for the answers
  std::optional<HttpError> error;  ///< if set, there is nothing else
};

/// Images of one request, or features that it sent.
struct Job {
  std::vector<Image> images;  ///< as Recognizer::features_of takes them
  Array features;             ///< float32 [n, d], instead of images
  Want want = Want::kAnswers;
  Recognizer::Asked asked = {};                     ///< for the answers
  std::function<void(Recognised)> done;             ///< called once, in a thread of the engine; must be quick
  std::shared_ptr<Cancellation> cancellation = {};  ///< nullptr: it cannot be cancelled
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point until = {};

  /// Number of images for the backbone.
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(images.size()); }
  /// Number of features given, which need no backbone.
  [[nodiscard]] int64_t rows() const { return features.defined() ? features.size(0) : 0; }
};

/// Runs lanes: threads that take the images of several requests through the backbone. On a processor several small
/// concurrent passes have more throughput than one pass on all cores, and a request need not wait for the previous one;
/// a free lane takes its share of the waiting images, up to a batch, so that a single image does not wait. If a pass
/// gains from more cores it gets those unused by other lanes. Thread-safe.
class BatchEngine {
 public:
  /// Opens the recognizer and loads a backbone for each of `options.lanes`. `file`: the state of the file shared by all
  /// requests. Throws what opening throws.
  BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics, FileState& file);
  /// Finishes the waiting jobs.
  ~BatchEngine();
  BatchEngine(const BatchEngine&) = delete;
  BatchEngine& operator=(const BatchEngine&) = delete;

  /// Queues a job. Throws HttpError 503 if too many images are waiting; then `done` is not called.
  void submit(Job job);

 private:
  void start_lanes(const std::filesystem::path& recognizer);
  void run_lane(const std::filesystem::path& recognizer, std::promise<void> loaded);
  void end_lanes();
  std::vector<Job> next();
  int threads_for(const std::vector<Job>& jobs);
  /// Prepares the encoder for a lane's share of the cores and for all of them.
  void warm_up(Recognizer& embedding);
  void work_on(Recognizer& embedding, std::vector<Job> jobs);
  void answer_asking(const std::vector<const Job*>& asking);

  ServerLimits limits_;
  RecognizerOptions recognizing_;
  Metrics& metrics_;
  int lane_count_ = 1;
  int threads_ = 1;     ///< total over all lanes
  int busy_lanes_ = 0;  ///< lanes that are not waiting
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  int64_t waiting_images_ = 0;
  bool stopping_ = false;
  FileState& file_;
  std::mutex answering_mutex_;
  Recognizer answering_;  ///< shared by all lanes for answers, so that classes are in memory once
  std::vector<std::thread> lanes_;
};

}  // namespace protocom::http
