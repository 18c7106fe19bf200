// A recognizer with very many classes:
//   many_classes RECOGNIZER CLASSES [THREADS [QUERIES]]     a recognizer without classes, of which a copy is filled
//   with random features: five images about a centre for each class
// Prints the cost of opening it, answering a feature and enrolling one, with and without an index beside it; with
// QUERIES also how often the answers equal those of brute force, which scores the classes in parts too small for coarse
// rows.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/threads.h"
#include "recognizer/recognizer.h"
#include "tensors/tensors.h"

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

/// Returns the memory of this process in MB: in total, and without files.
std::string memory() {
  std::ifstream status("/proc/self/status");
  std::string shown;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t kilobytes = 0;
    words >> name >> kilobytes;
    if (name == "VmRSS:") shown = fmt::format("{} MB", kilobytes >> 10);
    if (name == "RssAnon:") shown += fmt::format(", of which {} MB are no file's", kilobytes >> 10);
  }
  return shown;
}

/// Returns features around the centre of a class; another seed gives other features of the same class.
protocom::Array images_of(int64_t number, int64_t count, int64_t dim, uint64_t seed) {
  const auto generator = [](uint64_t s) { return at::detail::createCPUGenerator(s); };
  const at::Tensor centre = at::rand({1, dim}, generator(static_cast<uint64_t>(number)));
  return protocom::array_of((centre + 0.5 * at::randn({count, dim}, generator(seed))).clamp_min(0));
}

protocom::ClassEnrolment enrolment(protocom::Recognizer& recognizer, int64_t number, int64_t images) {
  protocom::ClassEnrolment made = recognizer.describe({fmt::format("class {}", number)});
  const auto seed = static_cast<uint64_t>(1'000'000 + 10 * number + images);
  made.examples.features = images_of(number, images, recognizer.file().settings().feature_dim, seed);
  for (int64_t i = 0; i < images; ++i) made.examples.hashes.push_back(fmt::format("{}-{}-{}", number, i, images));
  return made;
}

/// Answers like a recognizer, but with the same classes in parts.
class BruteForce {
 public:
  explicit BruteForce(const fs::path& path) {
    const protocom::RecognizerFile file(path);
    model_ = protocom::read_store_model(file);
    const protocom::EnrolledClasses all = file.snapshot().enrolled;
    constexpr size_t kPart = 10'000;
    for (size_t begin = 0; begin < all.classes.size(); begin += kPart) {
      const auto from = all.classes.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = all.classes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kPart, all.classes.size()));
      parts_.push_back(std::make_unique<protocom::ClassScorer>(
          protocom::EnrolledClasses{all.feature_dim, all.attributes, {from, to}}, model_));
      names_.insert(names_.end(), parts_.back()->class_names().begin(), parts_.back()->class_names().end());
    }
  }

  /// Returns the five best classes of each feature with their probabilities.
  [[nodiscard]] std::vector<std::vector<protocom::RankedClass>> answers(const protocom::Array& features) const {
    std::vector<at::Tensor> logits;
    for (const auto& part : parts_)
      logits.push_back(protocom::tensor_of(protocom::array_of_matrix(part->score(features).logits)));
    const auto [probabilities, places] = at::cat(logits, 1).softmax(-1).topk(5);
    std::vector<std::vector<protocom::RankedClass>> answers;
    for (int64_t i = 0; i < features.size(0); ++i) {
      auto& own = answers.emplace_back();
      for (int64_t r = 0; r < 5; ++r) {
        const auto place = static_cast<size_t>(places[i][r].item<int64_t>());
        own.push_back({names_[place], probabilities[i][r].item<double>()});
      }
    }
    return answers;
  }

 private:
  protocom::StoreModel model_;
  std::vector<std::unique_ptr<protocom::ClassScorer>> parts_;
  std::vector<std::string> names_;
};

