#include <ATen/ATen.h>

#include "http/api.h"
#include "http/multipart.h"
#include "protocom/serve/answer_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Where an example came from is shown without its folder.
json shown_answer(const Answer& answer) {
  json shown = answer_json(answer);
  for (json& item : shown["nearest"]) {
    const std::string source = item["source"];
    item["source"] = source.substr(source.find_last_of('/') + 1);
  }
  return shown;
}

/// The answers in the order of the images; one that could not be read says why.
Response classified(const std::vector<Upload>& images, const Recognised& done) {
  if (done.error) return error_response(*done.error);
  json answers = json::array();
  auto next = done.answers.begin();
  for (const Upload& upload : images) {
    json shown = upload.error.empty() ? shown_answer(*next++) : json{{"error", upload.error}};
    shown["image"] = upload.label;
    answers.push_back(shown);
  }
  for (; next != done.answers.end(); ++next) answers.push_back(shown_answer(*next));  // of features
  return json_response({{"answers", answers}, {"method", done.method}, {"mode", done.mode}});
}

}  // namespace

void Api::classify_features(const Request& request, at::Tensor features, const Respond& respond) {
  Job job;
  job.arrived = request.arrived;
  job.cancellation = request.cancellation;
  job.features = std::move(features);
  job.done = [this, respond](Recognised done) {
    later(respond, [respond, done = std::move(done)] { respond(classified({}, done)); });
  };
  engine_.submit(std::move(job));
}

void Api::classify(const Request& request, const Respond& respond) {
  auto form = std::make_shared<Form>();
  if (media_type(request.content_type) == "application/json") {
    const JsonBody body = read_json_body(request.body, shape_of(request, {"features", "image", "images"}));
    form->images = read_json_images(body.members, uploads(request, {}));
    if (body.features.defined() == !form->images.empty())
      refuse(400, "the body needs the member 'features', or images as base64 in 'image' or 'images'");
    if (body.features.defined()) return classify_features(request, body.features, respond);
  } else {
    *form = read_form(request, uploads(request, {}));
  }
  if (form->images.empty()) refuse(400, "there is no part 'image' in the form");
  check_any_readable(form->images);
  submit(request, form->images, Want::kAnswers, [this, respond, form](Recognised done) {
    later(respond, [respond, form, done = std::move(done)] { respond(classified(form->images, done)); });
  });
}

void Api::add_classify_routes() {
  routes_.push_back({"POST",
                     "/v1/classify",
                     Asks::kRead,
                     {"image/", "application/octet-stream", "multipart/form-data", "application/json"},
                     [this](const Request& request, const Respond& respond) { classify(request, respond); }});
}

}  // namespace protocom::http
