#include "recognizer/shared_recognizer.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "images/capture_time.h"
#include "images/image_region.h"
#include "recognizer/enrol_sources.h"
#include "recognizer/suggest_photos.h"
#include "recognizer/test_recognizer.h"

namespace protocom {
namespace {

constexpr size_t kDecodedAtOnce = 64;

}  // namespace

SharedRecognizer::SharedRecognizer(const std::filesystem::path& path, const RecognizerOptions& options)
    : recognizer_(Recognizer::open(path, options)), settings_(recognizer_.file().settings()) {}

Array SharedRecognizer::checked(const Array& features) const {
  if (features.dim() != 2 || features.size(0) == 0 || features.size(1) != settings_.feature_dim ||
      !is_real(features.type()))
    fail("features: expected float32 [n, {}] of the recognizer's encoder, found {} [{}]", settings_.feature_dim,
         to_string(features.type()), fmt::join(features.shape(), ", "));
  return features.to(NumberType::kFloat32);
}

Array SharedRecognizer::features_of(const GivenImages& images) {
  if (images.empty()) fail("expected at least one image, found none");
  std::vector<Array> parts;
  for (size_t i = 0; i < images.size(); i += kDecodedAtOnce) {
    const auto begin = images.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = images.begin() + static_cast<std::ptrdiff_t>(std::min(i + kDecodedAtOnce, images.size()));
    std::vector<SquareImage> squares = square_images({begin, end}, settings_.preprocessing);
    const std::lock_guard lock(mutex_);
    parts.push_back(recognizer_.features_of(take_images(squares)));
  }
  return Array::joined(parts);
}

std::vector<Answer> SharedRecognizer::classify(const Array& features) {
  const Array rows = checked(features);
  return call([&](Recognizer& own) { return own.classify_features(rows); });
}

NewExamples SharedRecognizer::examples_of(const GivenImages& images) {
  std::vector<SquareImage> squares = square_images(images, settings_.preprocessing);
  NewExamples examples;
  const std::lock_guard lock(mutex_);
  for (const SquareImage& image : squares) {
    examples.hashes.push_back(image.hash);
    examples.sources.push_back(image.source);
    examples.thumbnails.push_back(recognizer_.thumbnail_of(image.image));
  }
  for (const GivenImage* image : images)
    examples.taken.push_back(image->path.empty() ? capture_time(image->bytes)
                                                 : capture_time_of(region_of(image->path).file));
  if (!squares.empty()) examples.features = recognizer_.features_of(take_images(squares));
  return examples;
}

NewExamples SharedRecognizer::examples_of(const Array& features) const {
  return examples_of_features(checked(features).copy(), "memory");
}

Enrolment SharedRecognizer::enrol(const ClassToDescribe& request, NewExamples examples) {
  Enrolment done;
  done.given = static_cast<int64_t>(examples.hashes.size());
  const std::vector<std::string> hashes = examples.hashes;
  call([&](Recognizer& own) {
    done.classes = {own.enrol_class(request, std::move(examples))};
    for (const std::string& sentence : own.images_elsewhere(done.classes.front().now.name, hashes))
      logger().warn("{}", sentence);
  });
  return done;
}

Enrolment SharedRecognizer::enrol(const EnrolSources& sources, Progress& progress) {
  return call([&](Recognizer& own) { return own.enrol(requests_of_sources(sources, own), progress); });
}

void SharedRecognizer::check_learns_from_unlabelled() {
  call([](const Recognizer& own) { own.check_learns_from_unlabelled(); });
}

int64_t SharedRecognizer::add_unlabelled(const NewExamples& examples) {
  return call([&](Recognizer& own) {
    own.check_learns_from_unlabelled();
    return own.file().add_unlabelled(examples);
  });
}

namespace {

/// Names images without a path by their indices among all.
void call_by_number(const std::vector<int64_t>& numbers, NewExamples& examples) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::string& source = examples.sources[i];
    if (source.empty() || source == "memory") source = std::to_string(numbers[i]);
  }
}

std::vector<int64_t> numbers_to(size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

void SharedRecognizer::check_one_label_an_image(size_t labels, size_t images) {
  if (labels != images) fail("expected one label per image, found {} labels and {} images", labels, images);
}

TestResult SharedRecognizer::test(NewExamples examples, const std::vector<std::string>& labels,
                                  std::vector<int64_t> numbers) {
  check_one_label_an_image(labels.size(), examples.hashes.size());
  if (numbers.empty()) numbers = numbers_to(labels.size());
  call_by_number(numbers, examples);
  TestFeatures images{std::move(examples), labels, std::move(numbers)};
  return call([&](Recognizer& own) { return test_recognizer(own, std::move(images)); });
}

TestResult SharedRecognizer::test(const EnrolSources& sources, Progress& progress) {
  return call([&](Recognizer& own) { return test_recognizer(own, labelled_images(sources, own.file()), progress); });
}

Suggestions SharedRecognizer::suggest(NewExamples examples, int64_t count, std::vector<int64_t> numbers) {
  if (examples.hashes.empty()) fail("expected at least one image, found none");
  if (numbers.empty()) numbers = numbers_to(examples.hashes.size());
  call_by_number(numbers, examples);
  Suggestions made = call([&](Recognizer& own) { return suggest_rows(own, examples, count); });
  for (Suggestion& one : made.images) one.row = numbers[static_cast<size_t>(one.row)];
  return made;
}

Calibration SharedRecognizer::calibrate(const Array& others, const CalibrationOptions& options, Progress& progress) {
  const Array unknown = others.defined() ? checked(others) : others;
  return call([&](Recognizer& own) { return own.calibrate_on(unknown, options, progress); });
}

}  // namespace protocom
