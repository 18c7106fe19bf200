// Descriptions of classes in words, by a text encoder.
#include "recognizer/class_words.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer/recognizer_support.h"
#include "support/clip_folder.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A small CLIP with made-up weights; 24 numbers.
class ClassWords : public ::testing::Test {
 protected:
  void SetUp() override { write_clip(clip_); }
  RecognizerParts parts(std::vector<std::string> names) const {
    RecognizerParts made;
    made.backbone = clip_;
    made.text_encoder = clip_;
    made.class_names = std::move(names);
    return made;
  }
  Recognizer recognizer(std::vector<std::string> names) const {
    create_recognizer(folder_ / "r.pcm", parts(std::move(names)), {});
    return Recognizer::open(folder_ / "r.pcm");
  }
  at::Tensor direction(const std::string& words) const {
    const at::Tensor made = tensor_of(open_text_encoder(clip_).encode({words}).vectors)[0];
    return made / made.norm();
  }
  static EnrolRequest named(const std::string& name) {
    EnrolRequest made;
    made.name = name;
    return made;
  }

  TempDir folder_;
  fs::path clip_ = folder_ / "clip";
};

TEST_F(ClassWords, OfARecognizerAreItsClassesNames) {
  Recognizer made = recognizer({"001.Laysan_Albatross", "emu"});
  made.enrol({named("001.Laysan_Albatross"), named("emu")});
  const std::vector<StoredClass> classes = made.file().snapshot().enrolled.classes;
  EXPECT_TRUE(at::allclose(tensor_of(classes.at(0).description.embedding), direction("a photo of a Laysan Albatross."),
                           1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(tensor_of(classes.at(1).description.embedding), direction("a photo of a emu."), 1e-4, 1e-5));
  EXPECT_EQ(made.method().label(), "plda:prior=text");
}

TEST_F(ClassWords, AreTakenByARecognizerThatKnowsNoClassYet) {
  Recognizer made = recognizer({});
  EXPECT_TRUE(made.takes_words(24));
  EXPECT_FALSE(made.takes_words(25));
  ClassToDescribe robin{"robin"};
  robin.descriptions = {"a small brown bird", " it sings "};
  EXPECT_THAT(usage_message_of([&] { made.describe(robin); }),
              HasSubstr("'robin': descriptions need the text encoder"));
  describe_in_words(open_text_encoder(clip_), robin);
  const ClassEnrolment described = made.describe(robin);
  const at::Tensor sum = direction("a small brown bird") + direction("it sings");
  EXPECT_TRUE(at::allclose(tensor_of(described.description->embedding), sum / sum.norm(), 1e-4, 1e-5));
  EXPECT_EQ(described.description->embedding_source, "text");
}

TEST_F(ClassWords, OfNothingAreRefused) {
  const TextEncoder encoder = open_text_encoder(clip_);
  ClassToDescribe robin{"robin"};
  EXPECT_THAT(usage_message_of([&] { describe_in_words(encoder, robin); }), HasSubstr("at least one description"));
  robin.descriptions = {" "};
  EXPECT_THAT(usage_message_of([&] { describe_in_words(encoder, robin); }), HasSubstr("empty"));
  robin.descriptions = {"\u0301"};
  EXPECT_THAT(message_of([&] { describe_in_words(encoder, robin); }), "(no Error)");
}

TEST_F(ClassWords, AreThoseOfTheBackbonesOwnTextEncoder) {
  const auto refusal = [&](const RecognizerParts& made) {
    return usage_message_of([&] { create_recognizer(folder_ / "other.pcm", made, {}); });
  };
  RecognizerParts with_knowledge = parts({"emu"});
  with_knowledge.knowledge = folder_ / "knowledge.npz";
  EXPECT_THAT(refusal(with_knowledge), HasSubstr("leave out the knowledge"));
  RecognizerParts fitted = parts({"emu"});
  fitted.fitted = folder_ / "plda.npz";
  EXPECT_THAT(refusal(fitted), HasSubstr("a fitted method or completion model needs the knowledge"));
  TextState state = state_of(texts_golden().at("clip"));
  state.erase("text_projection.weight");
  write_clip_texts(folder_ / "plain");
  write_state(folder_ / "plain", state);
  RecognizerParts plain = parts({"emu"});
  plain.text_encoder = folder_ / "plain";
  EXPECT_THAT(refusal(plain), HasSubstr("cannot be compared with images"));
  state["text_projection.weight"] = at::ones({5, 32});
  write_state(folder_ / "plain", state);
  EXPECT_THAT(refusal(plain), AllOf(HasSubstr("5 dimensions"), HasSubstr("features 24")));
  EXPECT_FALSE(fs::exists(folder_ / "other.pcm"));
}

TEST_F(ClassWords, AreMentionedWhereTheFolderHasATextEncoder) {
  RecognizerParts made = parts({});
  made.text_encoder.clear();
  const Logged logged;
  create_recognizer(folder_ / "r.pcm", made, {});
  EXPECT_THAT(logged.text(), HasSubstr("--text-encoder"));
}

}  // namespace
}  // namespace protocom::testing
