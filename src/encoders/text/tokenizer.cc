#include "encoders/text/detail/tokenizer.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json_text.h"
#include "io/json.h"

namespace protocom::text {

namespace {

std::string without_huge_numbers(const std::string& text) {
  constexpr size_t kMostDigits = 18;
  std::string kept;
  size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits <= kMostDigits) kept.push_back(c);
  }
  return kept;
}

}  // namespace

Tokens Tokenizer::tokens(std::string_view text, int64_t longest) const {
  std::vector<int64_t> inside = pieces(text);
  Tokens made;
  made.empty = inside.empty();
  const int64_t room = std::max<int64_t>(longest - (frame_.begin < 0 ? 1 : 2), 0);
  made.cut = static_cast<int64_t>(inside.size()) > room;
  if (made.cut) inside.resize(static_cast<size_t>(room));
  if (frame_.begin >= 0) made.ids.push_back(frame_.begin);
  made.ids.insert(made.ids.end(), inside.begin(), inside.end());
  made.ids.push_back(frame_.end);
  const auto size = static_cast<size_t>(std::max<int64_t>(longest, 0));
  if (frame_.padding >= 0 && made.ids.size() < size) made.ids.resize(size, frame_.padding);
  return made;
}

Vocabulary vocabulary_of(const nlohmann::json& stated, const std::string& where) {
  if (!stated.is_object() || stated.empty())
    fail("{}: expected tokens and their numbers, {{\"token\": 0, ...}}", where);
  Vocabulary vocabulary;
  vocabulary.reserve(stated.size());
  for (const auto& [token, number] : stated.items()) {
    constexpr double kMost = std::numeric_limits<int32_t>::max();
    if (!number.is_number_integer() || number.get<double>() < 0 || number.get<double>() > kMost)
      fail("{}: the token '{}' has the id {}, which is out of range", where, excerpt(token),
           excerpt(json_text(number)));
    vocabulary.emplace(token, number.get<int64_t>());
  }
  return vocabulary;
}

nlohmann::json settings_in(const TokenizerFiles& files, const char* name) {
  const auto stated = files.find(name);
  if (stated == files.end()) return nlohmann::json::object();
  return parse_json(without_huge_numbers(stated->second), name);
}

int64_t largest_of(const Vocabulary& vocabulary) {
  int64_t largest = 0;
  for (const auto& [token, number] : vocabulary) largest = std::max(largest, number);
  return largest;
}

int64_t token_number(const Vocabulary& vocabulary, const std::string& token, const std::string& where) {
  const auto found = vocabulary.find(token);
  if (found == vocabulary.end()) fail("{}: missing token '{}'", where, excerpt(token));
  return found->second;
}

std::vector<Added> added_tokens(const nlohmann::json& stated) {
  std::vector<Added> added;
  const auto list = stated.find("added_tokens");
  if (list == stated.end() || !list->is_array()) return added;
  for (const nlohmann::json& token : *list) {
    const auto content = token.is_object() ? token.find("content") : token.end();
    const auto number = token.is_object() ? token.find("id") : token.end();
    if (content == token.end() || number == token.end() || !content->is_string() ||
        content->get_ref<const std::string&>().empty())
      fail("tokenizer.json: added_tokens has {}, expected a content and an id", excerpt(json_text(token)));
    const auto normalized = token.find("normalized");
    const Vocabulary one = vocabulary_of({{content->get<std::string>(), *number}}, "tokenizer.json, added_tokens");
    added.push_back({one.begin()->first, one.begin()->second, normalized != token.end() && *normalized == true});
  }
  std::stable_sort(added.begin(), added.end(),
                   [](const Added& a, const Added& b) { return a.content.size() > b.content.size(); });
  return added;
}

std::string string_in(const nlohmann::json& stated, const char* name, const std::string& otherwise) {
  if (!stated.is_object()) return otherwise;
  const auto found = stated.find(name);
  return found == stated.end() || !found->is_string() ? otherwise : found->get<std::string>();
}

bool truth_in(const nlohmann::json& stated, const char* name, bool otherwise) {
  const auto found = stated.find(name);
  return found == stated.end() || !found->is_boolean() ? otherwise : found->get<bool>();
}

std::string special_token(const nlohmann::json& settings, const char* name, const char* usual) {
  const std::string content = string_in(object_in(settings, name), "content", "");
  return content.empty() ? string_in(settings, name, usual) : content;
}

const nlohmann::json& object_in(const nlohmann::json& stated, const char* name) {
  static const nlohmann::json kNone = nlohmann::json::object();
  if (!stated.is_object()) return kNone;
  const auto found = stated.find(name);
  return found == stated.end() || !found->is_object() ? kNone : *found;
}

}  // namespace protocom::text
