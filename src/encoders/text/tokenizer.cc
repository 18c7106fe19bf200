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

/// Returns the beginning of a text, up to the end of a letter.
std::string_view beginning_of(std::string_view text) {
  constexpr size_t kMostBytes = size_t{64} << 10;  // no encoder takes a tenth of it
  constexpr unsigned char kKind = 0xC0, kWithinALetter = 0x80;
  if (text.size() <= kMostBytes) return text;
  size_t size = kMostBytes;
  while (size > kMostBytes - 3 && (static_cast<unsigned char>(text[size]) & kKind) == kWithinALetter) --size;
  return text.substr(0, size);
}

}  // namespace

Tokens Tokenizer::tokens(std::string_view text, int64_t longest) const {
  const std::string_view read = beginning_of(text);
  std::vector<int64_t> inside = pieces(read);
  Tokens made;
  made.empty = inside.empty();
  const int64_t room = std::max<int64_t>(longest - (frame_.begin < 0 ? 1 : 2), 0);
  const bool is_longer = static_cast<int64_t>(inside.size()) > room;
  if (is_longer) inside.resize(static_cast<size_t>(room));
  made.cut = is_longer || read.size() < text.size();
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
    if (const size_t size = content->get_ref<const std::string&>().size(); size > kLongestPiece)
      fail("tokenizer.json: added_tokens has a content of {} bytes, expected at most {}", size, kLongestPiece);
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
