#include "http/batch_engine.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>

#include "protocom/core/error.h"
#include "protocom/core/log.h"

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

}  // namespace

BatchEngine::BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics)
    : limits_(options.limits), recognizing_(options.recognizing), metrics_(metrics) {
  std::promise<void> loaded;
  std::future<void> ready = loaded.get_future();
  thread_ =
      std::thread([this, recognizer, promise = std::move(loaded)]() mutable { run(recognizer, std::move(promise)); });
  try {
    ready.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

BatchEngine::~BatchEngine() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
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

std::vector<Job> BatchEngine::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
  std::vector<Job> jobs;
  int64_t images = 0;
  while (!waiting_.empty() && (jobs.empty() || images + waiting_.front().size() <= recognizing_.extract.batch)) {
    images += waiting_.front().size();
    jobs.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  waiting_images_ -= images;
  metrics_.set_waiting(waiting_images_);
  return jobs;
}

void BatchEngine::work_on(Recognizer& recognizer, std::vector<Job> jobs) {
  std::vector<Job> late;
  const auto now = std::chrono::steady_clock::now();
  const auto in_time = std::stable_partition(jobs.begin(), jobs.end(), [&](const Job& one) { return one.until > now; });
  std::move(in_time, jobs.end(), std::back_inserter(late));
  jobs.erase(in_time, jobs.end());
  fail_all(late, {503, "the image waited too long for the backbone: send it again later", 5});
  try {
    embed(recognizer, jobs);
  } catch (const std::exception& error) {
    logger().error("{}", error.what());
    return fail_all(jobs, {500, kInternal});
  }
  int64_t images = 0;
  for (const Job& one : jobs) images += one.size();
  if (images > 0) metrics_.count_batch(images);
  answer_all(recognizer, jobs);
}

void BatchEngine::run(const std::filesystem::path& path, std::promise<void> loaded) {
  std::optional<Recognizer> recognizer;
  try {
    recognizer = Recognizer::open(path, recognizing_);
    const int64_t side = recognizer->file().settings().preprocessing.image_size;
    recognizer->features_of({Image{side, side, std::vector<uint8_t>(static_cast<size_t>(side * side * 3))}});
    loaded.set_value();
  } catch (...) {
    return loaded.set_exception(std::current_exception());
  }
  for (std::vector<Job> jobs = next(); !jobs.empty(); jobs = next()) work_on(*recognizer, std::move(jobs));
}

}  // namespace protocom::http
