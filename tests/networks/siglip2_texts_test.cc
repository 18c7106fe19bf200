// SigLIP 2's text tower and its tokenizer: compared with `transformers`, and what is refused.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "encoders/text_encoder.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/siglip_folder.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Siglip2Folder : public ::testing::Test {
 protected:
  void SetUp() override { write_siglip2_texts(folder_.path()); }
  /// Opens the folder with another tokenizer.json, or other settings.
  TextEncoder with(const json& tokenizer, const json& settings = {{"model_max_length", 40}}) {
    write_file(folder_ / "tokenizer.json", tokenizer.dump());
    write_file(folder_ / "tokenizer_config.json", settings.dump());
    return open_text_encoder(folder_.path());
  }
  std::string refusal_of(const char* place, const json& value) {
    json changed = whole_;
    changed[json::json_pointer(place)] = value;
    return message_of([&] { with(changed); });
  }
  std::string refusal_of_settings(const json& settings) {
    return message_of([&] { with(whole_, settings); });
  }
  TempDir folder_;
  const json whole_ = siglip2_golden().at("tokenizer");
};

TEST_F(Siglip2Folder, TextsHaveTheTokensAndTheVectorsOfTransformers) {
  const json& golden = siglip2_golden();
  const TextEncoder encoder = open_text_encoder(folder_.path());
  const auto padded = golden.at("padded").get<size_t>();
  EXPECT_EQ(encoder.longest(), static_cast<int64_t>(padded));
  EXPECT_TRUE(encoder.compares_with_images());
  const auto texts = golden.at("texts").get<std::vector<std::string>>();
  EXPECT_GT(texts.size(), 260U);
  for (size_t i = 0; i < texts.size(); ++i) {
    auto tokens = golden.at("tokens")[i].get<std::vector<int64_t>>();
    tokens.resize(padded, 0);
    ASSERT_EQ(encoder.tokens(texts[i]), tokens) << texts[i];
  }
  const TextVectors made = encoder.encode(texts);
  EXPECT_LT(worst_miss_of_texts(tensor_of(made.vectors), golden.at("vectors")), 1e-4F);
  EXPECT_GT(made.cut, 2);
}

