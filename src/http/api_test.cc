#include "http/detail/api.h"

#include "recognizer/results_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Returns the right class of each image or feature, or its name.
std::vector<std::string> texts_in(const json& list, const char* name, const char* what, size_t count) {
  std::vector<std::string> texts = strings_of(list, name);
  for (const std::string& text : texts) check_label(text, what);
  if (texts.size() != count)
    refuse(400, "'{}': expected one per image, found {} for {} images", name, texts.size(), count);
  return texts;
}

/// Labelled images, or features instead.
struct Labelled {
  Sent sent;
  std::vector<std::string> labels;
  std::vector<std::string> names;  ///< name of each

  [[nodiscard]] size_t size() const {
    return sent.features.defined() ? static_cast<size_t>(sent.features.size(0)) : sent.images.size();
  }
};

Labelled labelled_of(Sent sent) {
  Labelled read;
  read.sent = std::move(sent);
  if (read.size() == 0) refuse(400, "give labelled images or features");
  const auto labels = read.sent.find("labels"), names = read.sent.find("names");
  if (!labels) refuse(400, "give 'labels', a list of the right class of each image");
  read.labels = texts_in(*labels, "labels", "a class's name", read.size());
  for (const std::string& label : read.labels) class_name_in(label);  // throws for an invalid class name
  if (!names || names->is_null()) {
    read.names.assign(read.size(), "");
    for (size_t i = 0; i < read.sent.images.size(); ++i) read.names[i] = read.sent.images[i].label;
  } else {
    read.names = texts_in(*names, "names", "the name of an image", read.size());
  }
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
  const auto labelled = std::make_shared<Labelled>(labelled_of(read(request, {"labels", "names"})));
  with_features(request, labelled->sent, respond, [this, labelled, respond](const Request& now, const Array& features) {
    run_in(long_work_, respond, [this, labelled, respond, now, features] {
      json shown = tested_on(now, test_features(*labelled, features));
      shown["unreadable"] = unreadable_json(labelled->sent.images);
      respond(json_response(shown));
    });
  });
}

}  // namespace protocom::http
