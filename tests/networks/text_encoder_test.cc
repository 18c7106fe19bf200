#include "encoders/text_encoder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/text/detail/unicode.h"
#include "io/files.h"
#include "support/clip_folder.h"
#include "support/made_up.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using nlohmann::json;
using protocom::testing::message_of;
using protocom::testing::noise;
using protocom::testing::state_of;
using protocom::testing::TempDir;
using protocom::testing::texts_golden;
using protocom::testing::TextState;
using protocom::testing::write_clip_texts;
using protocom::testing::write_state;
using ::testing::HasSubstr;

json tokenizer_json(const json& golden) {
  return {{"added_tokens", golden.at("added_tokens")},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<|endoftext|>"},
            {"end_of_word_suffix", "</w>"},
            {"vocab", golden.at("vocabulary")},
            {"merges", golden.at("merges")}}}};
}

/// Compares vectors with golden ones, which are stored as their products with noise.
float worst_miss(const at::Tensor& vectors, const json& golden) {
  const at::Tensor rows = noise(3 * vectors.size(1), 3).view({3, -1});
  const at::Tensor products = vectors.to(at::kDouble).matmul(rows.t());
  float worst = 0;
  for (int64_t i = 0; i < products.size(0); ++i) {
    const auto expected = golden.at("vectors")[static_cast<size_t>(i)].get<std::vector<double>>();
    worst = std::max(worst, (products[i] - at::tensor(expected, at::kDouble)).abs().max().item<float>());
  }
  return worst;
}

/// Returns a thousand texts, or every `step`th of them.
std::vector<std::string> golden_texts(size_t step = 1) {
  std::vector<std::string> texts;
  const json& all = texts_golden().at("texts");
  for (size_t i = 0; i < all.size(); i += step) texts.push_back(all[i].get<std::string>());
  return texts;
}

void expect_tokens(const TextEncoder& encoder, const json& golden, size_t step = 1) {
  const std::vector<std::string> texts = golden_texts(step);
  ASSERT_EQ(texts.size(), golden.at("tokens").size());
  for (size_t i = 0; i < texts.size(); ++i)
    ASSERT_EQ(encoder.tokens(texts[i]), golden.at("tokens")[i].get<std::vector<int64_t>>()) << texts[i];
}

TEST(ClipTexts, AThousandTextsHaveTheTokensAndTheVectorsOfTransformers) {
  const json& golden = texts_golden().at("clip");
  const TempDir folder;
  write_clip_texts(folder.path());
  const TextEncoder encoder = open_text_encoder(folder.path());
  expect_tokens(encoder, golden);
  const TextVectors made = encoder.encode(golden_texts());
  EXPECT_EQ(made.vectors.shape(), (std::vector<int64_t>{1000, 24}));
  EXPECT_LT(worst_miss(tensor_of(made.vectors), golden), 1e-4F);
  EXPECT_GT(made.cut, 10) << "the last fifteen are long";
  EXPECT_EQ(encoder.longest(), 77);
}

TEST(ClipTexts, TokenizerJsonSaysTheSameAsVocabularyAndMerges) {
  const json& golden = texts_golden().at("clip");
  const TempDir folder;
  write_clip_texts(folder.path());
  std::filesystem::remove(folder / "vocab.json");
  std::filesystem::remove(folder / "merges.txt");
  write_file(folder / "tokenizer.json", tokenizer_json(golden).dump());
  expect_tokens(open_text_encoder(folder.path()), golden);
  json pairs = tokenizer_json(golden);
  for (json& pair : pairs.at("model").at("merges")) {
    const auto words = pair.get<std::string>();
    pair = {words.substr(0, words.find(' ')), words.substr(words.find(' ') + 1)};
  }
  write_file(folder / "tokenizer.json", pairs.dump());
  expect_tokens(open_text_encoder(folder.path()), golden);
}

TEST(ClipTexts, OfAWholeModelAreItsTextTowers) {
  const json& golden = texts_golden().at("clip");
  const TempDir folder;
  write_clip_texts(folder.path());
  TextState state = state_of(golden);
  state["vision_model.embeddings.class_embedding"] = at::ones({32});
  state["visual_projection.weight"] = at::ones({24, 32});
  state["logit_scale"] = at::ones({});
  write_state(folder.path(), state);
  json text_config = golden.at("config");
  text_config["model_type"] = "clip_text_model";
  write_file(folder / "config.json",
             json{{"model_type", "clip"}, {"hidden_size", 5}, {"text_config", text_config}}.dump());
  const TextVectors made = open_text_encoder(folder.path()).encode(golden_texts());
  EXPECT_LT(worst_miss(tensor_of(made.vectors), golden), 1e-4F);
}

