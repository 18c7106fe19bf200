#include "http/detail/batch_engine.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/error.h"
#include "base/threads.h"
#include "encoders/encoder.h"
#include "recognizer/class_scorer.h"
#include "store/database_error.h"

// From a job to its answers:
//   1. submit() appends the job to one queue, or refuses it with 503 if too many images are waiting.
//   2. A free lane takes jobs from the front (next): at least one, up to its share of the waiting images, at most a
//      batch. So a single image does not wait for others, and batches grow with the load.
//   3. Jobs that have timed out or were cancelled are failed (fail_unwanted).
//   4. All images of the others go through the lane's own copy of the encoder in one pass (embed). A small pass has the
//      lane's share of the cores; a larger one also those of idle lanes (threads_for).
//   5. Jobs that want only features get them (answer_with_features).
//   6. The rest are answered by the one Recognizer that all lanes share, after it has reread changed classes from the
//      file (answer_asking): at most kRowsAtOnce rows per call; with a transductive method, one call for each job.
namespace protocom::http {
namespace {

/// Rows answered by one call. It costs about as much for all of them as for a few, and its memory is one number for
/// each row and class.
constexpr int64_t kRowsAtOnce = 256;

/// Below this number of pixels a second core hardly makes a pass faster (one image of 64 x 64 by ResNet12: 38 ms on one
/// core, 31 on two), and the next request would have to share it.
constexpr int64_t kPixelsForASecondCore = int64_t{2} * 64 * 64;

int64_t pixels_of(const std::vector<Job>& jobs) {
  int64_t pixels = 0;
  for (const Job& job : jobs) {
    for (const Image& image : job.images) pixels += image.height * image.width;
  }
  return pixels;
}

/// Computes the features of all jobs in one forward pass, and gives each its rows.
void embed(Recognizer& recognizer, std::vector<Job>& jobs) {
  std::vector<Image> images;
  for (Job& job : jobs) images.insert(images.end(), job.images.begin(), job.images.end());
  if (images.empty()) return;
  const Array features = recognizer.features_of(images);
  int64_t row = 0;
  for (Job& job : jobs) {
    if (job.images.empty()) continue;
    job.features = features.rows(row, row + job.size());
    row += job.size();
  }
}

/// Returns the error to answer with: 409 if classes lack images, else as translate_exception(). Called while an
/// exception is handled.
HttpError why_no_answer() {
  try {
    throw;
  } catch (const MissingImages& error) {
    return {409, error.what()};
  } catch (...) {
    return translate_exception();
  }
}

/// Answers features of several jobs, in their order, by calls of at most `most` rows. `least_of_set`: for all jobs.
Recognised answer(Recognizer& recognizer, const std::vector<Array>& features, int64_t most,
                  const Recognizer::Asked& asked) {
  Recognised done;
  try {
    const Array all = Array::joined(features);
    for (int64_t row = 0; row < all.size(0); row += most) {
      std::vector<Answer> some = recognizer.classify_features(all.rows(row, std::min(row + most, all.size(0))), asked);
      std::move(some.begin(), some.end(), std::back_inserter(done.answers));
    }
    done.method = recognizer.method().label();
    done.mode = recognizer.method().spec().mode();
  } catch (const std::exception&) {
    done.error = why_no_answer();
  }
  return done;
}

/// Whether a row's answer does not depend on the other rows of a call.
bool answers_rows_alone(Recognizer& recognizer) {
  try {
    return recognizer.method().spec().sees != Sees::kAllQueries;
  } catch (const std::exception&) {
    return true;  // answering reports the fault
  }
}

/// Answers jobs with the same least probability of sets, by calls of at most `most` rows.
void answer_together(Recognizer& recognizer, const std::vector<const Job*>& jobs, int64_t most) {
  std::vector<Array> rows;
  for (const Job* job : jobs) rows.push_back(job->features);
  Recognised all = answer(recognizer, rows, most, jobs.front()->asked);
  auto next = all.answers.begin();
  for (const Job* job : jobs) {
    Recognised own{job->features, {}, all.method, all.mode, all.error};
    if (!all.error) {
      const auto end = next + job->features.size(0);
      own.answers.assign(std::make_move_iterator(next), std::make_move_iterator(end));
      next = end;
    }
    job->done(std::move(own));
  }
}

void answer_all(Recognizer& recognizer, const std::vector<const Job*>& asking) {
  if (answers_rows_alone(recognizer)) {
    std::map<std::pair<std::optional<double>, std::optional<double>>, std::vector<const Job*>> alike;
    for (const Job* job : asking) alike[{job->asked.least_of_set, job->asked.roll_up}].push_back(job);
    for (const auto& [asked, jobs] : alike) answer_together(recognizer, jobs, kRowsAtOnce);
    return;
  }
  // Images of different requests are never in one call: transductive methods would let them influence one another.
  for (const Job* job : asking) answer_together(recognizer, {job}, std::max<int64_t>(1, job->features.size(0)));
}

void fail_job(const Job& job, const HttpError& error) { job.done({{}, {}, {}, {}, error}); }

void fail_all(const std::vector<Job>& jobs, const HttpError& error) {
  for (const Job& item : jobs) fail_job(item, error);
}

/// Answers jobs that want only features, and returns the others.
std::vector<const Job*> answer_with_features(const std::vector<Job>& jobs) {
  std::vector<const Job*> asking;
  for (const Job& job : jobs) {
    if (job.want == Want::kAnswers)
      asking.push_back(&job);
    else
      job.done({job.features, {}, {}, {}, std::nullopt});
  }
  return asking;
}

/// Throws HttpError if nobody waits for the job's answer any more.
void check_wanted(const Job& job, std::chrono::steady_clock::time_point now) {
  if (job.until <= now)
    refuse_for_now(503, 5, "timeout: the image waited too long for the encoder; send it again later");
  if (job.cancellation) job.cancellation->check();
}

/// Fails and removes jobs whose requests are cancelled or too late.
void fail_unwanted(std::vector<Job>& jobs) {
  const auto now = std::chrono::steady_clock::now();
  std::vector<Job> wanted;
  for (Job& job : jobs) {
    try {
      check_wanted(job, now);
      wanted.push_back(std::move(job));
    } catch (const HttpError& error) {
      fail_job(job, error);
    }
  }
  jobs = std::move(wanted);
}

/// Returns the useful number of concurrent passes: on a processor a pass gains little from a second core, on a GPU the
/// largest batch is best.
int lanes_of(const ServerOptions& options) {
  constexpr int kMostLanes = 4;
  if (options.lanes > 0) return options.lanes;
  return runs_on_processor(options.recognizing.device) ? std::min(kMostLanes, thread_count()) : 1;
}

/// Returns options for answers as long as any request may want; requests without such parameters get the server's
/// settings.
RecognizerOptions with_long_answers(RecognizerOptions options) {
  options.top = std::max(options.top, kMostTop);
  options.nearest = std::max(options.nearest, kMostNearest);
  return options;
}

}  // namespace

BatchEngine::BatchEngine(const std::filesystem::path& recognizer, const ServerOptions& options, Metrics& metrics,
                         FileState& file)
    : limits_(options.limits),
      recognizing_(options.recognizing),
      metrics_(metrics),
      lane_count_(lanes_of(options)),
      threads_(thread_count()),
      busy_lanes_(lane_count_),
      file_(file),
      answering_(Recognizer::open(recognizer, with_long_answers(options.recognizing))) {
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
  for (int lane = 0; lane < lane_count_; ++lane) {
    std::promise<void> loaded;
    ready.push_back(loaded.get_future());
    lanes_.emplace_back(
        [this, recognizer, promise = std::move(loaded)]() mutable { run_lane(recognizer, std::move(promise)); });
  }
  for (std::future<void>& item : ready) item.get();
}

void BatchEngine::end_lanes() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& lane : lanes_) lane.join();
}

