// SigLIP's text tower and its tokenizer: compared with `transformers` and sentencepiece, and errors of damaged files.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <protozero/pbf_writer.hpp>

#include "encoders/text/detail/unigram.h"
#include "encoders/text_encoder.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "support/message_of.h"
#include "support/siglip_folder.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A piece to write; the piece for unknown text is the first of a list.
struct Written {
  std::string text;
  float score;
  int32_t kind = 1;
};

std::string model_of(const std::vector<Written>& pieces, const std::string& map = "", int32_t type = 1) {
  std::string bytes;
  protozero::pbf_writer model(bytes);
  for (const Written& piece : pieces) {
    protozero::pbf_writer to(model, 1);
    to.add_string(1, piece.text);
    to.add_float(2, piece.score);
    to.add_enum(3, piece.kind);
  }
  protozero::pbf_writer(model, 2).add_enum(3, type);
  if (!map.empty()) protozero::pbf_writer(model, 3).add_bytes(2, map);
  return bytes;
}

text::Unigram unigram_of(const std::vector<Written>& pieces) {
  return text::Unigram(text::read_sentence_pieces(model_of(pieces)));
}

TEST(Unigrams, ThePiecesWithTheLargestSumOfScoresAreTaken) {
  const std::string mark = "\u2581";
  const text::Unigram pieces =
      unigram_of({{"<unk>", 0, 2}, {mark, -3}, {"a", -2}, {"b", -2}, {"ab", -3.5}, {mark + "ab", -8}, {"bb", -4}});
  EXPECT_THAT(pieces.encode("ab"), ElementsAre(1, 4)) << "-6.5 against -8 for the whole and -7 for the letters";
  EXPECT_THAT(pieces.encode("abb"), ElementsAre(1, 4, 3)) << "-8.5 against -9 for a, bb";
  EXPECT_THAT(pieces.encode("bb"), ElementsAre(1, 6)) << "of two that are equal the one found first";
  EXPECT_THAT(pieces.encode("  a   b "), ElementsAre(1, 2, 1, 3)) << "spaces are joined";
  EXPECT_THAT(pieces.encode("axyzb\u00e9a"), ElementsAre(1, 2, 0, 3, 0, 2)) << "what is unknown in a row is one";
  EXPECT_THAT(pieces.encode(""), ElementsAre());
  EXPECT_THAT(pieces.encode(" \t"), ElementsAre(1, 0)) << "without a map a tab is no space";
}

TEST(Unigrams, APieceThatUsersAskForScoresAsItsLettersBest) {
  const text::Unigram pieces = unigram_of({{"<unk>", 0, 2}, {"\u2581", -1}, {"a", -2}, {"b", -2}, {"aab", 0, 4}});
  EXPECT_THAT(pieces.encode("aaab"), ElementsAre(1, 2, 4));
}

class SiglipFolder : public ::testing::Test {
 protected:
  void SetUp() override { write_siglip_texts(folder_.path()); }
  std::string refusal_of(const std::string& name, const std::string& content) {
    const std::string before = read_file(folder_ / name);
    write_file(folder_ / name, content);
    const std::string message = message_of([&] { open_text_encoder(folder_.path()); });
    write_file(folder_ / name, before);
    return message;
  }
  TempDir folder_;
};

TEST_F(SiglipFolder, TextsHaveTheTokensOfSentencepieceAndTheVectorsOfTransformers) {
  const json& golden = siglip_golden();
  const TextEncoder encoder = open_text_encoder(folder_.path());
  const auto padded = golden.at("padded").get<size_t>();
  EXPECT_EQ(encoder.longest(), static_cast<int64_t>(padded));
  EXPECT_EQ(encoder.dim(), 24);
  EXPECT_TRUE(encoder.compares_with_images());
  std::vector<std::string> texts;
  json expected = json::array();
  for (size_t i = 0; i < golden.at("texts").size(); ++i) {
    const auto text = golden.at("texts")[i].get<std::string>();
    auto tokens = golden.at("tokens")[i].get<std::vector<int64_t>>();
    const bool has_words = tokens.size() > 1;
    tokens.resize(padded, 1);
    ASSERT_EQ(encoder.tokens(text), tokens) << text;
    if (!has_words) continue;  // punctuation alone, which is left out
    texts.push_back(text);
    expected.push_back(golden.at("vectors")[i]);
  }
  EXPECT_GT(texts.size(), 240U);
  const TextVectors made = encoder.encode(texts);
  EXPECT_LT(worst_miss_of_texts(tensor_of(made.vectors), expected), 1e-4F);
  EXPECT_GT(made.cut, 2);
}

