#include "protocom/recognizer.h"

#include "api/detail/boundary.h"
#include "api/detail/images.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "recognizer/class_words.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/export_onnx.h"
#include "recognizer/series.h"
#include "recognizer/shared_recognizer.h"

namespace protocom::v0 {
namespace {

Answers answers_of(std::vector<Answer> answers) { return {std::move(answers), {}}; }

Answer only_one(Answers answers) {
  Answer answer = std::move(answers.answers.front());
  answer.warnings = std::move(answers.warnings);
  return answer;
}

ClassToDescribe described(const ClassRequest& one_class, const TextEncoder* encoder) {
  ClassToDescribe request{one_class};
  if (encoder != nullptr) describe_in_words(encoder->impl().encoder, request);
  return request;
}

}  // namespace

void check_options(const RecognizerOptions& given) {
  constexpr int64_t kMost = 10'000;
  for (const auto& [name, value, least] : {std::tuple("top", given.top, int64_t{1}),
                                           {"batch", given.batch, 1},
                                           {"nearest", given.nearest, 0},
                                           {"attributes", given.attributes, 0}}) {
    if (value < least || value > kMost)
      fail_usage("{}: expected a whole number from {} to {}, found {}", name, least, kMost, value);
  }
  for (const auto& [name, share] : {std::pair("coverage", given.coverage), {"roll_up", given.roll_up}}) {
    if (share && !(*share > 0 && *share < 1))
      fail_usage("{}: expected a number between 0 and 1, found {}", name, *share);
  }
}

struct Recognizer::Impl {
  Impl(const std::string& at, const RecognizerOptions& options) : path(at), shared(at, checked(options)) {}

  static const RecognizerOptions& checked(const RecognizerOptions& options) {
    check_options(options);
    return options;
  }

  [[nodiscard]] NewExamples examples_of(const Rows& features) const {
    return shared.examples_of(array_of(features, "features"));
  }

  std::string path;
  SharedRecognizer shared;
  Enrolment first = {};  // result of create()

  template <typename Work>
  auto call(const Work& work) -> decltype(shared.call(work)) {
    return guarded([&] { return shared.call(work); });
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
    const Collected collected;
    CallerProgress reported(progress);
    Provenance provenance;
    provenance.command = "recognizer create";
    std::optional<Enrolment> done = create_recognizer(path, parts, provenance, reported);
    Recognizer made = open(path, options);
    if (done) made.impl_->first = std::move(*done);
    made.impl_->first.warnings = collected.warnings();
    return made;
  });
}

const Enrolment& Recognizer::first_enrolment() const { return impl_->first; }

Answer Recognizer::classify(const Image& image) { return only_one(classify(std::vector<Image>{image})); }

Answers Recognizer::classify(const std::vector<Image>& images) {
  return with_warnings([&] { return answers_of(impl_->shared.classify(impl_->shared.features_of(given(images)))); });
}

Answers Recognizer::classify_features(const Rows& features) {
  return with_warnings([&] { return answers_of(impl_->shared.classify(array_of(features, "features"))); });
}

Matrix Recognizer::features_of(const std::vector<Image>& images) {
  return guarded([&] { return matrix_of(impl_->shared.features_of(given(images))); });
}

Enrolment Recognizer::enrol(const ClassRequest& one_class, const std::vector<Image>& images,
                            const TextEncoder* encoder) {
  return with_warnings(
      [&] { return impl_->shared.enrol(described(one_class, encoder), impl_->shared.examples_of(given(images))); });
}

Enrolment Recognizer::enrol_features(const ClassRequest& one_class, const Rows& features, const TextEncoder* encoder) {
  return with_warnings(
      [&] { return impl_->shared.enrol(described(one_class, encoder), impl_->examples_of(features)); });
}

Enrolment Recognizer::enrol(const EnrolSources& sources, const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    return impl_->shared.enrol(sources, reported);
  });
}

int64_t Recognizer::add_unlabelled(const std::vector<Image>& images) {
  return guarded([&] {
    impl_->shared.check_learns_from_unlabelled();
    return impl_->shared.add_unlabelled(impl_->shared.examples_of(given(images)));
  });
}

int64_t Recognizer::add_unlabelled_features(const Rows& features) {
  return guarded([&] { return impl_->shared.add_unlabelled(impl_->examples_of(features)); });
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

void Recognizer::confirm_examples(const std::vector<int64_t>& ids) {
  impl_->call([&](protocom::Recognizer& own) { own.file().confirm_examples(ids); });
}

int64_t Recognizer::move_examples(const std::vector<int64_t>& ids, const std::string& class_name) {
  return impl_->call([&](protocom::Recognizer& own) { return own.file().move_examples(ids, class_name); });
}

std::string Recognizer::undo() {
  return impl_->call([](protocom::Recognizer& own) { return own.file().undo().what; });
}

std::string Recognizer::redo() {
  return impl_->call([](protocom::Recognizer& own) { return own.file().redo().what; });
}

Calibration Recognizer::calibrate(const std::vector<Image>& others, const CalibrateOptions& given_options,
                                  const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    CalibrationOptions options;
    static_cast<CalibrateOptions&>(options) = given_options;
    const Array unknown = others.empty() ? Array() : impl_->shared.features_of(given(others));
    return impl_->shared.calibrate(unknown, options, reported);
  });
}

std::optional<Calibration> Recognizer::calibration() const {
  return impl_->call([](protocom::Recognizer& own) { return std::optional<Calibration>(own.calibration()); });
}

ExpectedAccuracy Recognizer::expected_accuracy(const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    return impl_->shared.call([&](protocom::Recognizer& own) { return own.expected_accuracy(reported); });
  });
}

TestResult Recognizer::test(const std::vector<Image>& images, const std::vector<std::string>& labels) {
  return with_warnings([&] {
    SharedRecognizer::check_one_label_an_image(labels.size(), images.size());
    return impl_->shared.test(impl_->shared.examples_of(given(images)), labels);
  });
}

TestResult Recognizer::test_features(const Rows& features, const std::vector<std::string>& labels) {
  return with_warnings([&] { return impl_->shared.test(impl_->examples_of(features), labels); });
}

TestResult Recognizer::test(const EnrolSources& sources, const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    return impl_->shared.test(sources, reported);
  });
}

LabelCheck Recognizer::check_labels(const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    return impl_->shared.call([&](protocom::Recognizer& own) { return own.check_labels(reported); });
  });
}

Suggestions Recognizer::suggest(const std::vector<Image>& images, int64_t count) {
  return with_warnings([&] { return impl_->shared.suggest(impl_->shared.examples_of(given(images)), count); });
}

Suggestions Recognizer::suggest_features(const Rows& features, int64_t count) {
  return with_warnings([&] { return impl_->shared.suggest(impl_->examples_of(features), count); });
}

Answer Recognizer::classify_series(const std::vector<Image>& images) {
  return only_one(with_warnings([&] {
    return answers_of(impl_->shared.classify(protocom::mean_feature(impl_->shared.features_of(given(images)))));
  }));
}

OnnxExport Recognizer::export_onnx(const std::string& path, const OnnxExportOptions& options) {
  return with_warnings([&] {
    return impl_->shared.call([&](protocom::Recognizer& own) { return protocom::export_onnx(own, path, options); });
  });
}

std::string Recognizer::method() const {
  return impl_->call([](protocom::Recognizer& own) { return own.method().label(); });
}

int64_t Recognizer::dim() const { return impl_->shared.settings().feature_dim; }
std::string Recognizer::path() const { return impl_->path; }

}  // namespace protocom::v0
