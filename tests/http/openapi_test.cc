#include <set>

#include "http/detail/api.h"
#include "http/unsorted_support.h"
#include "io/base64.h"
#include "recognizer/answer_fields.h"

namespace protocom::testing {
namespace {

using nlohmann::json;

/// Collects every member "$ref" below a value.
void collect_references(const json& value, std::set<std::string>& to) {
  if (value.is_object() && value.contains("$ref")) to.insert(value["$ref"].get<std::string>());
  if (!value.is_structured()) return;
  for (const json& one : value) collect_references(one, to);
}

/// Returns how a value violates a schema of the document; empty if it does not. As strict as a generated client: an
/// unknown member or keyword of a schema is a fault.
class Validator {
 public:
  explicit Validator(const json& document) : document_(document) {}

  [[nodiscard]] std::string complaint(const json& value, const json& schema) const {
    if (const std::string stated = of_schema(value, schema); !stated.empty()) return stated;
    std::set<std::string> described;
    collect_members(schema, described);
    if (!value.is_object() || described.empty()) return "";
    for (const auto& [name, member] : value.items()) {
      if (described.count(name) == 0) return "'" + name + "' is not described: " + value.dump();
    }
    return "";
  }

  [[nodiscard]] const json& at(const std::string& reference) const {
    return document_.at(json::json_pointer(reference.substr(1)));
  }

 private:
  [[nodiscard]] std::string of_schema(const json& value, const json& schema) const {
    static const std::set<std::string> kWords = {"$ref",      "allOf",      "anyOf",
                                                 "type",      "enum",       "items",
                                                 "required",  "properties", "description",
                                                 "minLength", "maxLength",  "exclusiveMinimum",
                                                 "maximum",   "default",    "additionalProperties",
                                                 "minimum"};
    for (const auto& [word, unused] : schema.items()) {
      if (kWords.count(word) == 0) return "no validator for '" + word + "'";
    }
    if (schema.contains("$ref")) return of_schema(value, at(schema["$ref"]));
    for (const json& one : schema.value("allOf", json::array())) {
      if (const std::string stated = of_schema(value, one); !stated.empty()) return stated;
    }
    if (const json any = schema.value("anyOf", json()); any.is_array()) {
      if (std::none_of(any.begin(), any.end(), [&](const json& one) { return complaint(value, one).empty(); }))
        return "none of anyOf: " + value.dump();
    }
    if (schema.contains("type") && !has_type(value, schema["type"]))
      return schema.dump() + " is no type of " + value.dump();
    if (schema.contains("enum") &&
        schema["enum"].end() == std::find(schema["enum"].begin(), schema["enum"].end(), value))
      return value.dump() + " is not in the list";
    if (const std::string stated = of_bounds(value, schema); !stated.empty()) return stated;
    if (value.is_object()) return of_members(value, schema);
    for (const json& one : value.is_array() && schema.contains("items") ? value : json::array()) {
      if (const std::string stated = complaint(one, schema["items"]); !stated.empty()) return stated;
    }
    return "";
  }

  [[nodiscard]] static std::string of_bounds(const json& value, const json& schema) {
    const bool fits = value.is_number()
                          ? value > schema.value("exclusiveMinimum", -1e300) &&
                                value >= schema.value("minimum", -1e300) && value <= schema.value("maximum", 1e300)
                          : !value.is_string() || (value.get<std::string>().size() >= schema.value("minLength", 0U) &&
                                                   value.get<std::string>().size() <= schema.value("maxLength", ~0U));
    return fits ? "" : value.dump() + " is out of bounds";
  }

  [[nodiscard]] std::string of_members(const json& value, const json& schema) const {
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>())) return name.dump() + " is missing in " + value.dump();
    }
    if (!schema.contains("properties")) return "";
    for (const auto& [name, member] : schema["properties"].items()) {
      if (!value.contains(name)) continue;
      if (const std::string stated = complaint(value[name], member); !stated.empty())
        return fmt::format("{}: {}", name, stated);
    }
    return "";
  }

  /// Collects the property names of a schema, in all of its parts.
  void collect_members(const json& schema, std::set<std::string>& to) const {
    if (schema.contains("$ref")) collect_members(at(schema["$ref"]), to);
    for (const char* parts : {"allOf", "anyOf"}) {
      for (const json& one : schema.value(parts, json::array())) collect_members(one, to);
    }
    if (!schema.contains("properties")) return;
    for (const auto& [name, unused] : schema["properties"].items()) to.insert(name);
  }

  static bool has_type(const json& value, const json& type) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(), [&](const json& one) { return has_type(value, one); });
    const auto name = type.get<std::string>();
    if (name == "integer") return value.is_number_integer();
    return name == (value.is_number() ? "number" : std::string(value.type_name()));
  }

  const json& document_;
};

