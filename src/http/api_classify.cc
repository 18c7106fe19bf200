#include <ATen/ATen.h>

#include "http/api.h"
#include "http/multipart.h"

namespace protocom::http {
namespace {

using nlohmann::json;

json answer_json(const Answer& answer) {
  json shown = {{"ranking", json::array()},
                {"none_of_these", nullptr},
                {"attributes", json::array()},
                {"nearest", json::array()}};
  shown["familiarity"] = answer.familiarity;
  if (answer.none_of_these) shown["none_of_these"] = *answer.none_of_these;
  for (const RankedClass& one : answer.ranking)
    shown["ranking"].push_back({{"class", one.name}, {"probability", one.probability}});
  for (const TellingAttribute& one : answer.attributes)
    shown["attributes"].push_back({{"attribute", one.name}, {"effect", one.effect}});
  for (const NearExample& one : answer.nearest) {
    shown["nearest"].push_back({{"example", one.id},
                                {"class", one.class_name},
                                {"source", one.source.substr(one.source.find_last_of('/') + 1)},
                                {"similarity", one.similarity}});
  }
  return shown;
}

/// The answers in the order of the images; one that could not be read says why.
Response classified(const std::vector<Upload>& images, const Recognised& done) {
  if (done.error) return error_response(*done.error);
  json answers = json::array();
  auto next = done.answers.begin();
  for (const Upload& one : images) {
    json shown = one.error.empty() ? answer_json(*next++) : json{{"error", one.error}};
    shown["image"] = one.label;
    answers.push_back(shown);
  }
  for (; next != done.answers.end(); ++next) answers.push_back(answer_json(*next));  // of features
  return json_response({{"answers", answers}, {"method", done.method}, {"mode", done.mode}});
}

}  // namespace

void Api::classify(const Request& request, const Respond& respond) {
  if (media_type(request.content_type) == "application/json") {
    const json body = parse_object(request.body, {"features"});
    if (!body.contains("features")) refuse(400, "the body needs the member 'features'");
    Job job;
    job.features = features_in(body, "features", {settings_.feature_dim, options_.limits.rows});
    job.done = [this, respond](Recognised done) {
      later(respond, [respond, done = std::move(done)] { respond(classified({}, done)); });
    };
    return engine_.submit(std::move(job));
  }
  auto form = std::make_shared<Form>(read_form(request, uploads({})));
  if (form->images.empty()) refuse(400, "there is no part 'image' in the form");
  check_any_readable(form->images);
  submit(form->images, Want::kAnswers, [this, respond, form](Recognised done) {
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
