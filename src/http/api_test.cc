#include "http/detail/api.h"

#include "base/json_text.h"
#include "http/detail/exclusive_job.h"
#include "http/detail/multipart.h"
#include "recognizer/test_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Texts that stand as a JSON list in a field of a form. 64 parts, of names of 200 bytes that may be escaped sixfold,
/// take less than the limit; a field of a form's size would take thirty times as much memory once it is read.
json parse_list(const char* name, const std::string& text) {
  constexpr size_t kMostBytes = size_t{128} << 10;
  if (text.size() > kMostBytes) refuse(413, "'{}' has at most {} KiB", name, kMostBytes >> 10);
  return json_from_text(text);
}

/// The right class of each image or feature, or what it is called.
std::vector<std::string> texts_in(const json& list, const char* name, const char* what, size_t count) {
  if (!list.is_array()) refuse(400, "'{}': expected a list of strings", name);
  std::vector<std::string> texts;
  for (const json& text : list) {
    if (!text.is_string()) refuse(400, "an element of '{}' is not a string", name);
    check_label(text.get_ref<const std::string&>(), what);
    texts.push_back(text.get<std::string>());
  }
  if (texts.size() != count)
    refuse(400, "'{}': expected one per image, found {} for {} images", name, texts.size(), count);
  return texts;
}

/// Labelled images, or features in their place.
struct Labelled {
  Sent sent;
  std::vector<std::string> labels;
  std::vector<std::string> names;  ///< what each is called

  [[nodiscard]] size_t size() const {
    return sent.features.defined() ? static_cast<size_t>(sent.features.size(0)) : sent.images.size();
  }
};

/// The value of this name in the form or the JSON; null: none.
json said(const Sent& sent, const char* name) {
  const auto field = sent.fields.find(name);
  if (field != sent.fields.end()) return parse_list(name, field->second);
  return sent.members.is_object() ? sent.members.value(name, json()) : json();
}

Labelled read_labelled(const Request& request, const UploadOptions& options, const JsonShape& shape) {
  Labelled read;
  read.sent = read_sent(request, options, shape);
  if (read.size() == 0) refuse(400, "give labelled images or features");
  const json labels = said(read.sent, "labels"), names = said(read.sent, "names");
  if (labels.is_null()) refuse(400, "give 'labels', a list of the right class of each image");
  read.labels = texts_in(labels, "labels", "a class's name", read.size());
  for (const std::string& label : read.labels) class_name_in(label);  // refuses what no class can be called
  if (names.is_null()) {
    read.names.assign(read.size(), "");
    for (size_t i = 0; i < read.sent.images.size(); ++i) read.names[i] = read.sent.images[i].label;
  } else {
    read.names = texts_in(names, "names", "the name of an image", read.size());
  }
  return read;
}

/// Those that could be read; `features` are theirs.
TestFeatures test_features(const Labelled& read, const Array& features) {
  TestFeatures images;
  images.examples.features = features;
  for (size_t i = 0; i < read.size(); ++i) {
    const bool is_feature = read.sent.features.defined();
    if (!is_feature && !read.sent.images[i].error.empty()) continue;
    const auto row = static_cast<int64_t>(images.labels.size());
    images.labels.push_back(read.labels[i]);
    images.examples.sources.push_back(read.names[i]);
    images.examples.hashes.push_back(is_feature ? hash_of_feature(features.row(row)) : read.sent.images[i].hash);
    images.numbers.push_back(static_cast<int64_t>(i));
  }
  return images;
}

}  // namespace

json Api::tested_on(const Request& request, TestFeatures images) {
  const ExclusiveJob job(calibrates_);
  with_editor(request, [](const Recognizer& editor) { return editor.file().revision(); });  // it is the one served
  // A separate recognizer: the others keep answering.
  Recognizer recognizer = Recognizer::open(path_, options_.recognizing);
  request.cancellation->check();
  json shown = refusing(409, [&] { return test_json(test_recognizer(recognizer, std::move(images))); });
  for (const char* of_files : {"recognizer", "skipped", "unshared", "unreadable"}) shown.erase(of_files);
  return shown;
}

void Api::test(const Request& request, const Respond& respond) {
  const auto read =
      std::make_shared<Labelled>(read_labelled(request, uploads(request, {"labels", "names"}),
                                               shape_of(request, {"features", "image", "images", "labels", "names"})));
  with_features(request, read->sent, respond, [this, read, respond](const Request& now, const Array& features) {
    json shown = tested_on(now, test_features(*read, features));
    shown["unreadable"] = unreadable_json(read->sent.images);
    respond(json_response(shown));
  });
}

}  // namespace protocom::http
