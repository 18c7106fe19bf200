#include <algorithm>
#include <array>

#include "base/error.h"
#include "encoders/text/detail/byte_pair.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/text/detail/unicode.h"
#include "io/json.h"

/// CLIP's tokenizer (Radford et al., 2021, https://github.com/openai/CLIP), as `CLIPTokenizer` of `transformers`:
/// composed lower case, split into words, numerals and runs of other signs, whose bytes become byte pairs.
namespace protocom::text {
namespace {

constexpr const char* kBegin = "<|startoftext|>";
constexpr const char* kEnd = "<|endoftext|>";
constexpr const char* kWordEnd = "</w>";

/// Returns the character of each byte in a vocabulary (GPT-2's): printable bytes as themselves, the others from U+0100
/// on.
const std::array<char32_t, 256>& letters_of_bytes() {
  static const std::array<char32_t, 256> kLetters = [] {
    std::array<char32_t, 256> letters{};
    char32_t next = 0x100;
    for (size_t byte = 0; byte < letters.size(); ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      letters[byte] = printable ? static_cast<char32_t>(byte) : next++;
    }
    return letters;
  }();
  return kLetters;
}

/// Whether `part` occurs at a position.
bool stands_at(std::u32string_view letters, size_t at, std::u32string_view part) {
  return letters.compare(at, part.size(), part) == 0;
}

bool is_sign(char32_t letter) { return !is_space(letter) && !is_letter(letter) && !is_number(letter); }

/// Returns how many letters from a position on are of one kind.
size_t run_of(std::u32string_view letters, size_t at, bool (*kind)(char32_t)) {
  size_t size = 0;
  while (at + size < letters.size() && kind(letters[at + size])) ++size;
  return size;
}

/// Returns the length of the word that begins at a position without a space:
/// <\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+
size_t word_at(std::u32string_view letters, size_t at) {
  static constexpr std::array<std::u32string_view, 9> kWords = {
      U"<|startoftext|>", U"<|endoftext|>", U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"};
  for (const std::u32string_view word : kWords) {
    if (stands_at(letters, at, word)) return word.size();
  }
  if (is_letter(letters[at])) return run_of(letters, at, &is_letter);
  return is_number(letters[at]) ? 1 : run_of(letters, at, &is_sign);
}

/// Normalises a text before it is split.
std::string small_form(std::string_view text) { return utf8_of(lower_case(composed(letters_of(text)))); }

class ClipTokenizer : public Tokenizer {
 public:
  ClipTokenizer(BytePairs pairs, AddedTokens added, const Frame& frame)
      : Tokenizer(frame), pairs_(std::move(pairs)), added_(std::move(added)) {}

 protected:
  [[nodiscard]] std::vector<int64_t> pieces(std::string_view text) const override {
    return added_.tokens(text, &small_form,
                         [&](std::string_view part, std::vector<int64_t>& to) { encode_words(letters_of(part), to); });
  }

 private:
  void encode_words(std::u32string_view letters, std::vector<int64_t>& to) const {
    for (size_t at = 0; at < letters.size();) {
      if (is_space(letters[at])) {
        ++at;
        continue;
      }
      const size_t size = word_at(letters, at);
      const std::u32string_view word = letters.substr(at, size);
      at += size;
      // A literal <|endoftext|> is split further by the pattern for bytes: <|, endoftext, |>.
      const bool written_out = size > 2 && word.front() == U'<' && is_letter(word[2]);
      if (!written_out) {
        encode_bytes(word, to);
        continue;
      }
      encode_bytes(word.substr(0, 2), to);
      encode_bytes(word.substr(2, size - 4), to);
      encode_bytes(word.substr(size - 2), to);
    }
  }

  void encode_bytes(std::u32string_view word, std::vector<int64_t>& to) const {
    std::u32string bytes;
    for (const char byte : utf8_of(word)) bytes.push_back(letters_of_bytes().at(static_cast<unsigned char>(byte)));
    pairs_.encode(bytes, to);
  }

  BytePairs pairs_;
  AddedTokens added_;
};

/// Parses one line "left right" per pair.
Merges merges_of_text(const std::string& text) {
  Merges merges;
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view words = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++line;
    if (!words.empty() && words.back() == '\r') words.remove_suffix(1);
    if (words.empty() || words.substr(0, 8) == "#version") continue;
    const size_t space = words.find(' ');
    if (space == std::string_view::npos || words.find(' ', space + 1) != std::string_view::npos)
      fail("merges.txt:{}: expected two tokens, found '{}'", line, excerpt(words));
    merges.emplace_back(words.substr(0, space), words.substr(space + 1));
  }
  return merges;
}

/// Makes a tokenizer from its byte pairs and special tokens.
std::unique_ptr<Tokenizer> make(Vocabulary vocabulary, const Merges& merges, const std::vector<Added>& added,
                                const std::string& unknown, const std::string& where) {
  for (const Added& token : added) vocabulary.emplace(token.content, token.number);
  const int64_t begin = token_number(vocabulary, kBegin, where);
  const int64_t end = token_number(vocabulary, kEnd, where);
  std::optional<int64_t> unknown_token;
  if (!unknown.empty()) unknown_token = token_number(vocabulary, unknown, where);
  int64_t largest = largest_of(vocabulary);
  for (const Added& token : added) largest = std::max(largest, token.number);
  return std::make_unique<ClipTokenizer>(BytePairs(std::move(vocabulary), merges, {kWordEnd, unknown_token}, where),
                                         AddedTokens(added, &small_form), Tokenizer::Frame{end, begin, -1, largest});
}

std::unique_ptr<Tokenizer> from_tokenizer_json(const std::string& text) {
  const nlohmann::json stated = parse_json(text, "tokenizer.json");
  const nlohmann::json& model = object_in(stated, "model");
  const auto text_in = [&model](const char* name) { return string_in(model, name, ""); };
  // Older files do not state the type.
  if (const std::string type = text_in("type");
      (!type.empty() && type != "BPE") || text_in("end_of_word_suffix") != kWordEnd)
    fail("tokenizer.json: the model is '{}' with end_of_word_suffix '{}', expected 'BPE' with '{}'", excerpt(type),
         excerpt(text_in("end_of_word_suffix")), kWordEnd);
  return make(vocabulary_of(object_in(model, "vocab"), "tokenizer.json, vocab"), merges_of_json(model),
              added_tokens(stated), text_in("unk_token"), "tokenizer.json");
}

}  // namespace

std::unique_ptr<Tokenizer> make_clip_tokenizer(const TokenizerFiles& files) {
  if (const auto found = files.find("tokenizer.json"); found != files.end()) return from_tokenizer_json(found->second);
  const auto vocabulary = files.find("vocab.json");
  const auto merges = files.find("merges.txt");
  if (vocabulary == files.end() || merges == files.end())
    fail("missing tokenizer: expected tokenizer.json, or vocab.json and merges.txt");
  Vocabulary tokens = vocabulary_of(parse_json(vocabulary->second, "vocab.json"), "vocab.json");
  std::vector<Added> added;
  for (const char* special : {kBegin, kEnd})
    added.push_back({special, token_number(tokens, special, "vocab.json"), false});
  return make(std::move(tokens), merges_of_text(merges->second), added, kEnd, "vocab.json and merges.txt");
}

}  // namespace protocom::text
