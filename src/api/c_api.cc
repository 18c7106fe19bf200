#include <limits>
#include <new>
#include <string>
#include <vector>

#include "protocom/protocom.h"
#include "protocom/recognizer.h"
#include "protocom/version.h"
#include "recognizer/answer_fields.h"

struct protocom_recognizer {
  protocom::v0::Recognizer recognizer;
};
struct protocom_answers {
  std::vector<protocom::v0::Answer> answers;
  std::vector<std::string> names;
};
struct protocom_classes {
  std::vector<protocom::v0::ClassInfo> classes;
};

namespace protocom::v0 {
namespace {

struct LastError {
  int status = PROTOCOM_OK;
  std::string text;
};

LastError& last_error() {
  static thread_local LastError last;
  return last;
}

/// Keeps the current exception for protocom_error().
int keep_error() noexcept {
  LastError& last = last_error();
  last.status = PROTOCOM_ERROR;
  try {
    try {
      throw;
    } catch (const UsageError& error) {
      last.status = PROTOCOM_USAGE;
      last.text = error.what();
    } catch (const std::exception& error) {
      last.text = error.what();
    }
  } catch (...) {
    last.text.clear();  // no memory for the message
  }
  return last.status;
}

/// Returns the status of `work`.
template <typename Work>
int status_of(const Work& work) noexcept {
  try {
    work();
    return PROTOCOM_OK;
  } catch (...) {
    return keep_error();
  }
}

/// Returns the result of `work`, or null.
template <typename Work>
auto handle_of(const Work& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    keep_error();
    return nullptr;
  }
}

void expect(bool is_there, const char* what) {
  if (!is_there) throw UsageError(std::string(what) + " is a null pointer");
}

Recognizer& opened(protocom_recognizer* recognizer) {
  expect(recognizer != nullptr, "the recognizer");
  return recognizer->recognizer;
}

const char* given_name(const char* class_name) {
  expect(class_name != nullptr, "the name of the class");
  return class_name;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

Image image_of(const protocom_image& given) {
  const int forms = int{given.path != nullptr} + int{given.encoded != nullptr} + int{given.rgb != nullptr};
  if (forms != 1) throw UsageError("set exactly one of an image's path, encoded bytes and rgb");
  if (given.path != nullptr) return {given.path};
  if (given.encoded != nullptr) return Image::encoded(given.encoded, given.encoded_size);
  return Image::rgb(given.rgb, given.height, given.width, given.stride);
}

std::vector<Image> images_of(const protocom_image* images, size_t count) {
  expect(images != nullptr || count == 0, "the list of images");
  std::vector<Image> own;
  for (size_t i = 0; i < count; ++i) own.push_back(image_of(images[i]));
  return own;
}

protocom_answers* handle_for(const Answers& answers) {
  std::vector<std::string> names;
  for (const Answer& answer : answers) names.push_back(answer.name());
  return new protocom_answers{answers.answers, std::move(names)};
}

/// Returns null if there is none.
const Answer* answer_at(const protocom_answers* answers, size_t i) {
  return answers == nullptr || i >= answers->answers.size() ? nullptr : &answers->answers[i];
}

const RankedClass* ranked(const protocom_answers* answers, size_t i, size_t rank) {
  const Answer* answer = answer_at(answers, i);
  return answer == nullptr || rank >= answer->ranking.size() ? nullptr : &answer->ranking[rank];
}

}  // namespace
}  // namespace protocom::v0

using namespace protocom::v0;  // NOLINT: C has no namespaces

const char* protocom_version(void) { return version(); }
const char* protocom_error(void) { return last_error().text.c_str(); }
int protocom_error_status(void) { return last_error().status; }

int protocom_create(const char* path, const protocom_parts* parts) {
  return status_of([&] {
    expect(path != nullptr, "the path");
    expect(parts != nullptr, "the list of parts");
    RecognizerParts own;
    own.backbone = text_of(parts->backbone);
    own.preprocessing = text_of(parts->preprocessing);
    own.fitted = text_of(parts->fitted);
    own.space = text_of(parts->space);
    own.model = text_of(parts->model);
    own.knowledge = text_of(parts->knowledge);
    Recognizer::create(path, own);
  });
}