void compare(protocom::Recognizer& recognizer, const fs::path& path, int64_t classes, int64_t queries) {
  const BruteForce brute(path);
  const int64_t dim = recognizer.file().settings().feature_dim;
  int64_t first = 0, all = 0, right = 0;
  double furthest = 0;
  constexpr int64_t kTogether = 50;
  for (int64_t begin = 0; begin < queries; begin += kTogether) {
    std::vector<protocom::Array> rows;
    for (int64_t i = begin; i < begin + kTogether; ++i)
      rows.push_back(images_of(i * 7919 % classes, 1, dim, static_cast<uint64_t>(900'000'000 + i)));
    const protocom::Array features = protocom::Array::joined(rows);
    const auto expected = brute.answers(features);
    const auto found = recognizer.classify_features(features);
    for (size_t i = 0; i < found.size(); ++i) {
      bool same = true;
      for (size_t r = 0; r < expected[i].size(); ++r) {
        same = same && expected[i][r].name == found[i].ranking[r].name;
        furthest = std::max(furthest, std::abs(expected[i][r].probability - found[i].ranking[r].probability));
      }
      all += same ? 1 : 0;
      first += expected[i].front().name == found[i].ranking.front().name ? 1 : 0;
      right +=
          found[i].ranking.front().name == fmt::format("class {}", (begin + static_cast<int64_t>(i)) * 7919 % classes);
    }
  }
  fmt::print(
      "{} queries: the first class is that of brute force {} times, the five best {} times; probabilities differ "
      "by at most {:.2g}; {} are right\n",
      queries, first, all, furthest, right);
}

/// Measures a process that does nothing else.
void time_opened(const fs::path& path) {
  std::optional<protocom::Recognizer> opened;
  time("opening in a process of its own, with the classes' state", 1, [&] {
    opened = protocom::Recognizer::open(path);
    (void)opened->method();
  });
  fmt::print("memory: {}\n", memory());
  const protocom::Array feature = images_of(3, 1, opened->file().settings().feature_dim, 77);
  time("first answer", 1, [&] { opened->classify_features(feature); });
  for (int i = 0; i < 3; ++i) time("an answer", 50, [&] { opened->classify_features(feature); });
  fmt::print("memory: {}\n", memory());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "many_classes RECOGNIZER CLASSES [THREADS [QUERIES]]\n");
    return 2;
  }
  protocom::set_threads(argc > 3 ? std::stoi(argv[3]) : 0);
  if (std::string(argv[1]) == "--open") {
    time_opened(argv[2]);
    return 0;
  }
  const fs::path path = fs::temp_directory_path() / "many-classes.pcm";
  fs::copy_file(argv[1], path, fs::copy_options::overwrite_existing);
  const int64_t classes = std::stoll(argv[2]);
  {
    protocom::Recognizer filled = protocom::Recognizer::open(path);
    constexpr int64_t kTogether = 10'000;
    for (int64_t begin = 0; begin < classes; begin += kTogether) {
      std::vector<protocom::ClassEnrolment> all;
      for (int64_t k = begin; k < std::min(classes, begin + kTogether); ++k)
        all.push_back(enrolment(filled, k, kImages));
      time("enrolling 10,000 classes, or all", 1, [&] { filled.file().enrol(all); });
    }
  }
  std::optional<protocom::Recognizer> opened;
  const at::Tensor one = at::rand({1, protocom::RecognizerFile(path).settings().feature_dim});
  const protocom::Array feature = protocom::array_of(one);
  time("opening", 1, [&] { opened = protocom::Recognizer::open(path); });
  time("opening, with the classes' state", 1, [&] { (void)opened->method(); });
  fmt::print("memory: {}\n", memory());
  time("first answer", 1, [&] { opened->classify_features(feature); });
  time("an answer", 100, [&] { opened->classify_features(feature); });
  protocom::RecognizerOptions alone;
  alone.nearest = 0;
  protocom::Recognizer classes_only = protocom::Recognizer::open(path, alone);
  classes_only.classify_features(feature);
  time("an answer without the nearest images", 100, [&] { classes_only.classify_features(feature); });
  const protocom::Array many = protocom::array_of(one.repeat({32, 1}));
  time("answers to 32 without the nearest images", 10, [&] { classes_only.classify_features(many); });
  if (argc > 4) compare(classes_only, path, classes, std::stoll(argv[4]));
  const std::string again = fmt::format("'{}' --open '{}' {}", argv[0], path.string(), argc > 3 ? argv[3] : "0");
  std::fflush(stdout);
  if (std::system(again.c_str()) != 0) return 1;
  time("writing the index", 1, [&] { opened->write_index(); });
  fmt::print("index: {} MB, recognizer: {} MB\n", fs::file_size(path.string() + ".index") >> 20,
             fs::file_size(path) >> 20);
  std::fflush(stdout);
  if (std::system(again.c_str()) != 0) return 1;
  opened = protocom::Recognizer::open(path);
  (void)opened->method();
  time("enrolling an image", 1, [&] { opened->file().enrol({enrolment(*opened, 7, 1)}); });
  time("the answer after it", 1, [&] { opened->classify_features(feature); });
  fs::remove(path.string() + ".index");
  fs::remove(path);
  return 0;
}