TEST_F(SiglipFolder, OneFolderHasTheTowersOfTextsAndOfImages) {
  const at::Tensor alone = tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors);
  const json images = golden_file("huggingface.json").at("siglip_vision_model");
  TextState state = state_of(images);
  for (const auto& [name, tensor] : state_of(siglip_golden())) state["text_model." + name] = tensor;
  state["logit_scale"] = at::ones({1});
  state["logit_bias"] = at::ones({1});
  write_state(folder_.path(), state);
  json text_config = siglip_golden().at("config");
  text_config.erase("model_type");
  write_file(
      folder_ / "config.json",
      json{{"model_type", "siglip"}, {"vision_config", images.at("config")}, {"text_config", text_config}}.dump());
  write_file(folder_ / "preprocessor_config.json",
             R"({"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "size": {"height": 32, "width": 32}})");
  EXPECT_TRUE(tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors).equal(alone));
  EXPECT_EQ(open_backbone(folder_.path(), {})->image_size(), 32);
}

TEST_F(SiglipFolder, ADamagedModelOfPiecesIsRefused) {
  const auto with = [&](const std::vector<Written>& pieces, const std::string& map = "", int32_t type = 1) {
    return refusal_of("spiece.model", model_of(pieces, map, type));
  };
  const std::vector<Written> whole = {{"<unk>", 0, 2}, {"</s>", 0, 3}, {"a", -1}};
  EXPECT_EQ(with(whole), "(no Error)");
  EXPECT_THAT(with(whole, "", 2), AllOf(HasSubstr("spiece.model"), HasSubstr("unigram")));
  EXPECT_THAT(with({{"</s>", 0, 3}, {"a", -1}}), HasSubstr("<unk>"));
  EXPECT_THAT(with({{"<unk>", 0}, {"</s>", 0, 3}, {"a", -1}}), HasSubstr("unknown"));
  EXPECT_THAT(with({{"<unk>", 0, 2}, {"</s>", 0, 3}, {"a", -1}, {"a", -2}}), HasSubstr("duplicate piece 'a'"));
  EXPECT_THAT(with({{"<unk>", 0, 2}, {"</s>", 0, 3}, {"a", std::numeric_limits<float>::quiet_NaN()}}),
              HasSubstr("not finite"));
  EXPECT_THAT(with({{"<unk>", 0, 2}, {"</s>", 0, 3}, {std::string(2000, 'a'), -1}}), HasSubstr("2000 bytes"));
  EXPECT_THAT(with({{"<unk>", 0, 2}, {"</s>", 0, 3}}), HasSubstr("no piece of the type 'normal'"));
  EXPECT_THAT(with(whole, std::string("\xff\xff\xff\x7fx\0", 6)), HasSubstr("character map"));
  EXPECT_THAT(refusal_of("spiece.model",
                         "\x0a\x05\x0a\x01"
                         "a\x10\x05"),
              HasSubstr("unexpected type"))
      << "a whole number as a piece's score";
  const std::string bytes = read_file(folder_ / "spiece.model");
  for (size_t part = 0; part < 20; ++part) {
    const std::string said = refusal_of("spiece.model", bytes.substr(0, bytes.size() * part / 20));
    EXPECT_THAT(said, AnyOf("(no Error)", HasSubstr("spiece.model")));
  }
  std::vector<Written> many = whole;
  for (int i = 0; i < 500; ++i) many.push_back({"piece" + std::to_string(i), -1});
  EXPECT_THAT(with(many), HasSubstr("use files of one model"));
}

