#include <ATen/ATen.h>

#include "http/api.h"
#include "http/multipart.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// What a request says of a class: images, or features, and attributes.
struct Enrolling {
  ClassRequest request;
  std::vector<Upload> images;
  at::Tensor features;  // [n, d] instead of images; may be undefined
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!word.empty()) words.push_back(word);
    begin = end + 1;
  }
  for (const std::string& word : words) check_label(word, "an attribute");
  return words;
}

Enrolling read_enrolling(const Request& request, const UploadOptions& options, const JsonShape& shape) {
  Enrolling read;
  read.request.name = request.parameters.at("class");
  check_label(read.request.name, "a class's name");
  if (media_type(request.content_type) == "application/json") {
    const JsonBody body = read_json_body(request.body, shape);
    read.features = body.features;
    read.images = read_json_images(body.members, options);
    if (read.features.defined() && !read.images.empty()) refuse(400, "give either 'features' or images, not both");
    check_any_readable(read.images);
    if (body.members.contains("attributes")) take_attributes(body.members, "attributes", read.request);
    return read;
  }
  Form form = read_form(request, options);
  read.images = std::move(form.images);
  if (form.fields.count("attributes") > 0) read.request.attributes = split(form.fields.at("attributes"));
  check_any_readable(read.images);
  return read;
}

NewExamples examples_of(const Enrolling& what, const at::Tensor& features, const Recognizer& recognizer) {
  NewExamples examples;
  if (!features.defined()) return examples;
  examples.features = features;
  for (int64_t i = 0; what.features.defined() && i < features.size(0); ++i)
    examples.hashes.push_back(hash_of_feature(features[i]));
  for (const Upload& upload : what.images) {
    if (!upload.error.empty()) continue;
    examples.hashes.push_back(upload.hash);
    examples.sources.push_back(upload.label);
    examples.thumbnails.push_back(recognizer.thumbnail_of(upload.image));
  }
  return examples;
}

json unreadable_of(const std::vector<Upload>& images) {
  json list = json::array();
  for (size_t i = 0; i < images.size(); ++i) {
    if (!images[i].error.empty())
      list.push_back({{"number", i}, {"image", images[i].label}, {"reason", images[i].error}});
  }
  return list;
}

Response add_to_file(Recognizer& recognizer, const Enrolling& what, const at::Tensor& features) {
  ClassEnrolment enrolment = recognizer.describe(what.request);
  enrolment.examples = examples_of(what, features, recognizer);
  const Enrolled done = recognizer.file().enrol({enrolment}).front();
  return json_response({{"class", done.now.name},
                        {"is_new", done.is_new},
                        {"added", done.added},
                        {"images", done.now.images},
                        {"unreadable", unreadable_of(what.images)},
                        {"change", change_json(recognizer.file().last_made())}},
                       done.is_new ? 201 : 200);
}

}  // namespace

void Api::enrol(const Request& request, const Respond& respond) {
  const JsonShape shape = shape_of(request, {"features", "image", "images", "attributes"});
  auto what = std::make_shared<Enrolling>(read_enrolling(request, uploads(request, {"attributes"}), shape));
  if (what->images.empty() && !what->features.defined() && what->request.attributes.empty())
    refuse(400, "give images, features or attributes of the class");
  if (!what->request.attributes.empty()) check_class(request, what->request);
  const auto add = [this, what, respond](const Request& now, const at::Tensor& features) {
    respond(with_editor(now, [&](Recognizer& editor) { return add_to_file(editor, *what, features); }));
  };
  if (what->images.empty()) return add(request, what->features);
  submit(request, what->images, Want::kFeatures, [this, respond, add](Recognised done) {
    if (done.error) return respond(error_response(*done.error));
    later(respond, [add, now = Request(), features = done.features] { add(now, features); });
  });
}

nlohmann::json Api::remove_example(const Request& request) {
  const int64_t id = id_of(request.parameters.at("example"));
  return with_editor(request, [&](Recognizer& editor) {
    example_or_404(editor.file(), id);
    refusing(409, [&] { editor.file().remove_examples({id}); });
    return nlohmann::json{{"change", change_json(editor.file().last_made())}};
  });
}

Response Api::thumbnail(const Request& request) {
  const int64_t id = id_of(request.parameters.at("example"));
  const std::string jpeg = with_editor(request, [&](const Recognizer& editor) {
    example_or_404(editor.file(), id);
    return editor.file().thumbnail(id);
  });
  if (jpeg.empty()) refuse(404, "no picture of example {} was kept", id);
  return {200, "image/jpeg", jpeg};
}

void Api::add_example_routes() {
  handle("enrol", [this](const Request& request, const Respond& respond) { enrol(request, respond); });
  answer_with("removeExample", &Api::remove_example);
  handle("showThumbnail", [this](const Request& request, const Respond& respond) { respond(thumbnail(request)); });
}

}  // namespace protocom::http
