#include "http/detail/batch_engine.h"

#include <ATen/ATen.h>

#include <atomic>

#include "http/server_support.h"
#include "support/most_memory.h"
#include "tensors/tensors.h"

namespace protocom::http {
namespace {

using protocom::testing::most_memory_of;

class Engine : public protocom::testing::SmallRecognizer {};

TEST_F(Engine, FeaturesOfManyRequestsTakeNoMoreMemoryThanThoseOfAFew) {
  constexpr int64_t kClasses = 2000, kJobs = 20, kRows = 1000;
  ServerOptions options;
  options.lanes = 1;
  options.recognizing.top = 1;
  options.recognizing.nearest = 0;
  Recognizer recognizer = Recognizer::open(path_, options.recognizing);
  const int64_t dim = recognizer.file().settings().feature_dim;
  std::vector<ClassEnrolment> enrolments;
  for (int64_t i = 0; i < kClasses; ++i) {
    enrolments.push_back(recognizer.describe({"c" + std::to_string(i)}));
    enrolments.back().examples.features = array_of(at::randn({1, dim}));
    enrolments.back().examples.hashes = {std::to_string(i)};
  }
  recognizer.file().enrol(enrolments);
  std::atomic<int64_t> answered{0};  // stored answers would lie between freed blocks
  std::vector<Job> jobs(kJobs);
  for (Job& one : jobs) {
    one.features = array_of(at::randn({kRows, dim}));
    one.done = [&answered](const Recognised& done) { answered += static_cast<int64_t>(done.answers.size()); };
  }
  const int64_t memory = most_memory_of([&] {
    Metrics metrics;
    FileState file;
    BatchEngine engine(path_, options, metrics, file);
    for (Job& one : jobs) engine.submit(std::move(one));
  });
  EXPECT_EQ(answered, kJobs * kRows);
#ifdef PROTOCOM_SANITIZED
  EXPECT_GT(memory, 0);  // sanitizers keep freed memory
#else
  EXPECT_LT(memory, kJobs * kRows * kClasses * 4) << "the logits of all of them at once";
#endif
}

}  // namespace
}  // namespace protocom::http
