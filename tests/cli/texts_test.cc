#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "encoders/text_encoder.h"
#include "io/npz.h"
#include "support/clip_folder.h"
#include "support/painted_images.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Words as knowledge, by a small CLIP with made-up weights in the folder `clip`.
class Texts : public ::testing::Test {
 protected:
  void SetUp() override {
    write_clip(folder_ / "clip");
    write_text(folder_ / "words.csv",
               "class,description,description 2\nbird,a small brown bird,it has a red crown\nemu,a tall grey bird,\n");
  }

  Outcome run(const std::vector<std::string>& arguments) { return protocom(folder_.path(), arguments); }
  Outcome text(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"knowledge", "text", "--encoder", "clip"});
    return run(arguments);
  }
  /// Returns the unit vector of a text.
  at::Tensor direction(const std::string& words) {
    const at::Tensor made = tensor_of(open_text_encoder(folder_ / "clip").encode({words}).vectors)[0];
    return made / made.norm();
  }

  TempDir folder_;
};

TEST_F(Texts, OfDescriptionsAreTheMeanDirectionAndAnswerWithoutAPhoto) {
  const Outcome made = text({"--csv", "words.csv", "--out", "texts.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("class-vectors, 24 dimensions"));
  const at::Tensor found = tensor_of(NpzReader(folder_ / "texts.npz").array("class_embedding"));
  const at::Tensor sum = direction("a small brown bird") + direction("it has a red crown");
  EXPECT_TRUE(at::allclose(found[0], sum / sum.norm(), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(found[1], direction("a tall grey bird"), 1e-4, 1e-5));

  NpzWriter features(folder_ / "f.npz");
  features.add("features", array_of(at::cat({found, found})));
  features.add("labels", array_of(at::tensor({0, 1, 0, 1}, at::kLong)));
  features.add("names", std::vector<std::string>{"bird", "emu"});
  features.add("split", std::vector<std::string>{"novel", "novel"});
  features.close();
  const Outcome answered = run({"evaluate", "--features", "f.npz", "--knowledge", "texts.npz", "--methods", "zero-shot",
                                "--k-shot", "0", "--n-way", "2", "--n-query", "1", "--episodes", "5"});
  ASSERT_EQ(answered.exit_code, 0) << answered.err;
  EXPECT_THAT(answered.out, HasSubstr("100.0"));
  const Outcome again = run({"knowledge", "embeddings", "--vectors", "texts.npz", "--out", "again.npz"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(at::equal(tensor_of(NpzReader(folder_ / "again.npz").array("class_embedding")), found));
}

TEST_F(Texts, OfNamesAreTheirTemplates) {
  write_text(folder_ / "names.txt", "Joshua_Tree\nemu\n");
  ASSERT_EQ(text({"--names", "names.txt", "--out", "plain.npz"}).exit_code, 0);
  const at::Tensor plain = tensor_of(NpzReader(folder_ / "plain.npz").array("class_embedding"));
  EXPECT_TRUE(at::allclose(plain[0], direction("a photo of a Joshua Tree."), 1e-4, 1e-5));
  const Outcome made = text(
      {"--names", "names.txt", "--template", "itap of a {}.", "--template", "a drawing of a {}", "--out", "two.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const at::Tensor sum = direction("itap of a emu.") + direction("a drawing of a emu");
  EXPECT_TRUE(at::allclose(tensor_of(NpzReader(folder_ / "two.npz").array("class_embedding"))[1], sum / sum.norm(),
                           1e-4, 1e-5));
}

TEST_F(Texts, LongOnesAreCutWithOneWarning) {
  std::string longest = "bird";
  for (int i = 0; i < 200; ++i) longest += " brown";
  write_text(folder_ / "long.csv", "class,description\nbird," + longest + "\nbird,small\nemu," + longest + "\n");
  const Outcome made = text({"--csv", "long.csv", "--out", "long.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("2 of 3 texts are longer than the encoder's 77 tokens"));
}

TEST_F(Texts, WhatIsMissingIsSaidBeforeAnythingIsWritten) {
  write_text(folder_ / "empty.csv", "class,description\nbird,brown\nemu,\n");
  const Outcome empty = text({"--csv", "empty.csv", "--out", "t.npz"});
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_THAT(empty.err, AllOf(HasSubstr("empty.csv:3"), HasSubstr("'emu'")));
  const Outcome neither = text({"--out", "t.npz"});
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_THAT(neither.err, AllOf(HasSubstr("--csv"), HasSubstr("--names")));
  write_text(folder_ / "names.txt", "emu\n");
  const Outcome plain = text({"--names", "names.txt", "--template", "a bird", "--out", "t.npz"});
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_THAT(plain.err, HasSubstr("{}"));
  std::filesystem::remove(folder_ / "clip/merges.txt");
  const Outcome folder = text({"--csv", "words.csv", "--out", "t.npz"});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, AllOf(HasSubstr("clip"), HasSubstr("merges.txt")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "t.npz"));
}

TEST_F(Texts, OfClassNamesCountWhereARecognizerIsMadeWithATextEncoder) {
  for (const char* name : {"001.Brown_Bird", "emu"}) {
    std::filesystem::create_directories(folder_ / "photos" / name);
    write_file(folder_ / "photos" / name / "1.jpg", encode_jpeg(ramp(40, name[0] == 'e' ? 60 : 40), 90));
  }
  const std::vector<std::string> create = {"recognizer", "create", "n.pcm", "--backbone", "clip", "--images", "photos"};
  const Outcome plain = run(create);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("--text-encoder"));
  std::filesystem::remove(folder_ / "n.pcm");
  std::vector<std::string> with_words = create;
  with_words.insert(with_words.end(), {"--text-encoder", "clip"});
  const Outcome made = run(with_words);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, Not(HasSubstr("--text-encoder")));
  const auto shown = nlohmann::json::parse(run({"classes", "show", "n.pcm", "001.Brown_Bird", "--json"}).out);
  EXPECT_EQ(shown.at("embedding_source"), "knowledge");
  // As for knowledge with the same names.
  write_text(folder_ / "names.txt", "001.Brown_Bird\nemu\n");
  ASSERT_EQ(text({"--names", "names.txt", "--out", "texts.npz"}).exit_code, 0);
  std::vector<std::string> by_file = create;
  by_file[2] = "k.pcm";
  by_file.insert(by_file.end(), {"--knowledge", "texts.npz"});
  ASSERT_EQ(run(by_file).exit_code, 0);
  const auto answers = [&](const char* file) {
    const Outcome said = run({"classify", file, "photos/emu", "--format", "json"});
    EXPECT_EQ(said.exit_code, 0) << said.err;
    return nlohmann::json::parse(said.out).at("ranking");
  };
  EXPECT_EQ(answers("n.pcm"), answers("k.pcm"));
  const Outcome words = run({"enrol", "n.pcm", "--class", "robin", "--describe", "red", "--text-encoder", "clip"});
  EXPECT_EQ(words.exit_code, 0) << words.err;
  with_words[2] = "both.pcm";
  with_words.insert(with_words.end(), {"--knowledge", "texts.npz"});
  const Outcome both = run(with_words);
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, AllOf(HasSubstr("--knowledge"), HasSubstr("--text-encoder")));
}

/// A recognizer with the image tower of that CLIP.
class TextRecognizer : public Texts {
 protected:
  void SetUp() override {
    Texts::SetUp();
    ASSERT_EQ(text({"--csv", "words.csv", "--out", "texts.npz"}).exit_code, 0);
    const Outcome made = run({"recognizer", "create", "r.pcm", "--backbone", "clip", "--knowledge", "texts.npz"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    ASSERT_EQ(run({"enrol", "r.pcm", "--class", "emu"}).exit_code, 0);
  }
  std::string source_of(const std::string& name) {
    return nlohmann::json::parse(run({"classes", "show", "r.pcm", name, "--json"}).out)["embedding_source"];
  }
};

TEST_F(TextRecognizer, EnrolsAClassByItsDescriptionAlone) {
  const Outcome made = run({"enrol", "r.pcm", "--class", "robin", "--describe", "a small brown bird with a red breast",
                            "--describe", "it sings", "--text-encoder", "clip"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(source_of("robin"), "text");
  std::filesystem::create_directories(folder_ / "photos");
  write_file(folder_ / "photos/1.jpg", encode_jpeg(ramp(40, 40), 90));
  // A class with the same description as the emu's in the knowledge is as probable as the emu: words alone decide.
  ASSERT_EQ(
      run({"enrol", "r.pcm", "--class", "twin", "--describe", "a tall grey bird", "--text-encoder", "clip"}).exit_code,
      0);
  const Outcome answered = run({"classify", "r.pcm", "photos", "--format", "json", "--top", "3"});
  ASSERT_EQ(answered.exit_code, 0) << answered.err;
  std::map<std::string, double> probability;
  const auto answer = nlohmann::json::parse(answered.out);
  for (const auto& item : answer.at("ranking"))
    probability[item.at("class").get<std::string>()] = item.at("probability").get<double>();
  EXPECT_EQ(probability.size(), 3U);
  EXPECT_NEAR(probability["twin"], probability["emu"], 1e-4);
  EXPECT_GT(std::abs(probability["robin"] - probability["emu"]), 1e-3);
}

TEST_F(TextRecognizer, EnrolsAFileOfDescriptions) {
  write_text(folder_ / "more.csv", "class,description\nokapi,a brown animal\nzebra,a striped horse\n");
  const Outcome made = run({"enrol", "r.pcm", "--descriptions", "more.csv", "--text-encoder", "clip"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(source_of("okapi"), "text");
  EXPECT_EQ(source_of("zebra"), "text");
}

TEST_F(TextRecognizer, SaysWhatWordsNeed) {
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"enrol", "r.pcm"});
    const Outcome refused = run(arguments);
    EXPECT_NE(refused.exit_code, 0);
    return refused.err;
  };
  EXPECT_THAT(refusal({"--class", "robin", "--describe", "brown"}), HasSubstr("need the text encoder"));
  EXPECT_THAT(refusal({"--class", "robin", "--describe", " ", "--text-encoder", "clip"}), HasSubstr("empty"));
  EXPECT_THAT(refusal({"--class", "robin", "--text-encoder", "clip"}), HasSubstr("a text encoder needs descriptions"));
  EXPECT_THAT(refusal({"--describe", "brown", "--text-encoder", "clip"}), HasSubstr("give one class by its name"));
  EXPECT_THAT(refusal({"--class", "robin"}), HasSubstr("a description in words"));
  EXPECT_THAT(refusal({"--class", "robin", "--descriptions", "words.csv", "--text-encoder", "clip"}),
              AllOf(HasSubstr("'bird'"), HasSubstr("'robin'")));
}

}  // namespace
}  // namespace protocom::testing
