#include "recognizer/recognizer.h"

#include <ATen/ATen.h>

#include <mutex>

#include "api/detail/boundary.h"
#include "api/detail/images.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "images/image_files.h"
#include "protocom/recognizer.h"
#include "recognizer/class_words.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/enrol_requests.h"

namespace protocom::v0 {
namespace {

constexpr size_t kDecodedAtOnce = 64;

Answers answers_of(std::vector<Answer> answers) { return {std::move(answers), {}}; }

protocom::ClassRequest request_of(const std::string& name, const std::vector<std::string>& attributes) {
  protocom::ClassRequest request;
  request.name = name;
  request.attributes = attributes;
  return request;
}

}  // namespace

void check_options(const RecognizerOptions& given) {
  constexpr int64_t kMost = 10'000;
  for (const auto& [name, value, least] : {std::tuple("top", given.top, int64_t{1}),
                                           {"batch", given.batch, 1},
                                           {"nearest", given.nearest, 0},
                                           {"attributes", given.attributes, 0}}) {
    if (value < least || value > kMost) fail_usage("{} should be {} to {}, found {}", name, least, kMost, value);
  }
}

/// One call after the other; what is constant is read without waiting.
struct Recognizer::Impl {
  static const RecognizerOptions& checked(const RecognizerOptions& options) {
    check_options(options);
    return options;
  }

  Impl(const std::string& at, const RecognizerOptions& options)
      : path(at), recognizer(protocom::Recognizer::open(at, checked(options))) {
    preprocessing = recognizer.file().settings().preprocessing;
    dim = recognizer.file().settings().feature_dim;
  }

  std::string path;
  std::mutex mutex;
  protocom::Recognizer recognizer;
  Preprocessing preprocessing;
  int64_t dim = 0;

  template <typename Work>
  auto call(const Work& work) -> decltype(work(recognizer)) {
    return guarded([&] {
      const std::lock_guard lock(mutex);
      return work(recognizer);
    });
  }

  [[nodiscard]] at::Tensor rows_of(const Rows& features) const {
    if (features.dim() != dim)
      fail("features should have {} numbers each, as the recognizer's encoder makes them; found {}", dim,
           features.dim());
    return tensor_of(features, "features");
  }

  /// float32 [n, d]. Decodes without the lock.
  at::Tensor features_of(const std::vector<Image>& images) {
    if (images.empty()) fail("there is no image");
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < images.size(); i += kDecodedAtOnce) {
      const auto begin = images.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = images.begin() + static_cast<std::ptrdiff_t>(std::min(i + kDecodedAtOnce, images.size()));
      std::vector<SquareImage> squares = square_images({begin, end}, preprocessing);
      const std::lock_guard lock(mutex);
      parts.push_back(recognizer.features_of(take_images(squares)));
    }
    return at::cat(parts);
  }

  protocom::NewExamples examples_of(const std::vector<Image>& images) {
    std::vector<SquareImage> squares = square_images(images, preprocessing);
    protocom::NewExamples examples;
    const std::lock_guard lock(mutex);
    for (const SquareImage& image : squares) {
      examples.hashes.push_back(image.hash);
      examples.sources.push_back(image.source);
      examples.thumbnails.push_back(recognizer.thumbnail_of(image.image));
    }
    if (!squares.empty()) examples.features = recognizer.features_of(take_images(squares));
    return examples;
  }

  Enrolment enrol(const protocom::ClassRequest& request, protocom::NewExamples examples) {
    const std::lock_guard lock(mutex);
    protocom::ClassEnrolment enrolment = recognizer.describe(request);
    enrolment.examples = std::move(examples);
    Enrolment done;
    done.classes = recognizer.file().enrol({enrolment});
    return done;
  }

  /// What `read` gives, if that is of any use.
  template <typename Read>
  int64_t add_unlabelled(const Read& read) {
    return guarded([&] {
      call([](const protocom::Recognizer& own) { own.check_learns_from_unlabelled(); });
      const protocom::NewExamples examples = read();
      return call([&](protocom::Recognizer& own) { return own.file().add_unlabelled(examples); });
    });
  }
};

Recognizer::Recognizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recognizer::~Recognizer() = default;
Recognizer::Recognizer(Recognizer&& other) noexcept = default;
Recognizer& Recognizer::operator=(Recognizer&& other) noexcept = default;

Recognizer Recognizer::open(const std::string& path, const RecognizerOptions& options) {
  return guarded([&] { return Recognizer(std::make_unique<Impl>(path, options)); });
}

Recognizer Recognizer::create(const std::string& path, const RecognizerParts& parts, const RecognizerOptions& options,
                              const Progress& progress) {
  return guarded([&] {
    check_options(options);
    CallerProgress reported(progress);
    Provenance provenance;
    provenance.command = "recognizer create";
    create_recognizer(path, parts, provenance, reported);
    return open(path, options);
  });
}

Answer Recognizer::classify(const Image& image) {
  Answers answers = classify(std::vector<Image>{image});
  Answer answer = std::move(answers.answers.front());
  answer.warnings = std::move(answers.warnings);
  return answer;
}

