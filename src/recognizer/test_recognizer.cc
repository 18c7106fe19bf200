#include "recognizer/test_recognizer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "eval/test_figures.h"
#include "io/memory_file.h"
#include "recognizer/enrol_requests.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownNames = 5;

std::vector<std::string> class_names_in(const RecognizerFile& file) {
  std::vector<std::string> names;
  for (const ClassInfo& entry : file.list_classes()) names.push_back(entry.name);
  if (names.empty()) fail("{}: no class is enrolled: enrol one first", file.path().string());
  return names;
}

/// Returns the class name as the recognizer writes it, or would write it.
std::string name_in(const RecognizerFile& file, const std::string& written) {
  const std::optional<ClassInfo> held = file.find_class(written);
  return held ? held->name : clean_name(written);
}

/// Warns with suggestions for each, since a misspelt class counts as unknown.
void warn_of_unknown(const std::vector<std::string>& names, const std::vector<std::string>& unknown,
                     const RecognizerFile& file) {
  if (unknown.empty()) return;
  logger().warn("classes that {} does not have count as unknown images: {}", file.path().string(),
                names_with_hints(unknown, names, kShownNames));
}

/// Returns the recognizer's names of the labels.
std::map<std::string, std::string> names_for(const std::vector<std::string>& labels, const RecognizerFile& file) {
  const std::vector<std::string> names = class_names_in(file);
  const std::set<std::string> there(names.begin(), names.end());
  std::map<std::string, std::string> made;
  std::vector<std::string> unknown;
  for (const std::string& label : labels) {
    const auto [at, is_new] = made.emplace(label, "");
    if (!is_new) continue;
    at->second = name_in(file, label);
    if (there.count(at->second) == 0) unknown.push_back(label);
  }
  if (labels.empty()) fail("expected at least one labelled image, found none");
  if (unknown.size() == made.size())
    fail("none of the {} classes to test is in {}, they are '{}', ..., it has '{}', ...{}", made.size(),
         file.path().string(), excerpt(unknown.front()), excerpt(names.front()), did_you_mean(unknown.front(), names));
  return made;
}

/// Called before images are encoded.
void warn_of_unknown_labels(const std::vector<std::string>& labels, const RecognizerFile& file) {
  const std::vector<std::string> names = class_names_in(file);
  const std::set<std::string> there(names.begin(), names.end());
  std::vector<std::string> unknown;
  for (const auto& [label, name] : names_for(labels, file)) {
    if (there.count(name) == 0) unknown.push_back(label);
  }
  warn_of_unknown(names, unknown, file);
}

void check_rows(const EnrolRequest& request, const RecognizerFile& file) {
  const Array& features = request.examples.features;
  const int64_t dim = file.settings().feature_dim;
  if (features.dim() == 2 && features.size(1) == dim) return;
  fail("class '{}': expected features [n, {}] as in {}, found [{}]", excerpt(request.name), dim, file.path().string(),
       fmt::join(features.shape(), ", "));
}

/// Computes the features of all requests' images with the recognizer's encoder.
TestFeatures gather(Recognizer& recognizer, const std::vector<EnrolRequest>& requests, Progress& progress) {
  RequestFiles files = find_files(requests);
  TestFeatures made;
  made.skipped = files.skipped;
  ExamplesInParts collected;
  const auto add = [&](NewExamples examples, const std::string& label, size_t number) {
    for (size_t i = 0; i < examples.hashes.size(); ++i) {
      made.labels.push_back(label);
      made.numbers.push_back(static_cast<int64_t>(number + i));
    }
    collected.add(std::move(examples));
  };
  const auto take = [&](size_t i, const EmbeddedImage& embedded) {
    add({embedded.feature, {embedded.hash}, {shown(files.paths[i])}}, requests[files.owner[i]].name, i);
  };
  if (!files.paths.empty()) {
    files.add_unreadable(recognizer.embed(files.paths, take, progress), requests);
  }
  made.unreadable = std::move(files.unreadable);
  size_t number = files.paths.size();
  for (const EnrolRequest& request : requests) {
    if (!request.examples.features.defined()) continue;
    check_rows(request, recognizer.file());
    NewExamples given = request.examples;
    given.features = given.features.to(NumberType::kFloat32);
    add(std::move(given), request.name, number);
    number += request.examples.hashes.size();
  }
  if (made.labels.empty())
    fail("no labelled image can be read{}",
         made.unreadable.empty() ? "" : fmt::format(": {}", made.unreadable.front().reason));
  made.examples = std::move(collected).joined();
  return made;
}

/// The content that a recognizer holds.
struct HeldContent {
  std::set<std::string> enrolled;  ///< hashes of files
  std::vector<Array> features;     ///< by class, float32 [n, d]
  std::set<std::string> unlabelled;
};