TEST(ClipTexts, WithTheOldNumberOfTheEndTheLargestTokenIsTheEnd) {
  const TempDir folder;
  write_clip_texts(folder.path());
  const at::Tensor expected = tensor_of(open_text_encoder(folder.path()).encode({"a red bird"}).vectors);
  json config = texts_golden().at("clip").at("config");
  config["eos_token_id"] = 2;
  write_file(folder / "config.json", config.dump());
  EXPECT_TRUE(at::equal(tensor_of(open_text_encoder(folder.path()).encode({"a red bird"}).vectors), expected));
}

TEST(ClipTexts, AVectorDoesNotDependOnTheTextsBesideIt) {
  const TempDir folder;
  write_clip_texts(folder.path());
  const TextEncoder encoder = open_text_encoder(folder.path());
  const at::Tensor together =
      tensor_of(encoder.encode({"a bird", "a photo of a small bird with a red crown", "an emu"}).vectors);
  EXPECT_TRUE(at::allclose(
      together[1], tensor_of(encoder.encode({"a photo of a small bird with a red crown"}).vectors)[0], 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(together[0], tensor_of(encoder.encode({"a bird"}).vectors)[0], 1e-5, 1e-6));
}

TEST(ClipTexts, ATextWithoutAWordIsRefused) {
  const TempDir folder;
  write_clip_texts(folder.path());
  const TextEncoder encoder = open_text_encoder(folder.path());
  for (const char* text : {"", " \t\n", "\u2003"})
    EXPECT_THAT(message_of([&] { (void)encoder.encode({"a bird", text}); }), HasSubstr("has no tokens"));
}

TEST(ClipTexts, AnyBytesAndAnyLengthAreEncoded) {
  const TempDir folder;
  write_clip_texts(folder.path());
  const TextEncoder encoder = open_text_encoder(folder.path());
  EXPECT_EQ(encoder.tokens("\xff\xc3 bird"), encoder.tokens("\ufffd\ufffd bird"));
  const TextVectors made = encoder.encode({std::string(1 << 20, 'a'), std::string("a\0b", 3)});
  EXPECT_EQ(made.cut, 1);
  EXPECT_EQ(encoder.tokens(std::string(1 << 20, 'a')).size(), 77U);
}

class ClipFolder : public ::testing::Test {
 protected:
  void SetUp() override { write_clip_texts(folder_.path()); }
  std::string refusal() {
    return message_of([&] { open_text_encoder(folder_.path()); });
  }
  std::string refusal_of(const char* name, const std::string& content) {
    const std::string before = std::filesystem::exists(folder_ / name) ? read_file(folder_ / name) : "";
    write_file(folder_ / name, content);
    const std::string message = refusal();
    before.empty() ? static_cast<void>(std::filesystem::remove(folder_ / name)) : write_file(folder_ / name, before);
    return message;
  }
  TempDir folder_;
};

TEST_F(ClipFolder, WhatIsMissingIsNamed) {
  for (const char* name : {"config.json", "model.safetensors", "merges.txt", "vocab.json"}) {
    const TempDir kept;
    std::filesystem::copy(folder_ / name, kept / name);
    std::filesystem::remove(folder_ / name);
    EXPECT_THAT(refusal(), HasSubstr(name));
    std::filesystem::copy(kept / name, folder_ / name);
  }
  EXPECT_THAT(message_of([] { open_text_encoder("no-such-folder"); }), HasSubstr("no-such-folder"));
}

TEST_F(ClipFolder, OtherFamiliesAreRefusedByName) {
  for (const char* type : {"roberta", "xlm-roberta", "t5", "qwen3"})
    EXPECT_THAT(refusal_of("config.json", json{{"model_type", type}}.dump()),
                AllOf(HasSubstr(type), HasSubstr("clip")));
  EXPECT_THAT(refusal_of("config.json", "[]"), HasSubstr("config.json"));
  EXPECT_THAT(refusal_of("config.json", "{"), HasSubstr("config.json"));
}

TEST_F(ClipFolder, DamagedTokenizersAreRefused) {
  const json& golden = texts_golden().at("clip");
  const auto both = [](const char* a, const char* b) { return AllOf(HasSubstr(a), HasSubstr(b)); };
  EXPECT_THAT(refusal_of("vocab.json", "[]"), HasSubstr("vocab.json"));
  EXPECT_THAT(refusal_of("vocab.json", "{}"), HasSubstr("vocab.json"));
  EXPECT_THAT(refusal_of("vocab.json", R"({"a": -1})"), both("'a'", "-1"));
  EXPECT_THAT(refusal_of("vocab.json", R"({"a": 1e300})"), HasSubstr("vocab.json"));
  EXPECT_THAT(refusal_of("vocab.json", R"({"a": 1.5})"), both("'a'", "1.5"));
  EXPECT_THAT(refusal_of("vocab.json", R"({"a": "1"})"), HasSubstr("'a'"));
  EXPECT_THAT(refusal_of("vocab.json", R"({"a": 1})"), HasSubstr("<|startoftext|>"));
  json larger = golden.at("vocabulary");
  larger["new"] = larger.size();
  EXPECT_THAT(refusal_of("vocab.json", larger.dump()), HasSubstr("use files of one model"));
  EXPECT_THAT(refusal_of("merges.txt", "#version: 0.2\na b c\n"), both("merges.txt:2", "a b c"));
  EXPECT_THAT(refusal_of("merges.txt", "alone\n"), HasSubstr("merges.txt:1"));
  EXPECT_THAT(refusal_of("merges.txt", "zzz yyy\n"), HasSubstr("zzz"));
  EXPECT_THAT(refusal_of("tokenizer_config.json", R"({"model_max_length": 0})"), HasSubstr("model_max_length"));
  EXPECT_EQ(refusal_of("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})"),
            "(no Error)");
}

TEST_F(ClipFolder, DamagedTokenizerJsonIsRefused) {
  const json whole = tokenizer_json(texts_golden().at("clip"));
  const auto with = [&](const std::string& place, const json& value) {
    json changed = whole;
    changed[json::json_pointer(place)] = value;
    return refusal_of("tokenizer.json", changed.dump());
  };
  EXPECT_EQ(with("/model/type", "BPE"), "(no Error)");
  EXPECT_THAT(with("/model/type", "Unigram"), HasSubstr("Unigram"));
  EXPECT_THAT(with("/model/end_of_word_suffix", nullptr), HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(with("/model", 5), HasSubstr("tokenizer.json"));
  EXPECT_THAT(with("/model/vocab", json::array({1, 2})), HasSubstr("vocab"));
  EXPECT_THAT(with("/model/merges", "a b"), HasSubstr("merges"));
  EXPECT_THAT(with("/model/merges", json::array({7})), HasSubstr("7"));
  EXPECT_THAT(with("/model/merges", json::array({json::array({"a", 7})})), HasSubstr("merges"));
  EXPECT_THAT(with("/added_tokens/0", 3), HasSubstr("added_tokens"));
  EXPECT_THAT(with("/added_tokens/0/content", ""), HasSubstr("added_tokens"));
  EXPECT_THAT(with("/added_tokens/0/id", 1 << 20), HasSubstr("use files of one model"));
  EXPECT_THAT(with("/model/unk_token", "none"), HasSubstr("'none'"));
  const std::string text = whole.dump();
  for (size_t part = 1; part < 20; ++part)
    EXPECT_THAT(refusal_of("tokenizer.json", text.substr(0, text.size() * part / 20)), HasSubstr("tokenizer.json"));
}

TEST_F(ClipFolder, TensorsOfOtherSizesAreNamed) {
  const TextState whole = state_of(texts_golden().at("clip"));
  const auto refused = [&](const std::string& name, const at::Tensor& tensor) {
    TextState state = whole;
    state.erase(name);
    if (tensor.defined()) state[name] = tensor;
    write_state(folder_.path(), state);
    return refusal();
  };
  const std::string layer = "text_model.encoder.layers.1.";
  EXPECT_THAT(refused(layer + "mlp.fc1.bias", {}), HasSubstr("layers.1.mlp.fc1.bias"));
  EXPECT_THAT(refused(layer + "mlp.gate.weight", at::ones({3})), HasSubstr("gate"));
  EXPECT_THAT(refused("text_model.embeddings.token_embedding.weight", at::ones({700, 31})), HasSubstr("[700, 31]"));
  EXPECT_THAT(refused("text_model.embeddings.position_embedding.weight", at::full({77, 32}, std::nan(""))),
              HasSubstr("is not finite"));
  EXPECT_THAT(refused("text_projection.weight", at::ones({24, 31})), HasSubstr("text_projection"));
}

/// Writes BERT or MPNet as `sentence_transformers` does.
void write_sentences(const TempDir& folder, const json& golden) {
  write_file(folder / "config.json", golden.at("config").dump());
  std::string lines;
  for (const auto& token : golden.at("vocabulary")) lines += token.get<std::string>() + "\n";
  write_file(folder / "vocab.txt", lines);
  write_file(folder / "tokenizer_config.json", R"({"model_max_length": 60, "do_lower_case": true})");
  write_state(folder.path(), state_of(golden));
}

json word_piece_json(const json& golden) {
  json vocabulary = json::object();
  for (const auto& token : golden.at("vocabulary")) vocabulary[token.get<std::string>()] = vocabulary.size();
  return {{"added_tokens", golden.at("added_tokens")},
          {"normalizer", golden.at("normalizer")},
          {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocabulary}}}};
}