TEST_F(Served, TheDocumentNamesEachOperationOnceAndDescribesItsPathAndAnswers) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  std::set<std::string> ids;
  for (const auto& [path, item] : document.at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      EXPECT_TRUE(ids.insert(operation.at("operationId")).second) << "two operations of one name";
      EXPECT_FALSE(operation.at("responses").empty());
      EXPECT_EQ(path.find('{') != std::string::npos, item.contains("parameters")) << path;
    }
  }
}

TEST_F(Served, WhateverChangesTheRecognizerAsksForAKeyThatWrites) {
  const http::Api api(path_, {}, nullptr);
  const std::set<std::string> reading_posts = {"classify", "explain", "findSimilar", "infer", "test"};
  for (const http::Route& route : api.routes()) {
    if (route.method == "GET" || reading_posts.count(route.operation) > 0) continue;
    EXPECT_EQ(route.asks, http::Asks::kWrite) << route.operation;
  }
}

TEST(DescribedRoutes, HaveMethodPathRoleAndBodies) {
  const auto routes = http::described_routes(R"({"paths": {
      "/healthz": {"get": {"operationId": "health", "security": []}},
      "/v1/classes/{class}": {
        "parameters": [],
        "get": {"operationId": "showClass"},
        "patch": {"operationId": "changeClass", "security": [{"key": ["write"]}],
                  "requestBody": {"content": {"application/json": {}, "image/*": {}}}}}}})");
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0].asks, http::Asks::kNothing);
  EXPECT_EQ(routes[1].asks, http::Asks::kRead);
  EXPECT_TRUE(routes[1].takes.empty());
  EXPECT_EQ(routes[2].method + " " + routes[2].pattern + " " + routes[2].operation,
            "PATCH /v1/classes/{class} changeClass");
  EXPECT_EQ(routes[2].asks, http::Asks::kWrite);
  EXPECT_EQ(routes[2].takes, (std::vector<std::string>{"application/json", "image/*"}));
}

TEST_F(Served, TheDocumentsReferencesLeadSomewhere) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  std::set<std::string> references;
  collect_references(document, references);
  EXPECT_GT(references.size(), 5U);
  for (const std::string& one : references) EXPECT_NO_THROW((void)Validator(document).at(one)) << one;
}

TEST_F(Served, TheDocumentSaysThatImagesAreBytes) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  const json bytes = R"({"type": "string", "format": "binary"})"_json;
  int bodies = 0;
  for (const auto& [path, item] : document.at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters" || !operation.contains("requestBody")) continue;
      const json& content = operation["requestBody"].at("content");
      if (content.contains("image/*")) {
        for (const char* type : {"image/jpeg", "image/png", "image/*", "application/octet-stream"})
          EXPECT_EQ(content.at(type).at("schema"), bytes) << path << " " << type;
      }
      if (!content.contains("multipart/form-data")) continue;
      EXPECT_EQ(content["multipart/form-data"]["schema"]["properties"]["image"]["items"], bytes) << path;
      ++bodies;
    }
  }
  EXPECT_EQ(bodies, 7) << "enrol, add unlabelled ones, classify, explain, find similar ones, calibrate, test";
}

TEST_F(Served, TheDocumentNamesEveryFieldOfAnAnswer) {
  serve();
  const json schemas = ask("GET", "/openapi.json").json().at("components").at("schemas");
  for (const AnswerField& field : answer_fields())
    EXPECT_TRUE(schemas.at("Answer").at("properties").contains(field.name)) << field.name;
}

TEST_F(Served, TheDocumentSaysThatAWeightIsAlwaysShownAndNotAlwaysGiven) {
  serve();
  const json schemas = ask("GET", "/openapi.json").json().at("components").at("schemas");
  EXPECT_EQ(schemas.at("Attribute").at("required"), R"(["name", "weight"])"_json);
  EXPECT_EQ(schemas.at("GivenAttribute").at("anyOf").at(1).at("required"), R"(["name"])"_json);
}

