#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "http/detail/cancellation.h"
#include "http/detail/feature_reader.h"
#include "recognizer/describe_class.h"

namespace protocom::http {

/// The permitted content of a JSON body.
struct JsonShape {
  std::set<std::string> members;               ///< permitted members of the object
  std::optional<FeatureShape> features = {};   ///< for the member `features`, if it is permitted
  const Cancellation* cancellation = nullptr;  ///< checked while reading; nullptr: it cannot be cancelled
  size_t deepest = 4;                          ///< nesting of objects and lists: {"boxes": [[[0.1, ...]]]}
};

/// The content of a JSON body.
struct JsonBody {
  nlohmann::json members;  ///< an object, without `features`
  Array features = {};     ///< float32 [n, d]; undefined without that member
};

/// Reads the object in a body, in one pass whose time and memory are at most linear in the body's length. Strict:
/// throws HttpError 400 for anything but a JSON object, a member that is not permitted or occurs twice, and nesting
/// deeper than any member needs; 413 for more values or features than a request needs.
JsonBody read_json_body(const std::string& body, const JsonShape& shape);

/// Returns a member that must be a text of 1 to 200 bytes without control characters. Throws HttpError 400.
std::string text_in(const nlohmann::json& object, const char* name);
/// Reads a member that must be a list of such texts, or of objects {"name": "tail", "weight": 0.5} with a weight in
/// (0, 1], by default 1, into the attributes of a class and their weights.
void read_attributes_member(const nlohmann::json& object, const char* name, ClassRequest& to);

/// Return a value that must be a list of strings, or true or false. Throw HttpError 400. `name`: its member.
std::vector<std::string> strings_of(const nlohmann::json& list, const char* name);
bool flag_of(const nlohmann::json& value, const char* name);

/// Returns a member that must be a list of texts that describe a class (check_description).
std::vector<std::string> descriptions_in(const nlohmann::json& object, const char* name);

/// Throws HttpError 400 unless a description of a class is 1 to 2,000 bytes of UTF-8 without control characters.
void check_description(const std::string& text);

/// Throws HttpError 400 unless a label from a client is 1 to 200 bytes of UTF-8 without control characters; `what`
/// names it.
void check_label(const std::string& text, const std::string& what);

}  // namespace protocom::http
