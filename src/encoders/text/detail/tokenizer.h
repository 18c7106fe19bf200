#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encoders/text/detail/sentence_pieces.h"

namespace protocom::text {

/// A token and its number.
using Vocabulary = std::unordered_map<std::string, int64_t>;

/// The tokens of a text.
struct Tokens {
  std::vector<int64_t> ids;
  bool cut = false;    ///< whether there were more than requested
  bool empty = false;  ///< whether there is nothing between its ends
};

/// Converts texts to tokens, as one kind of trained model does.
class Tokenizer {
 public:
  /// The tokens around those of a text; negative: none.
  struct Frame {
    int64_t end = -1;  ///< end of every text
    int64_t begin = -1;
    int64_t padding = -1;  ///< pads shorter texts at the end
    int64_t largest = 0;   ///< largest token number
  };
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer() = default;

  /// Returns the text's tokens between its begin and end tokens, at most `longest` in all, truncated at the end. Pads
  /// for a model that was trained on texts of one length. Reads at most 64 KiB of a text, which bounds the cost for
  /// every tokenizer.
  [[nodiscard]] Tokens tokens(std::string_view text, int64_t longest) const;
  /// The largest token number.
  [[nodiscard]] int64_t largest() const { return frame_.largest; }

 protected:
  explicit Tokenizer(const Frame& frame) : frame_(frame) {}
  /// Returns the tokens between the ends.
  [[nodiscard]] virtual std::vector<int64_t> pieces(std::string_view text) const = 0;

 private:
  Frame frame_;
};

/// Parts of a text that are tokens by themselves, such as <|endoftext|>, wherever they occur.
class SpecialTokens {
 public:
  SpecialTokens() = default;
  explicit SpecialTokens(const std::vector<std::pair<std::string, int64_t>>& tokens) {
    std::vector<std::pair<std::string, int64_t>> places;
    for (const auto& [content, number] : tokens) {
      if (content.empty()) continue;
      places.emplace_back(content, static_cast<int64_t>(numbers_.size()));
      numbers_.push_back(number);
    }
    places_ = PieceTable(std::move(places));
  }

  /// Calls `other` with the parts between them and `special` with their numbers, in the order of the text. If several
  /// begin at one position, the first matching one of the list counts.
  template <typename Other, typename Special>
  void split(std::string_view text, const Other& other, const Special& special) const {
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
      size_t size = 0;
      int64_t first = 0;
      places_.find(text.substr(at), [&](size_t found, int64_t place) {
        if (size == 0 || place < first) size = found, first = place;
      });
      if (size == 0) {
        ++at;
        continue;
      }
      if (at > begin) other(text.substr(begin, at - begin));
      special(numbers_[static_cast<size_t>(first)]);
      at += size;
      begin = at;
    }
    if (begin < text.size()) other(text.substr(begin));
  }

 private:
  PieceTable places_;  // positions in the list: a crafted one has a hundred thousand with a common prefix
  std::vector<int64_t> numbers_;
};

/// The tokenizer's files of a folder: contents by name.
using TokenizerFiles = std::map<std::string, std::string>;
inline constexpr const char* kTokenizerSettings = "tokenizer_config.json";
/// Returns the JSON of one file; an empty object if it is missing. "No limit" is written as 10^30, beyond the range of
/// our JSON: numbers are cut to eighteen digits.
nlohmann::json settings_in(const TokenizerFiles& files, const char* name);

/// Reads a JSON object of tokens and their numbers. Throws Error that names `where` for a value that is not a number,
/// is negative or exceeds 2^31, and for an empty vocabulary.
Vocabulary vocabulary_of(const nlohmann::json& stated, const std::string& where);
int64_t largest_of(const Vocabulary& vocabulary);
/// Returns the number of a token. Throws Error that names `where` for an unknown token.
int64_t token_number(const Vocabulary& vocabulary, const std::string& token, const std::string& where);

/// Returns a member that is an object, or an empty one.
const nlohmann::json& object_in(const nlohmann::json& stated, const char* name);
/// Returns a member that is a text.
std::string string_in(const nlohmann::json& stated, const char* name, const std::string& otherwise);
/// Returns a member that is true or false.
bool truth_in(const nlohmann::json& stated, const char* name, bool otherwise);
/// Returns a special token of tokenizer_config.json: a text, or an object with that as its content.
std::string special_token(const nlohmann::json& settings, const char* name, const char* usual);

/// A token that is not a piece of words, as listed in tokenizer.json.
struct Added {
  std::string content;
  int64_t number;
  bool in_small_letters;  ///< whether it is searched in the normalised text
};
/// Returns the added tokens of tokenizer.json, longest first. Throws Error for one without a content or a number, and
/// for one of more than kLongestPiece bytes.
std::vector<Added> added_tokens(const nlohmann::json& stated);

/// Added tokens, some of which are searched in the text as given, others in the normalised text.
class AddedTokens {
 public:
  /// `form` normalises a text.
  template <typename Form>
  AddedTokens(const std::vector<Added>& added, const Form& form) {
    std::vector<std::pair<std::string, int64_t>> as_written, formed;
    for (const Added& token : added) {
      if (token.in_small_letters)
        formed.emplace_back(form(token.content), token.number);
      else
        as_written.emplace_back(token.content, token.number);
    }
    as_written_ = SpecialTokens(as_written);
    formed_ = SpecialTokens(formed);
  }

  /// Returns all tokens of a text: `encode` appends those of the normalised parts between added tokens.
  template <typename Form, typename Encode>
  [[nodiscard]] std::vector<int64_t> tokens(std::string_view text, const Form& form, const Encode& encode) const {
    std::vector<int64_t> made;
    const auto special = [&made](int64_t token) { made.push_back(token); };
    as_written_.split(
        text,
        [&](std::string_view part) {
          formed_.split(
              form(part), [&](std::string_view formed) { encode(formed, made); }, special);
        },
        special);
    return made;
  }

 private:
  SpecialTokens as_written_, formed_;
};

/// Makes CLIP's byte-pair tokenizer from tokenizer.json, or else from vocab.json and merges.txt. Throws Error.
std::unique_ptr<Tokenizer> make_clip_tokenizer(const TokenizerFiles& files);

/// Makes SigLIP's tokenizer, sentencepiece's unigram model in spiece.model; SigLIP 2's if there is none. Throws Error
/// that names the file.
std::unique_ptr<Tokenizer> make_siglip_tokenizer(const TokenizerFiles& files);

/// Makes SigLIP 2's tokenizer, Gemma's byte pairs in tokenizer.json. Throws Error that names the file.
std::unique_ptr<Tokenizer> make_siglip2_tokenizer(const TokenizerFiles& files);

/// Makes BERT's WordPiece tokenizer, also MPNet's, from tokenizer.json, or else from vocab.txt and the settings in
/// tokenizer_config.json. Throws Error.
std::unique_ptr<Tokenizer> make_bert_tokenizer(const TokenizerFiles& files);

}  // namespace protocom::text
