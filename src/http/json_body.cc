#include "http/json_body.h"

#include <ATen/ATen.h>

#include "http/http_error.h"
#include "http/target.h"
#include "protocom/core/error.h"
#include "protocom/core/feature_values.h"
#include "protocom/core/json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr size_t kLongestLabel = 200;

/// nlohmann::json keeps the last of two members of one name without a word.
void check_members_once(const std::string& body) {
  std::vector<std::set<std::string>> open;
  const auto look = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      refuse(400, "the body says a member twice");
    return true;
  };
  const json ignored = json::parse(body, look);
}

void check_members(const json& object, const std::set<std::string>& known, const std::string& what) {
  for (const auto& [name, value] : object.items()) {
    if (known.count(name) == 0)
      refuse(400, "{} has a member '{}', expected {}", what, excerpt(name), fmt::join(known, " or "));
  }
}

/// How much a class has of an attribute.
float weight_in(const json& attribute) {
  const json weight = attribute.value("weight", json(1.0));
  const double value = weight.is_number() ? weight.get<double>() : 0;
  if (!(value > 0 && value <= 1)) refuse(400, "a 'weight' has to lie between 0 and 1");
  return static_cast<float>(value);
}

/// One feature from an array of numbers.
void take_row(const json& row, int64_t dim, float* to) {
  if (!row.is_array() || static_cast<int64_t>(row.size()) != dim)
    refuse(400, "a feature has to be a list of {} numbers", dim);
  for (const json& value : row) {
    if (!value.is_number()) refuse(400, "a feature has to be a list of {} numbers", dim);
    *to++ = static_cast<float>(value.get<double>());  // parse_json lets no number through that float32 has not
  }
}

}  // namespace

json parse_object(const std::string& body, const std::set<std::string>& known) {
  json object;
  try {
    object = parse_json(body, "the body");
    check_members_once(body);
  } catch (const Error& error) {
    refuse(400, "{}", error.what());
  }
  if (!object.is_object()) refuse(400, "the body has to be a JSON object");
  check_members(object, known, "the body");
  return object;
}

void check_label(const std::string& text, const std::string& what) {
  if (text.empty() || text.size() > kLongestLabel || !is_plain_text(text))
    refuse(400, "{} has to be 1 to {} bytes of UTF-8 without control characters", what, kLongestLabel);
}

std::string text_in(const json& object, const char* name) {
  const json& value = object.at(name);
  if (!value.is_string()) refuse(400, "'{}' has to be a text", name);
  check_label(value.get_ref<const std::string&>(), fmt::format("'{}'", name));
  return value.get<std::string>();
}

void take_attributes(const json& object, const char* name, ClassRequest& to) {
  const json& list = object.at(name);
  if (!list.is_array()) refuse(400, "'{}' has to be a list", name);
  for (const json& value : list) {
    const json one = value.is_object() ? value : json{{"name", value}};
    check_members(one, {"name", "weight"}, fmt::format("one of '{}'", name));
    if (!one.contains("name")) refuse(400, "one of '{}' has no name", name);
    to.attributes.push_back(text_in(one, "name"));
    to.weights.push_back(weight_in(one));
  }
}

at::Tensor features_in(const json& object, const char* name, const FeatureShape& shape) {
  const json& value = object.at(name);
  if (!value.is_array() || value.empty()) refuse(400, "'{}' has to be a list of features", name);
  const bool one = value.front().is_number();
  const auto n = one ? int64_t{1} : static_cast<int64_t>(value.size());
  if (n > shape.most) refuse(413, "a request has at most {} features", shape.most);
  at::Tensor features = at::empty({n, shape.dim}, at::kFloat);
  auto* to = features.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) take_row(one ? value : value[static_cast<size_t>(i)], shape.dim, to + i * shape.dim);
  if (const auto bad = find_bad_features(features))
    refuse(400, "feature {} of '{}' holds {}", bad->row, name, bad->reason);
  return features;
}

}  // namespace protocom::http
