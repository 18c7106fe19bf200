#include <algorithm>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/text/detail/byte_pair.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/text/detail/unicode.h"
#include "io/json.h"

/// SigLIP 2's tokenizer (Tschannen et al., 2025), which is Gemma's, as `Siglip2Tokenizer` of `transformers`: lower
/// case, spaces as a mark, byte pairs over the whole text, an end token, and padding to one length.
namespace protocom::text {
namespace {

constexpr const char* kFile = "tokenizer.json";
constexpr char32_t kSpaceLetter = 0x2581;  // for a space

/// How a text is normalised before it is split.
struct Form {
  bool small = false;  // lower case
  [[nodiscard]] std::string operator()(std::string_view text) const {
    std::u32string letters = letters_of(text);
    if (small) letters = lower_case(letters);
    std::replace(letters.begin(), letters.end(), U' ', kSpaceLetter);
    return utf8_of(letters);
  }
};

class Siglip2Tokenizer : public Tokenizer {
 public:
  Siglip2Tokenizer(BytePairs pairs, AddedTokens added, const Form& form, const Frame& frame)
      : Tokenizer(frame), pairs_(std::move(pairs)), added_(std::move(added)), form_(form) {}

 protected:
  [[nodiscard]] std::vector<int64_t> pieces(std::string_view text) const override {
    return added_.tokens(text, form_,
                         [&](std::string_view part, std::vector<int64_t>& to) { pairs_.encode(letters_of(part), to); });
  }

 private:
  BytePairs pairs_;
  AddedTokens added_;
  Form form_;
};

/// Returns the steps of a normalizer: itself, or those that it lists.
std::vector<nlohmann::json> steps_of(const nlohmann::json& stated) {
  if (string_in(stated, "type", "") != "Sequence") return {stated};
  const auto found = stated.find("normalizers");
  if (found == stated.end() || !found->is_array()) fail("{}: the normalizer has no list 'normalizers'", kFile);
  return found->get<std::vector<nlohmann::json>>();
}

/// Reads the steps: Lowercase, and the replacement of spaces by the mark, which is required.
Form read_form(const nlohmann::json& stated) {
  static const nlohmann::json kReplace = {
      {"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", utf8_of(std::u32string(1, kSpaceLetter))}};
  Form form;
  bool marked = false;
  for (const nlohmann::json& step : steps_of(object_in(stated, "normalizer"))) {
    if (step == kReplace) {
      marked = true;
    } else if (string_in(step, "type", "") == "Lowercase") {
      form.small = true;
    } else {
      fail("{}: the normalizer has {}, expected {} and Lowercase", kFile, excerpt(json_text(step)),
           json_text(kReplace));
    }
  }
  if (!marked) fail("{}: the normalizer is missing {}", kFile, json_text(kReplace));
  return form;
}

/// Checks that texts have an end, no beginning, and padding at the end: the network was trained so.
void check_ends(const nlohmann::json& stated, const nlohmann::json& settings) {
  bool begin = false;
  bool end = true;
  const nlohmann::json& processor = object_in(stated, "post_processor");
  if (const auto single = processor.find("single"); single != processor.end() && single->is_array()) {
    const auto is_text = [](const nlohmann::json& part) { return part.is_object() && part.contains("Sequence"); };
    const auto text = std::find_if(single->begin(), single->end(), is_text);
    begin = text != single->begin();
    end = text != single->end() && text + 1 != single->end();
  }
  if (truth_in(settings, "add_bos_token", begin)) fail("{}: add_bos_token=true is not supported", kFile);
  if (!truth_in(settings, "add_eos_token", end)) fail("{}: add_eos_token=false is not supported", kFile);
  const std::string usual = string_in(object_in(stated, "padding"), "direction", "right");
  const std::string side = string_in(settings, "padding_side", usual);
  if (side != "right" && side != "Right")
    fail("{}: padding_side='{}' is not supported, expected right", kTokenizerSettings, excerpt(side));
}

/// Checks the splitting: Gemma's is at spaces, of which none are left after normalisation.
void check_cut(const nlohmann::json& stated) {
  const nlohmann::json& cut = object_in(stated, "pre_tokenizer");
  const bool at_spaces =
      string_in(cut, "type", "") == "Split" && object_in(cut, "pattern") == nlohmann::json{{"String", " "}};
  if (!cut.empty() && !at_spaces)
    fail("{}: the pre_tokenizer is {}, expected a Split at spaces", kFile, excerpt(json_text(cut)));
}

void check_model(const nlohmann::json& model) {
  const std::string type = string_in(model, "type", "BPE");  // older files do not state it
  if (type != "BPE" || !truth_in(model, "byte_fallback", false))
    fail("{}: the model is '{}'{}, expected BPE with byte_fallback", kFile, excerpt(type),
         type == "BPE" ? " without byte_fallback" : "");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::string part = string_in(model, name, "");
    if (!part.empty()) fail("{}: {}='{}' is not supported", kFile, name, excerpt(part));
  }
  if (truth_in(model, "ignore_merges", false)) fail("{}: ignore_merges=true is not supported", kFile);
}

std::unique_ptr<Tokenizer> tokenizer_of(const nlohmann::json& stated, const nlohmann::json& settings) {
  check_cut(stated);
  check_ends(stated, settings);
  Form form = read_form(stated);
  // The network was trained on lower-case letters. Its first folders expect lower-case texts, and do not state it.
  form.small = truth_in(settings, "do_lower_case", true) || form.small;
  const nlohmann::json& model = object_in(stated, "model");
  check_model(model);
  Vocabulary vocabulary = vocabulary_of(object_in(model, "vocab"), "tokenizer.json, vocab");
  int64_t largest = largest_of(vocabulary);
  const std::vector<Added> added = added_tokens(stated);
  Vocabulary named;
  for (const Added& token : added) {
    largest = std::max(largest, token.number);
    named.emplace(token.content, token.number);
  }
  const auto special = [&](const char* name, const char* usual) {
    const std::string token = special_token(settings, name, usual);
    const auto found = named.find(token);
    return found == named.end() ? token_number(vocabulary, token, kFile) : found->second;
  };
  const int64_t end = special("eos_token", "<eos>");
  const int64_t padding = special("pad_token", "<pad>");
  LetterRules rules;
  rules.as_bytes = true;
  return std::make_unique<Siglip2Tokenizer>(BytePairs(std::move(vocabulary), merges_of_json(model), rules, kFile),
                                            AddedTokens(added, form), form,
                                            Tokenizer::Frame{end, -1, padding, largest});
}

}  // namespace

std::unique_ptr<Tokenizer> make_siglip2_tokenizer(const TokenizerFiles& files) {
  const auto model = files.find(kFile);
  if (model == files.end())
    fail(
        "missing tokenizer: expected spiece.model (SigLIP) or {} (SigLIP 2; Python's transformers writes it by "
        "tokenizer.save_pretrained(folder))",
        kFile);
  const nlohmann::json settings = settings_in(files, kTokenizerSettings);
  if (!settings.is_object()) fail("{} is not an object", kTokenizerSettings);
  return tokenizer_of(parse_json(model->second, kFile), settings);
}

}  // namespace protocom::text