class Sentences : public ::testing::TestWithParam<std::pair<const char*, size_t>> {};

TEST_P(Sentences, TextsHaveTheTokensAndTheVectorsOfTransformers) {
  const auto [name, step] = GetParam();
  const json& golden = texts_golden().at(name);
  const TempDir folder;
  write_sentences(folder, golden);
  const TextEncoder encoder = open_text_encoder(folder.path());
  expect_tokens(encoder, golden, step);
  std::vector<std::string> texts;
  json expected = {{"vectors", json::array()}};
  const std::vector<std::string> all = golden_texts(step);
  for (size_t i = 0; i < all.size(); ++i) {
    if (encoder.tokens(all[i]).size() <= 2) continue;  // no word that BERT knows
    texts.push_back(all[i]);
    expected["vectors"].push_back(golden.at("vectors")[i]);
  }
  EXPECT_GT(texts.size() * 100, all.size() * 99);
  EXPECT_LT(worst_miss(tensor_of(encoder.encode(texts).vectors), expected), 1e-4F);
  write_file(folder / "tokenizer.json", word_piece_json(golden).dump());
  expect_tokens(open_text_encoder(folder.path()), golden, step);
}

INSTANTIATE_TEST_SUITE_P(All, Sentences, ::testing::Values(std::pair{"bert", 1}, std::pair{"mpnet", 4}),
                         [](const auto& one) { return one.param.first; });