TEST_F(Served, ResponsesOfEveryRouteAreWhatTheDocumentSays) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  const Validator validator(document);
  std::set<std::string> checked;
  const auto check = [&](const Reply& reply, const std::string& path, const std::string& method) {
    const std::string what = method + " " + path + " " + std::to_string(reply.status);
    const json& responses = document.at("paths").at(path).at(method).at("responses");
    ASSERT_TRUE(responses.contains(std::to_string(reply.status))) << what << reply.body;
    const json* response = &responses[std::to_string(reply.status)];
    if (response->contains("$ref")) response = &validator.at((*response)["$ref"]);
    const std::string type = reply.headers.at("content-type");
    const json& content = response->at("content");
    ASSERT_TRUE(content.contains(type.substr(0, type.find(';')))) << what << " is " << type;
    if (type == "application/json") {
      EXPECT_EQ(validator.complaint(reply.json(), content["application/json"].value("schema", json::object())), "")
          << what;
    }
    if (reply.status < 300) checked.insert(method + " " + path);
  };
  for (const uint8_t grey : {0, 10}) check(enrol("dark", grey), "/v1/classes/{class}/examples", "post");
  for (const uint8_t grey : {230, 240}) enrol("bright", grey);
  check(ask("POST", "/v1/classify", png(7), kPng), "/v1/classify", "post");
  check(ask("POST", "/v1/classify?coverage=0.5", png(7), kPng), "/v1/classify", "post");
  const std::string model = "/v2/models/" + path_.stem().string();
  const json input = {{"name", "image"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {base64(png(7))}}};
  check(ask("POST", model + "/infer", json{{"inputs", {input}}}.dump(), kJson), "/v2/models/{model}/infer", "post");
  check(ask("POST", model + "/infer", "{}", kJson), "/v2/models/{model}/infer", "post");
  check(ask("GET", model), "/v2/models/{model}", "get");
  check(ask("GET", model + "/ready"), "/v2/models/{model}/ready", "get");
  for (const char* path : {"/v2", "/v2/health/live", "/v2/health/ready"}) check(ask("GET", path), path, "get");
  check(ask("POST", "/v1/calibrate", R"({"false_accept": 0.5})", kJson), "/v1/calibrate", "post");
  check(ask("POST", "/v1/calibrate", R"({"false_accept": 1e-9})", kJson), "/v1/calibrate", "post");
  const std::vector<FormPart> some = {{"image", png(7), "a.png"}, {"image", "x", "b.png"}};
  check(ask("POST", "/v1/classify", form_of(some), kForm), "/v1/classify", "post");
  std::vector<FormPart> with_features = some;
  with_features.push_back({"with_features", "true", ""});
  check(ask("POST", "/v1/classify", form_of(with_features), kForm), "/v1/classify", "post");
  check(ask("POST", "/v1/classes/dark/examples", form_of(some), kForm), "/v1/classes/{class}/examples", "post");
  check(ask("POST", "/v1/classify", "x", kPng), "/v1/classify", "post");
  check(ask("POST", "/v1/classify", "x", {{"Content-Type", "text/plain"}}), "/v1/classify", "post");
  check(ask("GET", "/v1/classes"), "/v1/classes", "get");
  check(ask("GET", "/v1/classes/dark"), "/v1/classes/{class}", "get");
  check(ask("GET", "/v1/classes/none"), "/v1/classes/{class}", "get");
  check(ask("GET", "/v1/examples/1/thumbnail"), "/v1/examples/{example}/thumbnail", "get");
  check(ask("GET", "/v1/examples/999/thumbnail"), "/v1/examples/{example}/thumbnail", "get");
  check(ask("GET", "/v1/recognizer"), "/v1/recognizer", "get");
  check(ask("GET", "/v1/recognizer/file"), "/v1/recognizer/file", "get");
  check(ask("GET", "/v1/recognizer/onnx"), "/v1/recognizer/onnx", "get");
  check(ask("GET", "/v1/recognizer/onnx?input=features"), "/v1/recognizer/onnx", "get");
  check(ask("GET", "/v1/recognizer/onnx?input=words"), "/v1/recognizer/onnx", "get");
  check(ask("GET", "/v1/accuracy"), "/v1/accuracy", "get");
  std::vector<FormPart> tested = some;
  tested[0].content = png(33);  // one that is not enrolled
  tested.push_back({"labels", R"(["dark", "bright"])", ""});
  check(ask("POST", "/v1/test", form_of(tested), kForm), "/v1/test", "post");
  check(ask("POST", "/v1/test", form_of(some), kForm), "/v1/test", "post");
  check(ask("POST", "/v1/explain", png(7), kPng), "/v1/explain", "post");
  check(ask("POST", "/v1/explain?class=none", png(7), kPng), "/v1/explain", "post");
  std::vector<FormPart> boxed = {some[0], {"boxes", "[[[0, 0, 0.5, 0.5], [2, 0, 1, 1]]]", ""}};
  check(ask("POST", "/v1/classify", form_of(boxed), kForm), "/v1/classify", "post");
  check(ask("GET", "/v1/events?after=0"), "/v1/events", "get");
  check(ask("GET", "/v1/map"), "/v1/map", "get");
  for (uint8_t grey = 20; grey < 30; ++grey) enrol("dark", grey);
  check(ask("GET", "/v1/map"), "/v1/map", "get");
  check(ask("GET", "/v1/changes"), "/v1/changes", "get");
  check(ask("PATCH", "/v1/classes/dark", R"({"name": "night"})", kJson), "/v1/classes/{class}", "patch");
  check(ask("PATCH", "/v1/classes/night", R"({"name": "bright"})", kJson), "/v1/classes/{class}", "patch");
  check(ask("PATCH", "/v1/classes/night", R"({"attributes": ["tail"]})", kJson), "/v1/classes/{class}", "patch");
  check(ask("GET", "/v1/classes/night"), "/v1/classes/{class}", "get");
  check(ask("POST", "/v1/classes/night/merge", R"({"into": "bright"})", kJson), "/v1/classes/{class}/merge", "post");
  check(ask("POST", "/v1/classes/night/merge", R"({"into": "bright"})", kJson), "/v1/classes/{class}/merge", "post");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  const std::string last = ask("GET", "/v1/classes/night").json()["examples"].back()["example"].dump();
  for (const char* body :
       {R"({"class": "bright"})", R"({"class": "nobody"})", R"({"class": " "})", R"({"confirmed": false})", "{}"})
    check(ask("PATCH", "/v1/examples/" + last, body, kJson), "/v1/examples/{example}", "patch");
  check(ask("DELETE", "/v1/examples/1"), "/v1/examples/{example}", "delete");
  check(ask("DELETE", "/v1/classes/bright"), "/v1/classes/{class}", "delete");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  check(ask("GET", "/v1/changes"), "/v1/changes", "get");
  check(ask("GET", "/v1/classes"), "/v1/classes", "get");
  check(ask("POST", "/v1/undo", R"({"change": 1})", kJson), "/v1/undo", "post");
  check(ask("POST", "/v1/redo", R"({"change": 1})", kJson), "/v1/redo", "post");
  check(ask("POST", "/v1/redo"), "/v1/redo", "post");
  for (const char* path : {"/healthz", "/readyz", "/metrics", "/openapi.json"}) check(ask("GET", path), path, "get");
  check(ask("POST", "/v1/unlabelled", png(7), kPng), "/v1/unlabelled", "post");
  path_ = make_own_photos(folder_.path(), parts());
  serve();
  check(ask("POST", "/v1/unlabelled", form_of(some), kForm), "/v1/unlabelled", "post");
  check(ask("GET", "/v1/unlabelled"), "/v1/unlabelled", "get");
  check(ask("GET", "/v1/recognizer"), "/v1/recognizer", "get");
  check(ask("GET", "/v1/unlabelled/1/thumbnail"), "/v1/unlabelled/{photo}/thumbnail", "get");
  check(ask("GET", "/v1/unlabelled/9/thumbnail"), "/v1/unlabelled/{photo}/thumbnail", "get");
  check(ask("GET", "/v1/suggestions"), "/v1/suggestions", "get");
  enrol("dark", 3);
  check(ask("GET", "/v1/suggestions?count=2"), "/v1/suggestions", "get");
  check(ask("POST", "/v1/unlabelled/9/label", R"({"class": "dark"})", kJson), "/v1/unlabelled/{photo}/label", "post");
  check(ask("POST", "/v1/unlabelled/1/label", R"({"class": "dark"})", kJson), "/v1/unlabelled/{photo}/label", "post");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  check(ask("POST", "/v1/share"), "/v1/share", "post");
  check(ask("GET", "/v1/share"), "/v1/share", "get");
  check(ask("DELETE", "/v1/share"), "/v1/share", "delete");
  check(ask("POST", "/v1/similar", R"({"unlabelled": 1})", kJson), "/v1/similar", "post");
  check(ask("POST", "/v1/similar", R"({"words": "bird"})", kJson), "/v1/similar", "post");
  check(ask("POST", "/v1/photos/place", R"({"class": "new", "unlabelled": [1]})", kJson), "/v1/photos/place", "post");
  check(ask("POST", "/v1/photos/remove", R"({"unlabelled": [9]})", kJson), "/v1/photos/remove", "post");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  check(ask("POST", "/v1/photos/remove", R"({"unlabelled": [1]})", kJson), "/v1/photos/remove", "post");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  check(ask("DELETE", "/v1/unlabelled/1"), "/v1/unlabelled/{photo}", "delete");
  check(ask("DELETE", "/v1/unlabelled/1"), "/v1/unlabelled/{photo}", "delete");
  check(ask("DELETE", "/v1/unlabelled"), "/v1/unlabelled", "delete");
  for (const auto& [path, item] : document.at("paths").items()) {
    for (const auto& [method, operation] : item.items())
      EXPECT_TRUE(method == "parameters" || checked.count(fmt::format("{} {}", method, path)) > 0)
          << method << " " << path;
  }
}

}  // namespace
}  // namespace protocom::testing
