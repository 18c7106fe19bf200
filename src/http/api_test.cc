#include "http/detail/api.h"

#include <algorithm>

#include "recognizer/results_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Labelled images, or features instead.
struct Labelled {
  Sent sent;
  std::vector<std::string> labels;
  std::vector<std::string> names;  ///< name of each

  [[nodiscard]] size_t size() const {
    return sent.features.defined() ? static_cast<size_t>(sent.features.size(0)) : sent.images.size();
  }
  [[nodiscard]] bool has_boxes() const {
    return std::any_of(sent.images.begin(), sent.images.end(), [](const Upload& one) { return one.box.has_value(); });
  }
};

/// Returns one text, such as the right class, for each image or feature; of images with boxes for each image, whose
/// boxes share it, or for each box.
std::vector<std::string> texts_in(const json& list, const char* name, const char* what, const Labelled& read) {
  const std::vector<std::string> texts = strings_of(list, name);
  for (const std::string& text : texts) check_label(text, what);
  if (texts.size() == read.size()) return texts;
  const size_t images = read.sent.images.empty() ? read.size() : read.sent.images.back().number + 1;
  if (texts.size() != images)
    refuse(400, "'{}': expected one per image{}, found {} for {} images", name, read.has_boxes() ? " or box" : "",
           texts.size(), images);
  std::vector<std::string> of_boxes;
  for (const Upload& box : read.sent.images) of_boxes.push_back(texts[box.number]);
  return of_boxes;
}

/// Returns the classes that a file of boxes states for its boxes; none: it states none.
std::vector<std::string> classes_of_boxes(const std::vector<Upload>& images) {
  std::vector<std::string> classes;
  for (const Upload& image : images) {
    if (image.error.empty() && image.kind.empty()) return {};
    classes.push_back(image.kind);
  }
  return classes;
}

Labelled labelled_of(Sent sent) {
  Labelled read;
  read.sent = std::move(sent);
  if (read.size() == 0) refuse(400, "give labelled images or features");
  const auto labels = read.sent.find("labels"), names = read.sent.find("names");
  read.labels = labels ? texts_in(*labels, "labels", "a class's name", read) : classes_of_boxes(read.sent.images);
  if (read.labels.empty()) refuse(400, "give 'labels', a list of the right class of each image");
  for (size_t i = 0; i < read.size(); ++i) {  // throws for an invalid class name; unreadable boxes may have none
    if (labels || !read.labels[i].empty()) class_name_in(read.labels[i]);
  }
  if (!names || names->is_null()) {
    read.names.assign(read.size(), "");
    for (size_t i = 0; i < read.sent.images.size(); ++i) read.names[i] = read.sent.images[i].label;
  } else {
    read.names = texts_in(*names, "names", "the name of an image", read);
  }
  for (size_t i = 0; i < read.sent.images.size(); ++i)
    read.names[i] = name_of({read.names[i], read.sent.images[i].box}).string();
  return read;
}

/// Returns the readable ones; `features` are theirs.
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
  json shown = with_own_recognizer(request, measures_, [&](Recognizer& recognizer) {
    request.cancellation->check();
    return test_json(test_recognizer(recognizer, std::move(images)));
  });
  for (const char* of_files : {"recognizer", "skipped", "unshared", "unreadable"}) shown.erase(of_files);
  return shown;
}

void Api::test(const Request& request, const Respond& respond) {
  const auto labelled = std::make_shared<Labelled>(labelled_of(read(request, with_box_fields({"labels", "names"}))));
  with_features(request, labelled->sent, respond, [this, labelled, respond](const Request& now, const Array& features) {
    run_in(long_work_, respond, [this, labelled, respond, now, features] {
      json shown = tested_on(now, test_features(*labelled, features));
      shown["unreadable"] = unreadable_json(labelled->sent.images);
      respond(json_response(shown));
    });
  });
}

}  // namespace protocom::http