class SentenceFolder : public ClipFolder {
 protected:
  void SetUp() override { write_sentences(folder_, texts_golden().at("bert")); }
  void write_modules(const std::string& pooling) {
    write_file(folder_ / "modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
      {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
      {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])");
    std::filesystem::create_directories(folder_ / "1_Pooling");
    write_file(folder_ / "1_Pooling/config.json", pooling);
  }
};

TEST_F(SentenceFolder, ModulesSayHowStatesArePooled) {
  const at::Tensor plain = tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors)[0];
  write_modules(R"({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})");
  const at::Tensor mean = tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors)[0];
  EXPECT_TRUE(at::allclose(mean, plain / plain.norm(), 1e-4, 1e-5)) << "the mean is what is taken without modules";
  write_modules(R"({"pooling_mode_cls_token": true})");
  const at::Tensor first = tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors)[0];
  EXPECT_NEAR(first.norm().item<float>(), 1, 1e-5);
  EXPECT_FALSE(at::allclose(first, mean, 1e-2, 1e-2));
  write_file(folder_ / "sentence_bert_config.json", R"({"max_seq_length": 7})");
  EXPECT_EQ(open_text_encoder(folder_.path()).longest(), 7);
}

TEST_F(SentenceFolder, WhatIsNotReadIsNamed) {
  write_modules(R"({"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true})");
  EXPECT_THAT(refusal(), HasSubstr("mean_tokens and max_tokens"));
  write_modules("{}");
  EXPECT_THAT(refusal(), HasSubstr("nothing"));
  write_modules("[]");
  EXPECT_THAT(refusal(), HasSubstr("nothing"));
  EXPECT_THAT(refusal_of("modules.json", R"([{"type": "sentence_transformers.models.Dense"}])"), HasSubstr("'Dense'"));
  EXPECT_THAT(refusal_of("modules.json", R"([{"type": "a.Transformer", "path": "../x"}])"), HasSubstr("../x"));
  EXPECT_THAT(refusal_of("modules.json", R"([{"type": "a.Transformer", "path": "/etc"}])"), HasSubstr("/etc"));
  EXPECT_THAT(refusal_of("modules.json", "7"), HasSubstr("modules.json"));
  write_modules(R"({"pooling_mode_mean_tokens": true})");
  EXPECT_THAT(refusal_of("config_sentence_transformers.json", R"({"default_prompt_name": "query"})"),
              HasSubstr("'query'"));
  EXPECT_EQ(refusal_of("config_sentence_transformers.json", R"({"default_prompt_name": null})"), "(no Error)");
  std::filesystem::remove(folder_ / "modules.json");
  EXPECT_THAT(refusal_of("vocab.txt", ""), HasSubstr("vocab.txt"));
  EXPECT_THAT(refusal_of("vocab.txt", "a\nb\n"), HasSubstr("vocab.txt"));
  EXPECT_THAT(refusal_of("tokenizer.json", "{}"), HasSubstr("BertNormalizer"));
  json tokenizer = word_piece_json(texts_golden().at("bert"));
  tokenizer["model"]["unk_token"] = "none";
  EXPECT_THAT(refusal_of("tokenizer.json", tokenizer.dump()), HasSubstr("'none'"));
  json config = texts_golden().at("bert").at("config");
  config["position_embedding_type"] = "relative_key";
  EXPECT_THAT(refusal_of("config.json", config.dump()), HasSubstr("relative_key"));
}

