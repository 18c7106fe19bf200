#pragma once
#include <ATen/core/Tensor.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http/http_error.h"
#include "http/metrics.h"
#include "protocom/http/server_options.h"

namespace protocom::http {

/// What is wanted of images: their features alone, or also answers.
enum class Want { kFeatures, kAnswers };

/// What became of a Job.
struct Recognised {
  at::Tensor features;  ///< float32 [n, d]
  std::vector<Answer> answers;
  std::string method, mode;        ///< of the answers
  std::optional<HttpError> error;  ///< then there is nothing else
};

/// Images of one request, or features that it brought.
struct Job {
  std::vector<Image> images;  ///< as Recognizer::features_of takes them
  at::Tensor features;        ///< float32 [n, d], instead of images
  Want want = Want::kAnswers;
  std::function<void(Recognised)> done;  ///< called once, in the engine's thread, and has to be quick
  std::chrono::steady_clock::time_point until = {};

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(images.size()); }
};

/// One thread that takes the images of several requests through the backbone together: whatever waits when it is free,
/// up to a batch, so that a lone image waits for nobody. Thread-safe.
class BatchEngine {
 public:
  /// Opens the recognizer and loads its backbone in the thread. Throws what that throws.
  BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics);
  /// Does what waits, and ends.
  ~BatchEngine();
  BatchEngine(const BatchEngine&) = delete;
  BatchEngine& operator=(const BatchEngine&) = delete;

  /// Throws HttpError 503 when as many images wait as may; then `done` is not called.
  void submit(Job job);

 private:
  void run(const std::filesystem::path& recognizer, std::promise<void> loaded);
  std::vector<Job> next();
  void work_on(Recognizer& recognizer, std::vector<Job> jobs);

  ServerLimits limits_;
  RecognizerOptions recognizing_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  int64_t waiting_images_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace protocom::http
