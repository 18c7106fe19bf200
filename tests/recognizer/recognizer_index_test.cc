#include "recognizer/detail/recognizer_index.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "io/safetensors.h"
#include "recognizer/recognizer_support.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// A recognizer of some classes with an index beside it.
class RecognizerIndexTest : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    for (int64_t k = 0; k < 12; ++k) enrol("class " + std::to_string(k), k, 1 + k % 3);
    Recognizer::open(path_).write_index();
  }

  [[nodiscard]] int64_t dim() const { return RecognizerFile(path_).settings().feature_dim; }

  /// Returns features that depend on a number.
  [[nodiscard]] Array features(int64_t seed, int64_t count) const {
    return array_of(at::rand({count, dim()}, at::detail::createCPUGenerator(static_cast<uint64_t>(seed))));
  }

  void enrol(const std::string& name, int64_t seed, int64_t count) const {
    EnrolRequest one;
    one.name = name;
    one.examples = examples_of_features(features(seed, count));
    for (int64_t i = 0; i < count; ++i)
      one.examples.sources[static_cast<size_t>(i)] = name + "/" + std::to_string(i) + ".jpg";
    for (int64_t i = 0; i < count; ++i)
      one.examples.taken.push_back(i == 0 ? std::nullopt : std::optional(1e3 * static_cast<double>(i)));
    Recognizer::open(path_).enrol({one});
  }

  /// Returns its complete answers for some features.
  [[nodiscard]] std::vector<Answer> answers() const {
    return Recognizer::open(path_).classify_features(features(99, 7));
  }

  [[nodiscard]] std::vector<Answer> answers_without_index() const {
    const fs::path aside = folder_ / "aside";
    fs::rename(index_path(path_), aside);
    std::vector<Answer> found = answers();
    fs::rename(aside, index_path(path_));
    return found;
  }

  static void expect_same(const std::vector<Answer>& a, const std::vector<Answer>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].ranking.size(), b[i].ranking.size());
      for (size_t r = 0; r < a[i].ranking.size(); ++r) {
        EXPECT_EQ(a[i].ranking[r].name, b[i].ranking[r].name);
        EXPECT_EQ(a[i].ranking[r].probability, b[i].ranking[r].probability);
      }
      EXPECT_EQ(a[i].familiarity, b[i].familiarity);
      ASSERT_EQ(a[i].nearest.size(), b[i].nearest.size());
      for (size_t r = 0; r < a[i].nearest.size(); ++r) {
        EXPECT_EQ(a[i].nearest[r].id, b[i].nearest[r].id);
        EXPECT_EQ(a[i].nearest[r].source, b[i].nearest[r].source);
        EXPECT_EQ(a[i].nearest[r].similarity, b[i].nearest[r].similarity);
      }
    }
  }

  [[nodiscard]] bool is_used() const {
    const RecognizerFile file(path_);
    return read_index(file, Recognizer::open(path_).method().label()).has_value();
  }
};

TEST_F(RecognizerIndexTest, AnswersAreThoseWithoutIt) {
  ASSERT_TRUE(is_used());
  const std::vector<Answer> with = answers();
  EXPECT_EQ(with.front().nearest.size(), 3U);
  expect_same(with, answers_without_index());
}

TEST_F(RecognizerIndexTest, ItKnowsWhenPhotosWereTaken) {
  const RecognizerFile file(path_);
  const auto index = read_index(file, Recognizer::open(path_).method().label());
  ASSERT_TRUE(index.has_value());
  const RecognizerSnapshot whole = file.snapshot();
  ASSERT_EQ(index->snapshot.examples.size(), whole.examples.size());
  for (size_t k = 0; k < whole.examples.size(); ++k) {
    ASSERT_EQ(index->snapshot.examples[k].size(), whole.examples[k].size());
    for (size_t i = 0; i < whole.examples[k].size(); ++i)
      EXPECT_EQ(index->snapshot.examples[k][i].taken, whole.examples[k][i].taken);
  }
  const auto has_times = [](const StoredClass& one) { return !one.taken.empty(); };
  EXPECT_TRUE(std::any_of(whole.enrolled.classes.begin(), whole.enrolled.classes.end(), has_times));
}

TEST_F(RecognizerIndexTest, ItIsWhatAnswersComeFrom) {
  Safetensors index = read_safetensors(index_path(path_));
  std::vector<std::pair<std::string, Array>> others;
  for (const auto& [name, tensor] : index.tensors) {
    if (name != "names" && size_of(tensor.type()) > 1) others.emplace_back(name, tensor.copy());
  }
  for (const auto& [name, tensor] : index.tensors) {
    if (size_of(tensor.type()) == 1) others.emplace_back(name, tensor.copy());
    if (name == "names") tensor_of(others.back().second).fill_('x');
  }
  write_safetensors(index_path(path_), others, index.metadata);
  EXPECT_EQ(answers().front().ranking.front().name.front(), 'x');
}