HeldContent read_held_content(const RecognizerFile& file) {
  HeldContent held;
  for (const ExampleInfo& example : file.list_examples("")) held.enrolled.insert(example.hash);
  for (const StoredClass& one : file.snapshot().enrolled.classes) {
    if (one.features.defined()) held.features.push_back(one.features.to(NumberType::kFloat32));
  }
  for (const ExampleInfo& entry : file.list_unlabelled()) held.unlabelled.insert(entry.hash);
  return held;
}

TestFeatures picked(const TestFeatures& all, const std::vector<int64_t>& rows) {
  TestFeatures some;
  some.skipped = all.skipped;
  some.unreadable = all.unreadable;
  if (!rows.empty()) some.examples.features = all.examples.features.gathered(rows);
  for (const int64_t row : rows) {
    const auto i = static_cast<size_t>(row);
    some.examples.hashes.push_back(all.examples.hashes[i]);
    some.examples.sources.push_back(all.examples.sources[i]);
    some.labels.push_back(all.labels[i]);
    some.numbers.push_back(all.numbers[i]);
  }
  return some;
}

/// Whether two features [d] are of the same image: they differ by no more than rounding, which depends on the batch
/// size, and by float16, in which a recognizer may store them (2^-11 of each number). Most pairs are decided after a
/// few numbers.
bool is_same_image(const float* one, const float* other, int64_t dim) {
  constexpr double kRounding = 1e-3;
  double length = 0;
  for (int64_t i = 0; i < dim; ++i) length += double{one[i]} * one[i];
  double left = kRounding * kRounding * length;
  for (int64_t i = 0; i < dim && left >= 0; ++i) left -= (double{one[i]} - other[i]) * (double{one[i]} - other[i]);
  return left >= 0;
}

bool holds_feature(const HeldContent& held, const float* feature, int64_t dim) {
  return std::any_of(held.features.begin(), held.features.end(), [&](const Array& rows) {
    for (int64_t i = 0; i < rows.size(0); ++i) {
      if (is_same_image(feature, rows.data<float>() + i * dim, dim)) return true;
    }
    return false;
  });
}

/// Returns the rows that are already enrolled.
std::set<int64_t> enrolled_rows(const TestFeatures& images, const HeldContent& held) {
  std::set<int64_t> rows;
  const NewExamples& examples = images.examples;
  const int64_t dim = examples.features.size(1);
  for (size_t i = 0; i < examples.hashes.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const bool by_file = held.enrolled.count(examples.hashes[i]) > 0;
    if (by_file || holds_feature(held, examples.features.data<float>() + row * dim, dim)) rows.insert(row);
  }
  return rows;
}

/// Returns the rows whose numbers are not in `left_out`.
std::vector<int64_t> rows_without(const TestFeatures& images, const std::set<int64_t>& left_out) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < images.numbers.size(); ++i) {
    if (left_out.count(images.numbers[i]) == 0) rows.push_back(static_cast<int64_t>(i));
  }
  return rows;
}

std::set<int64_t> image_numbers(const TestFeatures& images, const std::set<int64_t>& rows) {
  std::set<int64_t> numbers;
  for (const int64_t row : rows) numbers.insert(images.numbers[static_cast<size_t>(row)]);
  return numbers;
}

/// Classifies images one by one in parts, or all together if the method does so.
std::vector<TestedImage> judged(Recognizer& recognizer, const TestFeatures& images) {
  constexpr int64_t kAtOnce = 256;
  const auto n = static_cast<int64_t>(images.labels.size());
  const int64_t part = recognizer.method().spec().sees == Sees::kAllQueries ? n : kAtOnce;
  std::vector<TestedImage> all;
  for (int64_t begin = 0; begin < n; begin += part) {
    const int64_t end = std::min(n, begin + part);
    const std::vector<std::string> right(images.labels.begin() + begin, images.labels.begin() + end);
    std::vector<TestedImage> some = recognizer.judge(images.examples.features.rows(begin, end), right);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  for (size_t i = 0; i < all.size(); ++i) all[i].image = images.examples.sources[i];
  return all;
}

/// Returns the result for `images` without those left out, with class names as the recognizer writes them.
TestResult result_of(Recognizer& recognizer, const TestFeatures& images, const HeldContent& held) {
  TestResult result;
  result.recognizer = recognizer.file().path().string();
  result.method = recognizer.method().label();
  result.mode = recognizer.method().spec().mode();
  result.skipped = images.skipped;
  result.unreadable = images.unreadable;
  result.unlabelled = std::count_if(images.examples.hashes.begin(), images.examples.hashes.end(),
                                    [&](const std::string& hash) { return held.unlabelled.count(hash) > 0; });
  result.tested = judged(recognizer, images);
  result.calibrated = std::any_of(result.tested.begin(), result.tested.end(),
                                  [](const TestedImage& image) { return image.none.has_value(); });
  take_figures(recognizer.class_names(), result);
  return result;
}

void call_as_enrolled(const std::map<std::string, std::string>& names, TestFeatures& images) {
  for (std::string& label : images.labels) label = names.at(label);
}

}  // namespace