protocom_recognizer* protocom_open(const char* path, const char* method) {
  return handle_of([&] {
    expect(path != nullptr, "the path");
    RecognizerOptions options;
    options.method = text_of(method);
    return new protocom_recognizer{Recognizer::open(path, options)};
  });
}

void protocom_close(protocom_recognizer* recognizer) { delete recognizer; }

int64_t protocom_dim(const protocom_recognizer* recognizer) {
  return recognizer == nullptr ? 0 : recognizer->recognizer.dim();
}

int protocom_enrol(protocom_recognizer* recognizer, const char* class_name, const protocom_image* images,
                   size_t count) {
  return status_of([&] { opened(recognizer).enrol(given_name(class_name), images_of(images, count)); });
}

int protocom_enrol_features(protocom_recognizer* recognizer, const char* class_name, const float* features,
                            int64_t rows, int64_t dim) {
  return status_of([&] { opened(recognizer).enrol_features(given_name(class_name), {features, rows, dim}); });
}

int protocom_undo(protocom_recognizer* recognizer) {
  return status_of([&] { opened(recognizer).undo(); });
}

int protocom_redo(protocom_recognizer* recognizer) {
  return status_of([&] { opened(recognizer).redo(); });
}

protocom_answers* protocom_classify(protocom_recognizer* recognizer, const protocom_image* images, size_t count) {
  return handle_of([&] { return handle_for(opened(recognizer).classify(images_of(images, count))); });
}

protocom_answers* protocom_classify_features(protocom_recognizer* recognizer, const float* features, int64_t rows,
                                             int64_t dim) {
  return handle_of([&] { return handle_for(opened(recognizer).classify_features({features, rows, dim})); });
}

size_t protocom_answers_count(const protocom_answers* answers) {
  return answers == nullptr ? 0 : answers->answers.size();
}

const char* protocom_answer_name(const protocom_answers* answers, size_t i) {
  return answers == nullptr || i >= answers->names.size() ? "" : answers->names[i].c_str();
}

size_t protocom_answer_ranked(const protocom_answers* answers, size_t i) {
  const Answer* answer = answer_at(answers, i);
  return answer == nullptr ? 0 : answer->ranking.size();
}

const char* protocom_answer_class(const protocom_answers* answers, size_t i, size_t rank) {
  const RankedClass* found = ranked(answers, i, rank);
  return found == nullptr ? "" : found->name.c_str();
}

double protocom_answer_probability(const protocom_answers* answers, size_t i, size_t rank) {
  const RankedClass* found = ranked(answers, i, rank);
  return found == nullptr ? 0 : found->probability;
}

double protocom_answer_number(const protocom_answers* answers, size_t i, const char* field) {
  const Answer* answer = answer_at(answers, i);
  return answer == nullptr || field == nullptr ? std::numeric_limits<double>::quiet_NaN()
                                               : protocom::number_in(*answer, field);
}

int protocom_answer_none_of_these(const protocom_answers* answers, size_t i) {
  const Answer* answer = answer_at(answers, i);
  return answer == nullptr || !answer->none_of_these ? -1 : int{*answer->none_of_these};
}

void protocom_answers_free(protocom_answers* answers) { delete answers; }

protocom_classes* protocom_list_classes(protocom_recognizer* recognizer) {
  return handle_of([&] { return new protocom_classes{opened(recognizer).classes()}; });
}

size_t protocom_classes_count(const protocom_classes* classes) {
  return classes == nullptr ? 0 : classes->classes.size();
}

const char* protocom_class_name(const protocom_classes* classes, size_t i) {
  return classes == nullptr || i >= classes->classes.size() ? "" : classes->classes[i].name.c_str();
}

int64_t protocom_class_images(const protocom_classes* classes, size_t i) {
  return classes == nullptr || i >= classes->classes.size() ? 0 : classes->classes[i].images;
}

void protocom_classes_free(protocom_classes* classes) { delete classes; }
