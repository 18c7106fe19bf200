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

/// What a body of JSON may hold.
struct JsonShape {
  std::set<std::string> members;               ///< that the object may have
  std::optional<FeatureShape> features = {};   ///< of the member `features`, where it may have that
  const Cancellation* cancellation = nullptr;  ///< asked while it is read; nullptr: nothing cancels it
  size_t deepest = 4;                          ///< objects and lists within each other: {"boxes": [[[0.1, ...]]]}
};

/// What a body of JSON held.
struct JsonBody {
  nlohmann::json members;  ///< an object, without `features`
  Array features = {};     ///< float32 [n, d]; undefined without that member
};

/// Reads the object that a body is, in one pass whose time and memory grow with the body's length at most. Strict:
/// throws HttpError 400 for what is not a JSON object, a member that may not be there, one that is there twice, and
/// nesting deeper than any member needs; 413 for more values or features than a request needs.
JsonBody read_json_body(const std::string& body, const JsonShape& shape);

/// A member that must be a text of 1 to 200 bytes without control characters. Throws HttpError 400.
std::string text_in(const nlohmann::json& object, const char* name);
/// A member that must be a list of such texts, or of objects {"name": "tail", "weight": 0.5} with a weight in (0, 1],
/// 1 if none is said: into the attributes of a class and their weights.
void read_attributes_member(const nlohmann::json& object, const char* name, ClassRequest& to);

/// A value that must be a list of strings, or true or false; `name` is of its member.
std::vector<std::string> strings_of(const nlohmann::json& list, const char* name);
bool flag_of(const nlohmann::json& value, const char* name);

/// A member that must be a list of texts that describe a class (check_description).
std::vector<std::string> descriptions_in(const nlohmann::json& object, const char* name);

/// Throws HttpError 400 unless what describes a class is 1 to 2,000 bytes of UTF-8 without control characters.
void check_description(const std::string& text);

/// Throws HttpError 400 unless a label from a client is 1 to 200 bytes of UTF-8 without control characters; `what`
/// names it.
void check_label(const std::string& text, const std::string& what);

}  // namespace protocom::http
