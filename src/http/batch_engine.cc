#include "http/batch_engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <iterator>

#include "protocom/core/device.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/core/thread_scope.h"

namespace protocom::http {
namespace {

constexpr const char* kInternal = "something went wrong in the server; its log says what";

/// The features of all jobs in one forward pass, each given its rows.
void embed(Recognizer& recognizer, std::vector<Job>& jobs) {
  std::vector<Image> images;
  for (Job& one : jobs) images.insert(images.end(), one.images.begin(), one.images.end());
  if (images.empty()) return;
  const at::Tensor features = recognizer.features_of(images);
  int64_t row = 0;
  for (Job& one : jobs) {
    if (one.images.empty()) continue;
    one.features = features.slice(0, row, row + one.size());
    row += one.size();
  }
}

/// Classes are missing that somebody has to enrol, or something is wrong?
HttpError why_no_answer(const RecognizerFile& file, const std::exception& error) {
  bool ready = true;
  int64_t classes = 0;
  try {
    for (const ClassEntry& one : file.list_classes()) {
      ++classes;
      ready = ready && one.images > 0;
    }
  } catch (const std::exception&) {
    classes = -1;  // it is the file
  }
  if (classes == 0 || (classes > 0 && !ready)) return {409, error.what()};
  logger().error("{}", error.what());
  return {500, kInternal};
}

/// Features of several jobs -> answers, in their order.
Recognised answer(Recognizer& recognizer, const std::vector<at::Tensor>& features) {
  Recognised done;
  try {
    done.answers = recognizer.classify_features(at::cat(features));
    done.method = recognizer.method().label();
    done.mode = recognizer.method().spec().mode();
  } catch (const std::exception& error) {
    done.error = why_no_answer(recognizer.file(), error);
  }
  return done;
}

/// Whether a row's answer is the same whatever other rows are asked about with it.
bool answers_rows_alone(Recognizer& recognizer) {
  try {
    return recognizer.method().spec().sees != Sees::kAllQueries;
  } catch (const std::exception&) {
    return true;  // answering says what is wrong
  }
}

/// Jobs that want answers, answered by one call: it costs as much for all rows as for a few.
void answer_together(Recognizer& recognizer, const std::vector<const Job*>& jobs) {
  std::vector<at::Tensor> rows;
  for (const Job* one : jobs) rows.push_back(one->features);
  Recognised all = answer(recognizer, rows);
  auto next = all.answers.begin();
  for (const Job* one : jobs) {
    Recognised own{one->features, {}, all.method, all.mode, all.error};
    if (!all.error) {
      const auto end = next + one->features.size(0);
      own.answers.assign(std::make_move_iterator(next), std::make_move_iterator(end));
      next = end;
    }
    one->done(std::move(own));
  }
}

void answer_all(Recognizer& recognizer, const std::vector<Job>& jobs) {
  std::vector<const Job*> asking;
  for (const Job& one : jobs) {
    if (one.want == Want::kAnswers)
      asking.push_back(&one);
    else
      one.done({one.features, {}, {}, {}, std::nullopt});
  }
  if (asking.empty()) return;
  if (answers_rows_alone(recognizer)) return answer_together(recognizer, asking);
  for (const Job* one : asking) answer_together(recognizer, {one});  // strangers' images help nobody
}

void fail_all(const std::vector<Job>& jobs, const HttpError& error) {
  for (const Job& one : jobs) one.done({{}, {}, {}, {}, error});
}

/// As many passes beside one another as pay: on a processor a pass gains little from a second core, a GPU takes the
/// largest batch there is.
int lanes_of(const ServerOptions& options) {
  constexpr int kMostLanes = 4;
  if (options.lanes > 0) return options.lanes;
  if (parse_device(options.recognizing.extract.device).type() != c10::kCPU) return 1;
  return std::min(kMostLanes, at::get_num_threads());
}

}  // namespace

BatchEngine::BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics)
    : limits_(options.limits),
      recognizing_(options.recognizing),
      metrics_(metrics),
      lanes_(lanes_of(options)),
      threads_(at::get_num_threads()),
      busy_(lanes_),
      answering_(Recognizer::open(recognizer, options.recognizing)) {
  try {
    start_lanes(recognizer);
  } catch (...) {
    end_lanes();
    throw;
  }
}

BatchEngine::~BatchEngine() { end_lanes(); }

void BatchEngine::start_lanes(const std::filesystem::path& recognizer) {
  std::vector<std::future<void>> ready;
  for (int lane = 0; lane < lanes_; ++lane) {
    std::promise<void> loaded;
    ready.push_back(loaded.get_future());
    threads_of_lanes_.emplace_back(
        [this, recognizer, promise = std::move(loaded)]() mutable { run_lane(recognizer, std::move(promise)); });
  }
  for (std::future<void>& one : ready) one.get();
}

void BatchEngine::end_lanes() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& one : threads_of_lanes_) one.join();
}

void BatchEngine::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_images_ + job.size() > limits_.waiting_images && waiting_images_ > 0)
      refuse_for_now(503, 1, "too many images wait for the backbone: send it again in a second");
    waiting_images_ += job.size();
    metrics_.set_waiting(waiting_images_);
    job.until = std::chrono::steady_clock::now() + limits_.answer;
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
}

/// What a lane takes: its share of what waits, at most a batch, and at least one job; no job at the end.
std::vector<Job> BatchEngine::next() {
  std::unique_lock lock(mutex_);
  --busy_;
  changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
  ++busy_;
  const int64_t share = std::min(recognizing_.extract.batch, waiting_images_ / lanes_);
  std::vector<Job> jobs;
  int64_t images = 0;
  while (!waiting_.empty() && (jobs.empty() || images + waiting_.front().size() <= share)) {
    images += waiting_.front().size();
    jobs.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  waiting_images_ -= images;
  metrics_.set_waiting(waiting_images_);
  return jobs;
}

int BatchEngine::threads_of_a_lane() {
  const std::lock_guard lock(mutex_);
  return std::max(1, threads_ / busy_);
}

void BatchEngine::work_on(Recognizer& embedding, std::vector<Job> jobs) {
  std::vector<Job> late;
  const auto now = std::chrono::steady_clock::now();
  const auto in_time = std::stable_partition(jobs.begin(), jobs.end(), [&](const Job& one) { return one.until > now; });
  std::move(in_time, jobs.end(), std::back_inserter(late));
  jobs.erase(in_time, jobs.end());
  fail_all(late, {503, "the image waited too long for the backbone: send it again later", 5});
  try {
    embed(embedding, jobs);
  } catch (const std::exception& error) {
    logger().error("{}", error.what());
    return fail_all(jobs, {500, kInternal});
  }
  int64_t images = 0;
  for (const Job& one : jobs) images += one.size();
  if (images > 0) metrics_.count_batch(images);
  const std::lock_guard lock(answering_mutex_);
  answer_all(answering_, jobs);
}

void BatchEngine::run_lane(const std::filesystem::path& path, std::promise<void> loaded) {
  std::optional<Recognizer> embedding;
  try {
    embedding = Recognizer::open(path, recognizing_);
    const int64_t side = embedding->file().settings().preprocessing.image_size;
    embedding->features_of({Image{side, side, std::vector<uint8_t>(static_cast<size_t>(side * side * 3))}});
    loaded.set_value();
  } catch (...) {
    return loaded.set_exception(std::current_exception());
  }
  for (std::vector<Job> jobs = next(); !jobs.empty(); jobs = next()) {
    const ThreadScope scope(threads_of_a_lane());
    work_on(*embedding, std::move(jobs));
  }
}

}  // namespace protocom::http