TEST_F(RecognizerIndexTest, WhatIsEnrolledLaterCounts) {
  enrol("class 3", 50, 2);
  enrol("new", 51, 3);
  Recognizer::open(path_).file().remove_class("class 5");
  Recognizer::open(path_).file().rename_class("class 6", "other");
  ASSERT_TRUE(is_used());
  expect_same(answers(), answers_without_index());
}

TEST_F(RecognizerIndexTest, OfAStateThatWasUndoneItIsNotUsed) {
  Recognizer::open(path_).file().undo();
  enrol("instead", 52, 1);
  EXPECT_FALSE(is_used());
  expect_same(answers(), answers_without_index());
}

TEST_F(RecognizerIndexTest, AfterCompactOrForAnotherMethodItIsNotUsed) {
  EXPECT_FALSE(read_index(RecognizerFile(path_), "mean:gamma=3").has_value());
  Recognizer::open(path_).file().compact();
  EXPECT_FALSE(is_used());
  EXPECT_EQ(answers().size(), 7U);
}

TEST_F(RecognizerIndexTest, BehindALinkNothingIsReplaced) {
  std::ofstream(folder_ / "precious") << "precious";
  fs::remove(index_path(path_));
  fs::create_symlink(folder_ / "precious", index_path(path_));
  const Logged log;
  EXPECT_THAT(message_of([&] { Recognizer::open(path_).write_index(); }), HasSubstr("it is a symbolic link"));
  EXPECT_EQ(read_file(folder_ / "precious"), "precious");
}

TEST_F(RecognizerIndexTest, OneOfARevisionThatIsNoneIsLeftAside) {
  std::string whole = read_file(index_path(path_));
  const std::string key = "\"revision\":\"";
  const size_t at = whole.find(key);
  ASSERT_NE(at, std::string::npos);
  whole[at + key.size()] = 'x';
  write_file(index_path(path_), whole);
  const Logged log;
  EXPECT_EQ(answers().size(), 7U);
  EXPECT_THAT(log.text(), HasSubstr("is not an integer"));
}

TEST_F(RecognizerIndexTest, ADamagedOneIsLeftAside) {
  const std::string whole = read_file(index_path(path_));
  for (const size_t size : {size_t{0}, size_t{5}, size_t{300}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(index_path(path_), std::ios::binary) << whole.substr(0, size);
    const Logged logged;
    EXPECT_EQ(answers().size(), 7U) << size;
    EXPECT_THAT(logged.text(), ::testing::AllOf(HasSubstr("ignoring"), HasSubstr("pets.pcm.index"))) << size;
  }
}

TEST_F(RecognizerIndexTest, OneWhosePlacesAreOfAnotherSizeOrTypeIsLeftAside) {
  Safetensors index = read_safetensors(index_path(path_));
  for (auto& [name, array] : index.tensors) array = array.copy();  // the file is overwritten below
  const std::vector<Answer> expected = answers_without_index();
  const auto written = [&](const std::function<Array(const Array&)>& change) {
    std::vector<std::pair<std::string, Array>> others, bytes;
    for (const auto& [name, array] : index.tensors) {
      const Array own = name.rfind("placed.", 0) == 0 ? change(array) : array;
      (size_of(own.type()) == 1 ? bytes : others).emplace_back(name, own);
    }
    others.insert(others.end(), bytes.begin(), bytes.end());
    write_safetensors(index_path(path_), others, index.metadata);
    const Logged logged;
    expect_same(answers(), expected);
    EXPECT_THAT(logged.text(), ::testing::AllOf(HasSubstr("ignoring"), HasSubstr("pets.pcm.index")));
  };
  written([](const Array& array) { return array.to(NumberType::kFloat64); });
  written([](const Array& array) { return Array::zeros({array.size(0), 1, 1}, array.type()); });
}

TEST_F(RecognizerIndexTest, AMethodThatComparesAllClassesJointlyHasNone) {
  RecognizerOptions together;
  together.together = true;
  Recognizer recognizer = Recognizer::open(path_, together);
  EXPECT_THAT(message_of([&] { recognizer.write_index(); }), HasSubstr("cannot be indexed"));
}

}  // namespace
}  // namespace protocom::testing