TEST_F(Siglip2Folder, CapitalLettersAreKeptOnlyWhereTheSettingsSaySo) {
  const TextEncoder said_nothing = with(whole_);
  EXPECT_EQ(said_nothing.tokens("A Bird"), said_nothing.tokens("a bird"));
  const TextEncoder kept = with(whole_, {{"model_max_length", 40}, {"do_lower_case", false}});
  EXPECT_NE(kept.tokens("A Bird"), kept.tokens("a bird"));
  EXPECT_EQ(kept.tokens("a bird"), said_nothing.tokens("a bird"));
  json stated = whole_;
  stated["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}, whole_.at("normalizer")}}};
  EXPECT_EQ(with(stated, {{"model_max_length", 40}, {"do_lower_case", false}}).tokens("A Bird"),
            said_nothing.tokens("a bird"));
}

TEST_F(Siglip2Folder, MergesAreOneTextOrTwo) {
  const TextEncoder pairs = with(whole_);
  json one = whole_;
  for (json& merge : one["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  const TextEncoder texts = with(one);
  for (const auto& text : siglip2_golden().at("texts"))
    ASSERT_EQ(texts.tokens(text.get<std::string>()), pairs.tokens(text.get<std::string>()));
}

TEST_F(Siglip2Folder, AHundredThousandAddedTokensThatBeginAlikeAreFound) {
  constexpr int kTokens = 100'000;
  json stated = whole_;
  for (int i = 0; i < kTokens; ++i)
    stated["added_tokens"].push_back({{"id", 5}, {"content", std::string(20, 'a') + std::to_string(kTokens + i)}});
  stated["added_tokens"].push_back({{"id", 6}, {"content", std::string(20, 'a') + "1"}});
  const TextEncoder encoder = with(stated);
  const TextEncoder plain = with(whole_);
  const std::string letters(60'000, 'a');
  EXPECT_EQ(encoder.tokens(letters), plain.tokens(letters));
  EXPECT_EQ(encoder.tokens(std::string(20, 'a') + "100007" + std::string(20, 'a') + "1").at(0), 5) << "the longest";
  EXPECT_EQ(encoder.tokens(std::string(20, 'a') + "1").at(0), 6);
}

TEST_F(Siglip2Folder, AnAddedTokenOfAPageIsRefused) {
  json stated = whole_;
  stated["added_tokens"].push_back({{"id", 5}, {"content", std::string(1024, 'a')}});
  EXPECT_EQ(message_of([&] { with(stated); }), "(no Error)");
  stated["added_tokens"].push_back({{"id", 5}, {"content", std::string(1025, 'a')}});
  EXPECT_THAT(message_of([&] { with(stated); }), HasSubstr("added_tokens has a content of 1025 bytes"));
}

TEST_F(Siglip2Folder, TheFamiliesOfBothResolutionsAreRead) {
  const at::Tensor vector = tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors);
  json config = siglip2_golden().at("config");
  for (const char* type : {"siglip2_text_model", "siglip2"}) {
    config["model_type"] = type;
    write_file(folder_ / "config.json", config.dump());
    EXPECT_TRUE(tensor_of(open_text_encoder(folder_.path()).encode({"a small bird"}).vectors).equal(vector)) << type;
  }
}

TEST_F(Siglip2Folder, AnotherTokenizerIsRefusedWithWhatItHas) {
  EXPECT_EQ(refusal_of("/version", "1.0"), "(no Error)");
  EXPECT_THAT(refusal_of("/model/type", "Unigram"), HasSubstr("the model is 'Unigram'"));
  EXPECT_THAT(refusal_of("/model/byte_fallback", false), HasSubstr("without byte_fallback"));
  EXPECT_THAT(refusal_of("/model/end_of_word_suffix", "</w>"), HasSubstr("end_of_word_suffix='</w>'"));
  EXPECT_THAT(refusal_of("/model/ignore_merges", true), HasSubstr("ignore_merges"));
  EXPECT_THAT(refusal_of("/normalizer", nullptr), HasSubstr("the normalizer"));
  EXPECT_THAT(refusal_of("/normalizer", {{"type", "NFKC"}}), HasSubstr("NFKC"));
  EXPECT_THAT(refusal_of("/normalizer", {{"type", "Sequence"}}), HasSubstr("no list 'normalizers'"));
  EXPECT_THAT(refusal_of("/normalizer", {{"type", "Lowercase"}}), HasSubstr("the normalizer is missing"));
  EXPECT_THAT(refusal_of("/pre_tokenizer", {{"type", "Metaspace"}}), HasSubstr("Metaspace"));
  EXPECT_EQ(refusal_of("/pre_tokenizer", nullptr), "(no Error)");
  EXPECT_THAT(
      refusal_of("/post_processor/single", {{{"SpecialToken", {{"id", "<bos>"}}}}, {{"Sequence", {{"id", "A"}}}}}),
      HasSubstr("add_bos_token=true is not supported"));
  EXPECT_THAT(refusal_of("/post_processor/single", {{{"Sequence", {{"id", "A"}}}}}),
              HasSubstr("add_eos_token=false is not supported"));
  EXPECT_THAT(refusal_of("/padding", {{"direction", "Left"}}), HasSubstr("'Left'"));
  EXPECT_THAT(refusal_of_settings({{"padding_side", "left"}}), HasSubstr("'left'"));
  EXPECT_THAT(refusal_of_settings({{"add_bos_token", true}}), HasSubstr("add_bos_token=true is not supported"));
  EXPECT_THAT(refusal_of_settings({{"add_eos_token", false}}), HasSubstr("add_eos_token=false is not supported"));
  EXPECT_THAT(refusal_of_settings({{"eos_token", "</s>"}}), HasSubstr("</s>"));
  EXPECT_THAT(refusal_of_settings(json::array()), HasSubstr("not an object"));
}

TEST_F(Siglip2Folder, DamagedFilesAreRefused) {
  EXPECT_THAT(refusal_of("/model/vocab", json::object()), HasSubstr("vocab"));
  EXPECT_THAT(refusal_of("/model/vocab/<0x41>", -1), HasSubstr("<0x41>"));
  EXPECT_THAT(refusal_of("/model/vocab/much", 5000), HasSubstr("use files of one model"));
  EXPECT_THAT(refusal_of("/model/merges", 1), HasSubstr("merges"));
  EXPECT_THAT(refusal_of("/model/merges/0", json::array({"a"})), HasSubstr("expected two tokens"));
  EXPECT_THAT(refusal_of("/model/merges/0", json::array({"zz", "qq"})), HasSubstr("'zz'"));
  EXPECT_THAT(refusal_of("/added_tokens/0", json::object()), HasSubstr("added_tokens"));
  json changed = whole_;
  changed["model"]["vocab"].erase("<0xFF>");
  EXPECT_THAT(message_of([&] { with(changed); }), AllOf(HasSubstr("tokenizer.json"), HasSubstr("<0xFF>")));
  const std::string bytes = whole_.dump();
  for (size_t part = 0; part < 20; ++part) {
    write_file(folder_ / "tokenizer.json", bytes.substr(0, bytes.size() * part / 20));
    EXPECT_THAT(message_of([&] { open_text_encoder(folder_.path()); }), HasSubstr("tokenizer.json"));
  }
}

TEST_F(Siglip2Folder, AnyBytesAndAnyLengthAreEncoded) {
  const TextEncoder encoder = open_text_encoder(folder_.path());
  const TextVectors made = encoder.encode({std::string(1 << 20, 'a'), "\xff\xc3 bird", std::string("a\0b", 3)});
  EXPECT_EQ(made.cut, 1);
  EXPECT_THAT(message_of([&] { (void)encoder.encode({""}); }), HasSubstr("has no tokens"));
}

}  // namespace
}  // namespace protocom::testing