TEST_F(SiglipFolder, AMapOfCharactersNeverLeadsOutOfItself) {
  const std::string bytes = bytes_of_base64(siglip_golden().at("model"));
  text::SentencePieces model = text::read_sentence_pieces(bytes);
  const std::string whole = model.character_map;
  for (size_t i = 4; i < whole.size(); i += 3) {
    model.character_map = whole;
    model.character_map[i] = static_cast<char>(~model.character_map[i]);
    (void)message_of([&] { (void)text::Unigram(model).encode("e\u0301te\u0301 \uff21 \u00bd \u2167 a\u3000b"); });
  }
}

/// Returns a double array of these units, and the texts after it.
std::string map_of(const std::map<size_t, uint32_t>& units, const std::string& texts) {
  constexpr uint32_t kUnits = 1024;
  std::string bytes;
  const auto add = [&bytes](uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xFFU);
  };
  add(kUnits * 4);
  for (size_t i = 0; i < kUnits; ++i) add(units.count(i) > 0 ? units.at(i) : 0);
  return bytes + texts + std::string(1, '\0');
}

constexpr uint32_t kLetter = 'a', kFirst = 256, kPlace = kFirst ^ kLetter;  // where the root leads by that letter

// Each unit: offset << 10 | has a leaf << 8 | letter. After this letter the offset leads to the same place again.
TEST(CharacterMaps, AreFollowedNoFartherThanAPieceIsLongThoughTheyLeadInACircle) {
  const text::CharacterMap map(map_of({{0, kFirst << 10U}, {kPlace, kLetter << 10U | 1U << 8U | kLetter}}, "b"));
  const auto found = map.find(std::string(5000, 'a'));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, "b");
  EXPECT_EQ(found->second, text::kLongestPiece);
}

TEST(CharacterMaps, AreRefusedWhereALetterBecomesAPage) {
  const std::map<size_t, uint32_t> units = {
      {0, kFirst << 10U}, {kPlace, 1U << 10U | 1U << 8U | kLetter}, {kPlace ^ 1U, 1U << 31U}};
  EXPECT_EQ(text::CharacterMap(map_of(units, std::string(32, 'b'))).find("ac"),
            std::pair(std::string_view("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"), size_t{1}));
  const text::CharacterMap page(map_of(units, std::string(33, 'b')));
  EXPECT_THAT(message_of([&] { (void)page.find("ac"); }), HasSubstr("1 bytes become 33"));
}

TEST_F(SiglipFolder, OfATextItsFirst64KiBAreRead) {
  const TextEncoder encoder = open_text_encoder(folder_.path());
  const std::string blank(size_t{64} << 10, ' ');
  EXPECT_EQ(encoder.tokens(blank.substr(4) + "bird"), encoder.tokens("bird"));
  EXPECT_EQ(encoder.tokens(blank + "bird"), encoder.tokens(""));
  EXPECT_EQ(encoder.encode({"bird" + blank + "bird"}).cut, 1);
}

TEST_F(SiglipFolder, WhatIsMissingIsNamed) {
  std::filesystem::remove(folder_ / "spiece.model");
  EXPECT_THAT(message_of([&] { open_text_encoder(folder_.path()); }),
              AllOf(HasSubstr("spiece.model"), HasSubstr("tokenizer.json (SigLIP 2")));
  write_siglip_texts(folder_.path());
  EXPECT_THAT(refusal_of("tokenizer_config.json", R"({"do_lower_case": false})"), HasSubstr("do_lower_case"));
  EXPECT_THAT(refusal_of("tokenizer_config.json", R"({"pad_token": "[PAD]"})"), HasSubstr("[PAD]"));
}

TEST_F(SiglipFolder, AnyBytesAndAnyLengthAreEncoded) {
  const TextEncoder encoder = open_text_encoder(folder_.path());
  const TextVectors made = encoder.encode({std::string(1 << 20, 'a'), "\xff\xc3 bird", std::string("a\0b", 3)});
  EXPECT_EQ(made.cut, 1);
  EXPECT_THAT(message_of([&] { (void)encoder.encode({"!?"}); }), HasSubstr("has no tokens"));
}

}  // namespace
}  // namespace protocom::testing
