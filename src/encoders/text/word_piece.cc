#include <algorithm>
#include <array>

#include "base/error.h"
#include "encoders/text/detail/sentence_pieces.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/text/detail/unicode.h"
#include "io/json.h"

/// BERT's tokenizer (Devlin et al., NAACL 2019), as `BertTokenizer` of `transformers`: words and signs, each split
/// greedily into the longest known pieces (WordPiece).
namespace protocom::text {
namespace {

/// How letters are processed before words are split.
struct WordPieceSettings {
  bool clean = true;    // drop control characters
  bool chinese = true;  // treat ideographs as words
  bool accents_go = true;
  bool small = true;
  int64_t longest_word = 100;  // letters; a longer word is unknown
  std::string unknown = "[UNK]";
  std::string prefix = "##";  // of pieces that continue a word
};

bool is_ideograph(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> kRanges = {{{0x4E00, 0x9FFF},
                                                                     {0x3400, 0x4DBF},
                                                                     {0x20000, 0x2A6DF},
                                                                     {0x2A700, 0x2B73F},
                                                                     {0x2B740, 0x2B81F},
                                                                     {0x2B920, 0x2CEAF},
                                                                     {0xF900, 0xFAFF},
                                                                     {0x2F800, 0x2FA1F}}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

bool is_sign_of_bert(char32_t c) { return is_ascii_punctuation(c) || is_punctuation(c); }

std::u32string normalised(std::string_view text, const WordPieceSettings& settings) {
  std::u32string letters;
  constexpr char32_t kNoLetter = 0xFFFD;
  for (const char32_t c : letters_of(text)) {
    const bool goes = c == 0 || c == kNoLetter || (is_other(c) && c != U'\t' && c != U'\n' && c != U'\r');
    if (settings.clean && goes) continue;
    if (settings.chinese && is_ideograph(c)) {
      letters.append({U' ', c, U' '});
    } else {
      letters.push_back(settings.clean && is_space(c) ? U' ' : c);
    }
  }
  if (settings.accents_go) {
    letters = decomposed(letters);
    letters.erase(std::remove_if(letters.begin(), letters.end(), &is_mark), letters.end());
  }
  return settings.small ? lower_case(letters) : letters;
}

/// Returns the tokens that begin a word (without a prefix), or those that continue it.
PieceTable pieces_with(const std::string& prefix, const Vocabulary& vocabulary, const std::string& where) {
  std::vector<std::pair<std::string, int64_t>> pieces;
  for (const auto& [token, number] : vocabulary) {
    if (token.size() > kLongestPiece)
      fail("{}: the token '{}' has {} bytes, expected at most {}", where, excerpt(token), token.size(), kLongestPiece);
    if (token.size() > prefix.size() && token.compare(0, prefix.size(), prefix) == 0)
      pieces.emplace_back(token.substr(prefix.size()), number);
  }
  return PieceTable(std::move(pieces));
}

class WordPieceTokenizer : public Tokenizer {
 public:
  WordPieceTokenizer(const Vocabulary& vocabulary, WordPieceSettings settings, SpecialTokens special,
                     const Frame& frame, const std::string& where)
      : Tokenizer(frame),
        begins_(pieces_with("", vocabulary, where)),
        goes_on_(pieces_with(settings.prefix, vocabulary, where)),
        settings_(std::move(settings)),
        special_(std::move(special)),
        unknown_(token_number(vocabulary, settings_.unknown, where)) {}

 protected:
  [[nodiscard]] std::vector<int64_t> pieces(std::string_view text) const override {
    std::vector<int64_t> made;
    special_.split(
        text, [&](std::string_view part) { cut(normalised(part, settings_), made); },
        [&](int64_t token) { made.push_back(token); });
    return made;
  }

 private:
  void cut(std::u32string_view letters, std::vector<int64_t>& to) const {
    for (size_t at = 0; at < letters.size();) {
      if (is_space(letters[at])) {
        ++at;
        continue;
      }
      size_t end = at + 1;
      if (!is_sign_of_bert(letters[at])) {
        while (end < letters.size() && !is_space(letters[end]) && !is_sign_of_bert(letters[end])) ++end;
      }
      cut_word(letters.substr(at, end - at), to);
      at = end;
    }
  }

  void cut_word(std::u32string_view word, std::vector<int64_t>& to) const {
    if (static_cast<int64_t>(word.size()) > settings_.longest_word) return to.push_back(unknown_);
    const size_t before = to.size();
    const std::string text = utf8_of(word);
    for (size_t at = 0; at < text.size();) {
      const auto [size, number] = longest_piece(at == 0 ? begins_ : goes_on_, std::string_view(text).substr(at));
      if (size == 0) {
        to.resize(before);
        return to.push_back(unknown_);
      }
      to.push_back(number);
      at += size;
    }
  }

  /// Returns size and number of the longest piece at the beginning of a text; 0 if there is none. It ends at the end of
  /// a letter: a vocabulary may have any bytes.
  static std::pair<size_t, int64_t> longest_piece(const PieceTable& pieces, std::string_view text) {
    std::pair<size_t, int64_t> longest{0, 0};
    pieces.find(text, [&](size_t size, int64_t number) {
      constexpr unsigned char kKind = 0xC0, kWithinALetter = 0x80;
      const bool whole = size == text.size() || (static_cast<unsigned char>(text[size]) & kKind) != kWithinALetter;
      if (whole) longest = {size, number};
    });
    return longest;
  }

  PieceTable begins_, goes_on_;
  WordPieceSettings settings_;
  SpecialTokens special_;
  int64_t unknown_;
};

/// Reads one token per line, numbered by line.
Vocabulary vocabulary_of_lines(const std::string& text) {
  Vocabulary vocabulary;
  int64_t number = 0;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string token = text.substr(at, end - at);
    if (!token.empty() && token.back() == '\r') token.pop_back();
    vocabulary[token] = number;
    at = end + 1;
  }
  if (vocabulary.empty()) fail("vocab.txt is empty: expected a token in each line");
  return vocabulary;
}

/// Returns the tokens that mark the ends of texts: BERT's, or else MPNet's.
Tokenizer::Frame frame_in(const Vocabulary& vocabulary, const std::string& where) {
  const bool is_bert = vocabulary.count("[CLS]") > 0 && vocabulary.count("[SEP]") > 0;
  const int64_t begin = token_number(vocabulary, is_bert ? "[CLS]" : "<s>", where);
  return {token_number(vocabulary, is_bert ? "[SEP]" : "</s>", where), begin, -1, largest_of(vocabulary)};
}

std::unique_ptr<Tokenizer> from_vocabulary(const std::string& text, const nlohmann::json& stated) {
  const Vocabulary vocabulary = vocabulary_of_lines(text);
  WordPieceSettings settings;
  settings.small = truth_in(stated, "do_lower_case", true);
  settings.accents_go = truth_in(stated, "strip_accents", settings.small);
  settings.chinese = truth_in(stated, "tokenize_chinese_chars", true);
  std::vector<std::pair<std::string, int64_t>> special;
  for (const char* token : {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", "<s>", "</s>", "<pad>", "<mask>", "<unk>"}) {
    if (const auto found = vocabulary.find(token); found != vocabulary.end()) special.emplace_back(*found);
  }
  const auto frame = frame_in(vocabulary, "vocab.txt");
  return std::make_unique<WordPieceTokenizer>(vocabulary, settings, SpecialTokens(special), frame, "vocab.txt");
}

std::unique_ptr<Tokenizer> word_piece_of_json(const std::string& text) {
  constexpr const char* kWhere = "tokenizer.json";
  const nlohmann::json stated = parse_json(text, kWhere);
  const nlohmann::json& model = object_in(stated, "model");
  const nlohmann::json& normalizer = object_in(stated, "normalizer");
  const std::string type = string_in(model, "type", "WordPiece");
  const std::string form = string_in(normalizer, "type", "none");
  if (type != "WordPiece" || form != "BertNormalizer")
    fail("tokenizer.json: the model is '{}' with the normalizer '{}', expected 'WordPiece' with 'BertNormalizer'",
         excerpt(type), excerpt(form));
  WordPieceSettings settings;
  settings.clean = truth_in(normalizer, "clean_text", true);
  settings.chinese = truth_in(normalizer, "handle_chinese_chars", true);
  settings.small = truth_in(normalizer, "lowercase", true);
  settings.accents_go = truth_in(normalizer, "strip_accents", settings.small);
  settings.unknown = string_in(model, "unk_token", "[UNK]");
  settings.prefix = string_in(model, "continuing_subword_prefix", "##");
  const auto longest = model.find("max_input_chars_per_word");
  if (longest != model.end() && longest->is_number_unsigned())
    settings.longest_word = static_cast<int64_t>(std::min<uint64_t>(longest->get<uint64_t>(), 1 << 20));
  Vocabulary vocabulary = vocabulary_of(object_in(model, "vocab"), "tokenizer.json, vocab");
  std::vector<std::pair<std::string, int64_t>> special;
  for (const Added& token : added_tokens(stated)) {
    special.emplace_back(token.content, token.number);
    vocabulary.emplace(token.content, token.number);
  }
  const auto frame = frame_in(vocabulary, kWhere);
  return std::make_unique<WordPieceTokenizer>(vocabulary, settings, SpecialTokens(special), frame, kWhere);
}

}  // namespace

std::unique_ptr<Tokenizer> make_bert_tokenizer(const TokenizerFiles& files) {
  if (const auto found = files.find("tokenizer.json"); found != files.end()) return word_piece_of_json(found->second);
  const auto vocabulary = files.find("vocab.txt");
  if (vocabulary == files.end()) fail("missing tokenizer: expected tokenizer.json or vocab.txt");
  return from_vocabulary(vocabulary->second, settings_in(files, kTokenizerSettings));
}

}  // namespace protocom::text
