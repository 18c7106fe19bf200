#include "base/error.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/text/detail/unicode.h"
#include "encoders/text/detail/unigram.h"
#include "io/json.h"

/// SigLIP's tokenizer (Zhai et al., ICCV 2023), as `SiglipTokenizer` of `transformers`: lower case without ASCII
/// punctuation, split by a unigram model of sentencepiece, an end token, and padding to one length.
namespace protocom::text {
namespace {

constexpr const char* kModelFile = "spiece.model";
constexpr std::string_view kMark = "\u2581";  // before words

/// Whether a letter is a space for Python's str.isspace() and \s.
bool is_python_space(char32_t letter) { return is_space(letter) || (letter >= 0x1C && letter <= 0x1F); }

/// Converts to lower case as Python does: a capital sigma at the end of a word becomes the final one.
std::u32string lower_as_python(std::u32string_view letters) {
  constexpr char32_t kSigma = 0x3A3, kSmallFinal = 0x3C2;
  // Marks and the like between letters do not end a word.
  const auto is_between = [](char32_t letter) { return is_mark(letter) || letter == U'\'' || letter == 0x2019; };
  const auto cased_beside = [&](size_t at, int step) {
    for (auto i = static_cast<std::ptrdiff_t>(at) + step; i >= 0 && i < static_cast<std::ptrdiff_t>(letters.size());
         i += step) {
      const char32_t letter = letters[static_cast<size_t>(i)];
      if (!is_between(letter)) return is_letter(letter);
    }
    return false;
  };
  std::u32string lower;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == kSigma && cased_beside(i, -1) && !cased_beside(i, 1))
      lower.push_back(kSmallFinal);
    else
      lower += lower_case(letters.substr(i, 1));
  }
  return lower;
}

/// Returns lower case without punctuation, one space between words and none around them.
std::string canonical(std::string_view text) {
  std::u32string kept;
  for (const char32_t letter : lower_as_python(letters_of(text))) {
    if (is_ascii_punctuation(letter)) continue;
    const char32_t one = is_python_space(letter) ? U' ' : letter;
    if (one != U' ' || (!kept.empty() && kept.back() != U' ')) kept.push_back(one);
  }
  if (!kept.empty() && kept.back() == U' ') kept.pop_back();
  return utf8_of(kept);
}

class SiglipTokenizer : public Tokenizer {
 public:
  struct Parts {
    Unigram pieces;
    SpecialTokens special;
    std::string unknown;  // its text
    int64_t mark;
  };
  SiglipTokenizer(Parts parts, const Frame& frame)
      : Tokenizer(frame), parts_(std::move(parts)), before_(parts_.pieces.encode(parts_.unknown).size()) {}

 protected:
  [[nodiscard]] std::vector<int64_t> pieces(std::string_view text) const override {
    std::string marked(kMark);
    for (size_t at = 0; at < text.size();) {
      const bool is_mark = text.compare(at, kMark.size(), kMark) == 0;
      marked += is_mark ? ' ' : text[at];
      at += is_mark ? kMark.size() : 1;
    }
    std::vector<int64_t> made;
    parts_.special.split(
        marked, [&](std::string_view part) { encode(part, made); },
        [&](int64_t token) {
          if (made.size() == 1 && made.front() == parts_.mark) made.clear();
          made.push_back(token);
        });
    return made;
  }

 private:
  /// Encodes as `transformers` does: after the unknown token's text, whose pieces are removed, so that the space that
  /// the model itself puts before a text is removed too.
  void encode(std::string_view part, std::vector<int64_t>& to) const {
    const std::vector<int64_t> made = parts_.pieces.encode(parts_.unknown + canonical(part));
    const size_t from = made.size() >= before_ ? before_ : 0;
    to.insert(to.end(), made.begin() + static_cast<std::ptrdiff_t>(from), made.end());
  }

  Parts parts_;
  size_t before_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_siglip_tokenizer(const TokenizerFiles& files) {
  const auto model = files.find(kModelFile);
  if (model == files.end()) return make_siglip2_tokenizer(files);
  const nlohmann::json settings = settings_in(files, kTokenizerSettings);
  if (settings.is_object() && settings.value("do_lower_case", nlohmann::json(true)) == false)
    fail("{}: do_lower_case=false is not supported", kTokenizerSettings);
  try {
    const SentencePieces read = read_sentence_pieces(model->second);
    Vocabulary vocabulary;
    for (size_t i = 0; i < read.pieces.size(); ++i) vocabulary[read.pieces[i].text] = static_cast<int64_t>(i);
    const std::string unknown = special_token(settings, "unk_token", "<unk>");
    const std::string end = special_token(settings, "eos_token", "</s>");
    const std::string padding = special_token(settings, "pad_token", "</s>");
    std::vector<std::pair<std::string, int64_t>> special;
    for (const std::string& token : {unknown, end, padding})
      special.emplace_back(token, token_number(vocabulary, token, kModelFile));
    const auto mark = vocabulary.find(std::string(kMark));
    return std::make_unique<SiglipTokenizer>(
        SiglipTokenizer::Parts{Unigram(read), SpecialTokens(special), unknown,
                               mark == vocabulary.end() ? -1 : mark->second},
        Tokenizer::Frame{vocabulary.at(end), -1, vocabulary.at(padding), largest_of(vocabulary)});
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(kModelFile) != std::string_view::npos) throw;
    fail("{}: {}", kModelFile, error.what());
  }
}

}  // namespace protocom::text
