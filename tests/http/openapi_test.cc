#include <set>

#include "http/api.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using nlohmann::json;

/// Every member "$ref" below a value.
void collect_references(const json& value, std::set<std::string>& to) {
  if (value.is_object() && value.contains("$ref")) to.insert(value["$ref"].get<std::string>());
  if (!value.is_structured()) return;
  for (const json& one : value) collect_references(one, to);
}

/// What does not hold of a value by a schema of the document; empty: nothing. Knows the words that the document uses.
class Validator {
 public:
  explicit Validator(const json& document) : document_(document) {}

  [[nodiscard]] std::string complaint(const json& value, const json& schema) const {
    if (schema.contains("$ref")) return complaint(value, at(schema["$ref"]));
    for (const json& one : schema.value("allOf", json::array())) {
      if (const std::string said = complaint(value, one); !said.empty()) return said;
    }
    if (schema.contains("anyOf") && complaint(value, schema["anyOf"][0]) != "" &&
        complaint(value, schema["anyOf"][1]) != "")
      return "none of anyOf: " + value.dump();
    if (schema.contains("type") && !has_type(value, schema["type"]))
      return schema.dump() + " is no type of " + value.dump();
    if (schema.contains("enum") &&
        schema["enum"].end() == std::find(schema["enum"].begin(), schema["enum"].end(), value))
      return value.dump() + " is not in the list";
    if (value.is_object()) return of_members(value, schema);
    if (value.is_array() && schema.contains("items")) {
      for (const json& one : value) {
        if (const std::string said = complaint(one, schema["items"]); !said.empty()) return said;
      }
    }
    return "";
  }

  [[nodiscard]] const json& at(const std::string& reference) const {
    return document_.at(json::json_pointer(reference.substr(1)));
  }

 private:
  [[nodiscard]] std::string of_members(const json& value, const json& schema) const {
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>())) return name.dump() + " is missing in " + value.dump();
    }
    if (!schema.contains("properties")) return "";
    for (const auto& [name, member] : schema["properties"].items()) {
      if (!value.contains(name)) continue;
      if (const std::string said = complaint(value[name], member); !said.empty()) return name + ": " + said;
    }
    return "";
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

TEST_F(Served, TheDocumentNamesEveryRouteAndNoOther) {
  const http::Api api(path_, {});
  serve();
  const json document = ask("GET", "/openapi.json").json();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  std::set<std::string> served, described, ids;
  for (const http::Route& route : api.routes()) served.insert(route.method + " " + route.pattern);
  for (const char* page : {"GET /", "GET /page.css", "GET /page.js"}) EXPECT_EQ(served.erase(page), 1U);
  for (const auto& [path, item] : document.at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
      described.insert(upper + " " + path);
      EXPECT_TRUE(ids.insert(operation.at("operationId")).second) << "two operations of one name";
      EXPECT_FALSE(operation.at("responses").empty());
      EXPECT_EQ(path.find('{') != std::string::npos, item.contains("parameters")) << path;
    }
  }
  EXPECT_EQ(described, served);
}

TEST_F(Served, TheDocumentsReferencesLeadSomewhere) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  std::set<std::string> references;
  collect_references(document, references);
  EXPECT_GT(references.size(), 5U);
  for (const std::string& one : references) EXPECT_NO_THROW((void)Validator(document).at(one)) << one;
}

TEST_F(Served, ResponsesAreWhatTheDocumentSays) {
  serve();
  const json document = ask("GET", "/openapi.json").json();
  const Validator validator(document);
  const auto check = [&](const Reply& reply, const std::string& path, const std::string& method) {
    const json& operation = document.at("paths").at(path).at(method);
    const std::string status = std::to_string(reply.status);
    ASSERT_TRUE(operation.at("responses").contains(status)) << method << " " << path << " " << status;
    const json* response = &operation["responses"][status];
    if (response->contains("$ref")) response = &validator.at((*response)["$ref"]);
    EXPECT_EQ(validator.complaint(reply.json(), response->at("content").at("application/json").at("schema")), "")
        << method << " " << path;
  };
  for (const uint8_t grey : {0, 10}) check(enrol("dark", grey), "/v1/classes/{class}/examples", "post");
  for (const uint8_t grey : {230, 240}) enrol("bright", grey);
  check(ask("POST", "/v1/calibrate", R"({"false_accept": 0.5})", kJson), "/v1/calibrate", "post");
  check(ask("POST", "/v1/classify", png(7), kPng), "/v1/classify", "post");
  check(ask("POST", "/v1/classify", "x", kPng), "/v1/classify", "post");
  check(ask("GET", "/v1/classes"), "/v1/classes", "get");
  check(ask("GET", "/v1/classes/dark"), "/v1/classes/{class}", "get");
  check(ask("GET", "/v1/classes/none"), "/v1/classes/{class}", "get");
  check(ask("GET", "/v1/recognizer"), "/v1/recognizer", "get");
  check(ask("PATCH", "/v1/classes/dark", R"({"name": "night"})", kJson), "/v1/classes/{class}", "patch");
  check(ask("DELETE", "/v1/examples/1"), "/v1/examples/{example}", "delete");
  check(ask("DELETE", "/v1/classes/bright"), "/v1/classes/{class}", "delete");
  check(ask("POST", "/v1/undo"), "/v1/undo", "post");
  check(ask("GET", "/healthz"), "/healthz", "get");
}

}  // namespace
}  // namespace protocom::testing