TEST_F(SentenceFolder, LongWordsAreUnknownAndLongTextsAreCut) {
  const TextEncoder encoder = open_text_encoder(folder_.path());
  EXPECT_EQ(encoder.tokens(std::string(1 << 20, 'a')).size(), 3U);
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "bird ";
  EXPECT_EQ(encoder.tokens(many).size(), 60U);
}

/// Returns a tokenizer whose longest piece nearly fits at each place of a word of the letter a.
std::string hard_to_cut(size_t longest_piece) {
  const std::string pieces = std::string(longest_piece - 1, 'a') + "b";
  return json{{"normalizer", {{"type", "BertNormalizer"}}},
              {"model",
               {{"type", "WordPiece"},
                {"max_input_chars_per_word", 1 << 20},
                {"vocab", {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"a", 3}, {"##a", 4}, {"##" + pieces, 5}}}}}}
      .dump();
}

TEST(WordPieces, ALongWordThatNearlyHasALongPieceIsCut) {
  const auto tokenizer = text::make_bert_tokenizer({{"tokenizer.json", hard_to_cut(1000)}});
  const size_t letters = 10000;  // building each candidate would take 5 * 10^9 steps
  const std::vector<int64_t> ids = tokenizer->tokens(std::string(letters, 'a'), 1 << 20).ids;
  ASSERT_EQ(ids.size(), letters + 2);
  EXPECT_EQ(ids[1], 3);
  EXPECT_EQ(ids[letters], 4);
  const std::vector<int64_t> whole = tokenizer->tokens(std::string(1000, 'a') + "b", 10).ids;
  EXPECT_EQ(whole, (std::vector<int64_t>{1, 3, 5, 2}));
}

TEST(WordPieces, ATokenThatIsLongerThanAnyWordIsRefused) {
  EXPECT_THAT(message_of([] {
                text::make_bert_tokenizer({{"tokenizer.json", hard_to_cut(2000)}});
              }),
              HasSubstr("has 2002 bytes, expected at most 1024"));
}

TEST(Unicode, MarksThatAreOutOfOrderAreSortedHoweverManyThereAre) {
  constexpr char32_t kAbove = 0x301, kBelow = 0x323;
  const size_t pairs = 200000;  // 10^10 steps if each moved back by itself
  std::u32string letters = U"e";
  for (size_t i = 0; i < pairs; ++i) letters += {kAbove, kBelow};
  EXPECT_EQ(text::decomposed(letters), U"e" + std::u32string(pairs, kBelow) + std::u32string(pairs, kAbove));
  EXPECT_EQ(text::composed(letters), U"\u1EB9" + std::u32string(pairs - 1, kBelow) + std::u32string(pairs, kAbove));
}

TEST(Unicode, FormsAreThoseOfTheStandard) {
  EXPECT_EQ(text::composed(U"e\u0323\u0302 \u1100\u1161\u11A8 \u212B \u0958"), U"\u1EC7 \uAC01 \u00C5 \u0915\u093C");
  EXPECT_EQ(text::decomposed(U"\u1EC7 \uAC01 \u00C5"), U"e\u0323\u0302 \u1100\u1161\u11A8 A\u030A");
}

}  // namespace
}  // namespace protocom