void BatchEngine::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_images_ + job.size() > limits_.waiting_images && waiting_images_ > 0)
      refuse_for_now(503, 1, "too many images are waiting for the encoder: send the request again in a second");
    waiting_images_ += job.size();
    metrics_.set_waiting(waiting_images_);
    job.until = std::chrono::steady_clock::now() + limits_.answer;
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
}

/// Returns the next jobs for a lane: its share of the waiting images, at most a batch, and of features as many rows as
/// one request may have; at least one job, and none when the engine ends.
std::vector<Job> BatchEngine::next() {
  std::unique_lock lock(mutex_);
  --busy_lanes_;
  changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
  ++busy_lanes_;
  const int64_t share = std::min(recognizing_.batch, waiting_images_ / lane_count_);
  std::vector<Job> jobs;
  int64_t images = 0, rows = 0;
  const auto fits = [&](const Job& item) {
    return images + item.size() <= share && rows + item.rows() <= limits_.rows;
  };
  while (!waiting_.empty() && (jobs.empty() || fits(waiting_.front()))) {
    images += waiting_.front().size();
    rows += waiting_.front().rows();
    jobs.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  waiting_images_ -= images;
  metrics_.set_waiting(waiting_images_);
  return jobs;
}

int BatchEngine::threads_for(const std::vector<Job>& jobs) {
  const int share = std::max(1, threads_ / lane_count_);
  if (pixels_of(jobs) < kPixelsForASecondCore) return share;
  const std::lock_guard lock(mutex_);
  return std::max(share, threads_ / busy_lanes_);
}

void BatchEngine::warm_up(Recognizer& embedding) {
  const int64_t side = embedding.file().settings().preprocessing.image_size;
  const std::vector<Image> black{{side, side, std::vector<uint8_t>(static_cast<size_t>(side * side * 3))}};
  embedding.features_of(black);
  const ThreadScope all(threads_);
  const SpinScope spin(true);
  embedding.features_of(black);
}

void BatchEngine::work_on(Recognizer& embedding, std::vector<Job> jobs) {
  fail_unwanted(jobs);
  try {
    embed(embedding, jobs);
  } catch (const std::exception&) {
    return fail_all(jobs, translate_exception());
  }
  int64_t images = 0;
  for (const Job& job : jobs) images += job.size();
  if (images > 0) metrics_.count_batch(images);
  const std::vector<const Job*> asking = answer_with_features(jobs);
  if (!asking.empty()) answer_asking(asking);
}

void BatchEngine::answer_asking(const std::vector<const Job*>& asking) {
  const std::lock_guard lock(answering_mutex_);
  std::vector<const Job*> ready;
  for (const Job* job : asking) {
    try {
      file_.use(job->arrived, [&] {
        answering_.follow();
        return answering_.file().revision();
      });
      ready.push_back(job);
    } catch (const std::exception&) {
      fail_job(*job, translate_exception());
    }
  }
  if (!ready.empty()) answer_all(answering_, ready);
}

void BatchEngine::run_lane(const std::filesystem::path& path, std::promise<void> loaded) {
  std::optional<Recognizer> embedding;
  try {
    const ThreadScope scope(std::max(1, threads_ / lane_count_));  // the number that its backbone is prepared for
    embedding = Recognizer::open(path, recognizing_);
    warm_up(*embedding);
    loaded.set_value();
  } catch (...) {
    return loaded.set_exception(std::current_exception());
  }
  for (std::vector<Job> jobs = next(); !jobs.empty(); jobs = next()) {
    const int threads = threads_for(jobs);
    const ThreadScope scope(threads);
    const SpinScope spin(threads == threads_ && lane_count_ > 1);  // no other lane works
    work_on(*embedding, std::move(jobs));
  }
}

}  // namespace protocom::http