TestResult test_recognizer(Recognizer& recognizer, TestFeatures images) {
  call_as_enrolled(names_for(images.labels, recognizer.file()), images);
  const HeldContent held = read_held_content(recognizer.file());
  const std::set<int64_t> enrolled = enrolled_rows(images, held);
  const TestFeatures kept = picked(images, rows_without(images, image_numbers(images, enrolled)));
  const std::string where = recognizer.file().path().string();
  if (kept.labels.empty())
    fail("all {} images are enrolled in {} already: test it with others", images.labels.size(), where);
  TestResult result = result_of(recognizer, kept, held);
  result.already_enrolled = static_cast<int64_t>(enrolled.size());
  if (result.images == 0)
    fail("no image of a class of {} is left to test: {} are enrolled already, {} are of other classes", where,
         result.already_enrolled, result.unknown);
  return result;
}

TestResult test_recognizer(Recognizer& recognizer, const std::vector<EnrolRequest>& classes, Progress& progress) {
  warn_of_unknown_labels(names_of_requests(classes), recognizer.file());
  return test_recognizer(recognizer, gather(recognizer, classes, progress));
}

namespace {

/// One of two recognizers that are compared.
struct Side {
  TestFeatures images;
  HeldContent held;
  std::set<std::string> classes;

  [[nodiscard]] bool has(const std::string& label) const { return classes.count(label) > 0; }
};

Side read_side(Recognizer& recognizer, const std::vector<EnrolRequest>& requests, Progress& progress) {
  const std::vector<std::string> labels = names_of_requests(requests);
  warn_of_unknown_labels(labels, recognizer.file());
  const auto names = names_for(labels, recognizer.file());
  Side side{gather(recognizer, requests, progress), read_held_content(recognizer.file()), {}};
  call_as_enrolled(names, side.images);
  const std::vector<std::string> there = class_names_in(recognizer.file());
  side.classes = {there.begin(), there.end()};
  return side;
}

/// Returns the numbers of images whose class is in only one of the two.
std::set<int64_t> unshared_images(const Side& one, const Side& other) {
  std::set<int64_t> numbers;
  for (size_t i = 0; i < one.images.labels.size(); ++i) {
    if (one.has(one.images.labels[i]) != other.has(one.images.labels[i])) numbers.insert(one.images.numbers[i]);
  }
  return numbers;
}

/// Returns the numbers of images that only the other could read.
std::set<int64_t> missing_in(const Side& one, const Side& other) {
  const std::set<int64_t> there(one.images.numbers.begin(), one.images.numbers.end());
  std::set<int64_t> missing;
  for (const int64_t number : other.images.numbers) {
    if (there.count(number) == 0) missing.insert(number);
  }
  return missing;
}

}  // namespace

ComparedTests compare_recognizers(Recognizer& first, Recognizer& second, const std::vector<EnrolRequest>& classes,
                                  Progress& progress) {
  const Side one = read_side(first, classes, progress), other = read_side(second, classes, progress);
  std::set<int64_t> enrolled = image_numbers(one.images, enrolled_rows(one.images, one.held));
  enrolled.merge(image_numbers(other.images, enrolled_rows(other.images, other.held)));
  std::set<int64_t> left_out = unshared_images(one, other);
  const auto unshared = static_cast<int64_t>(left_out.size());
  left_out.merge(unshared_images(other, one));
  left_out.insert(enrolled.begin(), enrolled.end());
  left_out.merge(missing_in(one, other));
  left_out.merge(missing_in(other, one));
  const auto made = [&](Recognizer& recognizer, const Side& side) {
    const TestFeatures kept = picked(side.images, rows_without(side.images, left_out));
    if (kept.labels.empty() ||
        std::none_of(kept.labels.begin(), kept.labels.end(), [&](const auto& label) { return side.has(label); }))
      fail(
          "no image to test is of a class that both {} and {} have: {} are enrolled in one of them, {} are of a class "
          "that only one has",
          first.file().path().string(), second.file().path().string(), enrolled.size(), unshared);
    TestResult result = result_of(recognizer, kept, side.held);
    result.already_enrolled = static_cast<int64_t>(enrolled.size());
    result.unshared = unshared;
    return result;
  };
  ComparedTests tests{made(first, one), made(second, other), {}};
  tests.comparison = compare_tests(tests.first, tests.second);
  return tests;
}

}  // namespace protocom