Answers Recognizer::classify(const std::vector<Image>& images) {
  return with_warnings([&] {
    const at::Tensor features = impl_->features_of(images);
    return impl_->call([&](protocom::Recognizer& own) { return answers_of(own.classify_features(features)); });
  });
}

Answers Recognizer::classify_features(const Rows& features) {
  return with_warnings([&] {
    const at::Tensor rows = impl_->rows_of(features);
    return impl_->call([&](protocom::Recognizer& own) { return answers_of(own.classify_features(rows)); });
  });
}

Matrix Recognizer::features_of(const std::vector<Image>& images) {
  return guarded([&] { return matrix_of(impl_->features_of(images)); });
}

Enrolment Recognizer::enrol(const std::string& class_name, const std::vector<Image>& images,
                            const std::vector<std::string>& attributes) {
  return with_warnings([&] { return impl_->enrol(request_of(class_name, attributes), impl_->examples_of(images)); });
}

Enrolment Recognizer::enrol_described(const std::string& class_name, const std::vector<std::string>& descriptions,
                                      const TextEncoder& encoder, const std::vector<Image>& images) {
  return with_warnings([&] {
    if (descriptions.empty()) fail_usage("class '{}' is described by no text", class_name);
    protocom::ClassRequest request = request_of(class_name, {});
    describe_in_words(encoder.impl().encoder, descriptions, request);
    return impl_->enrol(request, impl_->examples_of(images));
  });
}

Enrolment Recognizer::enrol_features(const std::string& class_name, const Rows& features,
                                     const std::vector<std::string>& attributes) {
  return with_warnings([&] {
    return impl_->enrol(request_of(class_name, attributes),
                        examples_of_features(impl_->rows_of(features).clone(), "memory"));
  });
}

Enrolment Recognizer::enrol_folder(const std::string& folder, const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    const std::vector<protocom::EnrolRequest> requests = requests_of_folder(folder, "enrol_folder");
    return impl_->call([&](protocom::Recognizer& own) { return own.enrol(requests, reported); });
  });
}

int64_t Recognizer::add_unlabelled(const std::vector<Image>& images) {
  return impl_->add_unlabelled([&] { return impl_->examples_of(images); });
}

int64_t Recognizer::add_unlabelled_features(const Rows& features) {
  return impl_->add_unlabelled([&] { return examples_of_features(impl_->rows_of(features).clone(), "memory"); });
}

int64_t Recognizer::unlabelled() const {
  return impl_->call([](const protocom::Recognizer& own) { return own.file().count_unlabelled(); });
}

int64_t Recognizer::remove_unlabelled() {
  return impl_->call([](protocom::Recognizer& own) { return own.file().remove_all_unlabelled(); });
}

std::vector<ClassInfo> Recognizer::classes() const {
  return impl_->call([](const protocom::Recognizer& own) { return own.file().list_classes(); });
}

std::vector<ExampleInfo> Recognizer::examples(const std::string& class_name) const {
  return impl_->call([&](const protocom::Recognizer& own) { return own.file().list_examples(class_name); });
}

void Recognizer::rename(const std::string& class_name, const std::string& new_name) {
  impl_->call([&](protocom::Recognizer& own) { own.file().rename_class(class_name, new_name); });
}

void Recognizer::merge(const std::string& class_name, const std::string& into) {
  impl_->call([&](protocom::Recognizer& own) { own.file().merge_class(class_name, into); });
}

void Recognizer::remove(const std::string& class_name) {
  impl_->call([&](protocom::Recognizer& own) { own.file().remove_class(class_name); });
}

void Recognizer::remove_examples(const std::vector<int64_t>& ids) {
  impl_->call([&](protocom::Recognizer& own) { own.file().remove_examples(ids); });
}

std::string Recognizer::undo() {
  return impl_->call([](protocom::Recognizer& own) { return own.file().undo().what; });
}

std::string Recognizer::redo() {
  return impl_->call([](protocom::Recognizer& own) { return own.file().redo().what; });
}

Calibration Recognizer::calibrate(const std::vector<Image>& others, std::optional<double> false_accept,
                                  const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    const at::Tensor strangers = others.empty() ? at::Tensor() : impl_->features_of(others);
    protocom::CalibrationOptions options;
    options.false_accept = false_accept;
    return impl_->call([&](protocom::Recognizer& own) { return own.calibrate_on(strangers, options, reported); });
  });
}

std::optional<Calibration> Recognizer::calibration() const {
  return impl_->call([](protocom::Recognizer& own) { return std::optional<Calibration>(own.calibration()); });
}

ExpectedAccuracy Recognizer::expected_accuracy(const Progress& progress) {
  CallerProgress reported(progress);
  return impl_->call([&](protocom::Recognizer& own) { return own.expected_accuracy(reported); });
}

std::string Recognizer::method() const {
  return impl_->call([](protocom::Recognizer& own) { return own.method().label(); });
}

int64_t Recognizer::dim() const { return impl_->dim; }
std::string Recognizer::path() const { return impl_->path; }

}  // namespace protocom::v0
