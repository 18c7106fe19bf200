// A recognizer with very many classes:
//   many_classes RECOGNIZER CLASSES [THREADS]     a recognizer without classes, of which a copy is filled with random
//   features
// Prints what opening it, answering a feature and enrolling one cost.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>

#include "protocom/core/device.h"
#include "protocom/serve/recognizer.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kImages = 5;

template <typename Work>
void time(const char* what, int times, const Work& work) {
  const auto begin = Clock::now();
  const std::clock_t used = std::clock();
  for (int i = 0; i < times; ++i) work();
  const double wall = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  const double processor = 1000.0 * static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
  fmt::print("{}: {:.2f} ms, of the processor {:.2f} ms\n", what, wall / times, processor / times);
}

protocom::ClassEnrolment enrolment(protocom::Recognizer& recognizer, int64_t number, int64_t images) {
  protocom::ClassRequest request;
  request.name = fmt::format("class {}", number);
  protocom::ClassEnrolment made = recognizer.describe(request);
  made.examples.features = at::rand({images, recognizer.file().settings().feature_dim});
  for (int64_t i = 0; i < images; ++i) made.examples.hashes.push_back(fmt::format("{}-{}-{}", number, i, images));
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "many_classes RECOGNIZER CLASSES [THREADS]\n");
    return 2;
  }
  protocom::set_threads(argc > 3 ? std::stoi(argv[3]) : 0);
  const fs::path path = fs::temp_directory_path() / "many-classes.pcm";
  fs::copy_file(argv[1], path, fs::copy_options::overwrite_existing);
  const int64_t classes = std::stoll(argv[2]);
  {
    protocom::Recognizer filled = protocom::Recognizer::open(path);
    std::vector<protocom::ClassEnrolment> all;
    for (int64_t k = 0; k < classes; ++k) all.push_back(enrolment(filled, k, kImages));
    time("enrolling all", 1, [&] { filled.file().enrol(all); });
  }
  std::optional<protocom::Recognizer> opened;
  const at::Tensor feature = at::rand({1, protocom::RecognizerFile(path).settings().feature_dim});
  time("opening", 1, [&] { opened = protocom::Recognizer::open(path); });
  time("opening, with the classes' state", 1, [&] { (void)opened->method(); });
  time("first answer", 1, [&] { opened->classify_features(feature); });
  time("an answer", 100, [&] { opened->classify_features(feature); });
  protocom::RecognizerOptions alone;
  alone.nearest = 0;
  protocom::Recognizer classes_only = protocom::Recognizer::open(path, alone);
  classes_only.classify_features(feature);
  time("an answer without the nearest images", 100, [&] { classes_only.classify_features(feature); });
  const at::Tensor many = feature.repeat({32, 1});
  time("answers to 32 without the nearest images", 10, [&] { classes_only.classify_features(many); });
  time("enrolling an image", 1, [&] { opened->file().enrol({enrolment(*opened, 7, 1)}); });
  time("the answer after it", 1, [&] { opened->classify_features(feature); });
  fs::remove(path);
  return 0;
}
