#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <sstream>

#include "base/error.h"
#include "recognizer/class_scorer.h"
#include "recognizer/store_support.h"
#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RecognizerSettings settings_of_a_model() {
  RecognizerSettings settings = small_settings();
  settings.attributes = {"tail"};
  return settings;
}

/// Changes an enrolment() to have one attribute.
ClassEnrolment one_attribute(ClassEnrolment made) {
  if (made.description)
    made.description->association = array_of(tensor_of(made.description->association).slice(0, 0, 1).contiguous());
  return made;
}

class RecognizerSnapshotTest : public ::testing::Test {
 protected:
  RecognizerFile open() const { return RecognizerFile(path_); }

  TempDir folder_;
  fs::path path_ = make_file(folder_);
};

void expect_same(const RecognizerSnapshot& found, const RecognizerSnapshot& expected) {
  ASSERT_EQ(found.revision, expected.revision);
  ASSERT_EQ(found.class_ids, expected.class_ids);
  ASSERT_EQ(found.enrolled.classes.size(), expected.enrolled.classes.size());
  for (size_t k = 0; k < found.class_ids.size(); ++k) {
    const StoredClass &one = found.enrolled.classes[k], &other = expected.enrolled.classes[k];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.count, other.count);
    EXPECT_TRUE(tensor_of(one.description.association).equal(tensor_of(other.description.association)));
    EXPECT_TRUE(tensor_of(one.features).equal(tensor_of(other.features)));
    ASSERT_EQ(found.examples[k].size(), expected.examples[k].size());
    for (size_t i = 0; i < found.examples[k].size(); ++i)
      EXPECT_EQ(found.examples[k][i].id, expected.examples[k][i].id);
  }
  EXPECT_EQ(found.feature_count, expected.feature_count);
  EXPECT_TRUE(at::allclose(at::tensor(found.feature_sum), at::tensor(expected.feature_sum)));
  EXPECT_EQ(found.calibration, expected.calibration);
}

TEST_F(RecognizerSnapshotTest, RefreshedIsWhatAFreshOneWouldBe) {
  RecognizerFile file = open(), other = open();
  RecognizerSnapshot refreshed;
  std::mt19937 random(23);
  for (int64_t round = 0; round < 200; ++round) {
    for (uint32_t i = random() % 4; i > 0; --i) {
      RecognizerFile& by = random() % 2 == 0 ? file : other;
      if (random() % 3 == 0 && !by.changes(1).empty())
        by.undo();
      else if (random() % 2 == 0 && !by.undone(1).empty())
        by.redo();
      else if (random() % 20 == 0)
        by.compact();
      else
        change_anything(by, random);
    }
    const std::vector<StoredClass> was = refreshed.enrolled.classes;
    const std::vector<int64_t> before = file.refresh(refreshed);
    expect_same(refreshed, file.snapshot());
    if (HasFatalFailure()) FAIL() << "round " << round;
    for (size_t k = 0; k < before.size(); ++k) {
      if (before[k] >= 0) {
        EXPECT_TRUE(refreshed.enrolled.classes[k].features.raw() ==
                    was.at(static_cast<size_t>(before[k])).features.raw());
      }
    }
  }
}

TEST_F(RecognizerSnapshotTest, ReadsNoMoreThanWhatHasChanged) {
  RecognizerFile file = open();
  file.enrol({enrolment("a", {{1, 2}}, {"a"}), enrolment("b", {{3, 4}}, {"b"}), enrolment("c", {{5, 6}}, {"c"})});
  RecognizerSnapshot snapshot;
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(-1, -1, -1));
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, 1, 2));
  open().enrol({enrolment("b", {{7, 8}}, {"b2"})});
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, -1, 2));
  file.set_calibration({{"number", 1}});
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, 1, 2));
  file.undo();
  file.undo();
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, -1, 2)) << "what was undone is known again";
  EXPECT_EQ(snapshot.enrolled.classes[1].count, 1);
  file.remove_class("a");
  file.enrol({enrolment("d", {{1, 1}}, {"d"})});
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(1, 2, -1));
  file.undo();
  file.undo();
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(-1, 0, 1)) << "the class that was removed comes back in its place";
  file.redo();
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(1, 2)) << "and goes again";
  file.redo();
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, 1, -1));
}

TEST_F(RecognizerSnapshotTest, FollowsTheFirstChangeAfterThereWasNoneToUndo) {
  RecognizerFile file = open();
  RecognizerSnapshot empty;
  file.refresh(empty);
  file.enrol({enrolment("a", {{1, 2}}, {"a"}), enrolment("b", {{3, 4}}, {"b"})});
  EXPECT_THAT(file.refresh(empty), ElementsAre(-1, -1));
  expect_same(empty, file.snapshot());
  file.compact();
  RecognizerSnapshot snapshot = file.snapshot(), before_another = snapshot;
  open().enrol({enrolment("b", {{5, 6}}, {"b2"})});
  EXPECT_THAT(file.refresh(snapshot), ElementsAre(0, -1)) << "after compact and import, too";
  expect_same(snapshot, file.snapshot());
  file.remove_class("a");
  file.compact();
  file.enrol({enrolment("b", {{7, 8}}, {"b3"})});
  EXPECT_THAT(file.refresh(before_another), ElementsAre(-1)) << "what was forgotten meanwhile cannot be known";
  expect_same(before_another, file.snapshot());
}

/// Returns the bytes that this process has requested from files so far.
int64_t bytes_read() {
  std::istringstream lines(read_file("/proc/self/io"));
  std::string name;
  int64_t bytes = 0;
  lines >> name >> bytes;  // "rchar: 123"
  return bytes;
}

TEST(LargeClass, AChangeOfItReadsWhatHasChanged) {
  constexpr int64_t kImages = 20'000, kWide = 64;
  RecognizerSettings settings = small_settings();
  settings.feature_dim = kWide;
  const TempDir folder;
  const fs::path path = make_file(folder, settings);
  const auto images = [](int64_t from, int64_t count) {
    ClassEnrolment made = enrolment("large", {}, {});
    made.examples.features =
        array_of(at::arange(from, from + count).to(at::kFloat).unsqueeze(1).expand({count, kWide}));
    for (int64_t i = from; i < from + count; ++i) made.examples.hashes.push_back(std::to_string(i));
    return made;
  };
  RecognizerFile file(path);
  file.enrol({images(0, kImages)});
  const int64_t all = kImages * kWide * 4;  // bytes of its features
  const auto cost = [&](const std::function<void(RecognizerFile&)>& work) {
    RecognizerFile fresh(path);  // with an empty cache
    const int64_t before = bytes_read();
    work(fresh);
    return bytes_read() - before;
  };
  EXPECT_GT(cost([](RecognizerFile& fresh) { static_cast<void>(fresh.snapshot()); }), all) << "bytes are counted";
  RecognizerSnapshot snapshot = file.snapshot();
  EXPECT_LT(cost([&](RecognizerFile& fresh) { EXPECT_TRUE(fresh.has_class("large")); }), 100'000);
  EXPECT_LT(cost([&](RecognizerFile& fresh) { fresh.enrol({images(kImages, 1)}); }), all / 5);
  EXPECT_LT(cost([&](RecognizerFile& fresh) { fresh.refresh(snapshot); }), 200'000);
  expect_same(snapshot, file.snapshot());
  file.rename_class("large", "larger");
  EXPECT_LT(cost([&](RecognizerFile& fresh) { fresh.refresh(snapshot); }), 200'000);
  expect_same(snapshot, file.snapshot());
}

TEST_F(RecognizerSnapshotTest, IsEmptyAfterWhatItThrows) {
  RecognizerFile file = open();
  file.enrol({enrolment("a", {{1, 2}}, {"a"})});
  RecognizerSnapshot snapshot = file.snapshot();
  file.enrol({enrolment("b", {{3, 4}}, {"b"})});
  SqliteFile(path_).run("UPDATE examples SET feature = zeroblob(7) WHERE class = 2");
  EXPECT_THAT(message_of([&] { file.refresh(snapshot); }), HasSubstr("class 'b' is damaged"));
  EXPECT_THAT(snapshot.class_ids, IsEmpty());
  SqliteFile(path_).run("UPDATE examples SET feature = zeroblob(8) WHERE class = 2");
  file.refresh(snapshot);
  expect_same(snapshot, file.snapshot());
}

/// Returns a scorer's answers, or why there is none.
std::string answers_of(const std::function<const ClassScorer&()>& scorer, const Array& queries) {
  try {
    const QueryScores scores = scorer().score(queries);
    std::string text;
    for (const std::string& name : scorer().class_names()) text += name + " ";
    const at::Tensor rounded = (tensor_of(array_of_matrix(scores.logits)).to(at::kDouble) * 1e4).round();
    for (int64_t i = 0; i < rounded.size(0); ++i) {
      for (int64_t k = 0; k < rounded.size(1); ++k) text += fmt::format("{} ", rounded[i][k].item<double>());
    }
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ClassScorerUpdate, FollowsEveryChangeAsIfItWereNew) {
  const TempDir folder;
  RecognizerFile file(make_file(folder, settings_of_a_model()));
  const StoreModel model = store_model({1, 3});
  const Array queries = Array::of<float>({1, 0.2F, 0.3F, 2, 4, 1}, {3, 2});
  std::mt19937 random(29);
  for (const char* method : {"mean-fusion", "proto-net"}) {
    RecognizerSnapshot snapshot;
    std::unique_ptr<ClassScorer> scorer;
    for (int64_t round = 0; round < 60; ++round) {
      const auto name = fmt::format("class{}", random() % 8);
      const auto x = static_cast<float>(random() % 100), y = static_cast<float>(random() % 100);
      if (random() % 4 == 0 && !file.changes(1).empty())
        file.undo();
      else if (random() % 3 == 0 && !file.undone(1).empty())
        file.redo();
      else if (random() % 4 == 0 && file.find_class(name))
        file.remove_class(name);
      else
        file.enrol({one_attribute(enrolment(name, {{x, y}}, {fmt::format("{}-{}", x, y)}, 1))});
      const auto updated = [&]() -> const ClassScorer& {
        if (snapshot.revision == file.revision() && scorer) return *scorer;
        const std::vector<int64_t> before = file.refresh(snapshot);
        if (auto old = std::move(scorer)) {
          old->update(snapshot.enrolled, before);
          scorer = std::move(old);
        } else {
          scorer = std::make_unique<ClassScorer>(snapshot.enrolled, model, ClassScorerOptions{method});
        }
        return *scorer;
      };
      std::optional<ClassScorer> fresh;
      const auto opened_again = [&]() -> const ClassScorer& {
        if (!fresh) fresh.emplace(file.snapshot().enrolled, model, ClassScorerOptions{method});
        return *fresh;
      };
      ASSERT_EQ(answers_of(updated, queries), answers_of(opened_again, queries)) << method << ", round " << round;
    }
  }
}

/// Returns the file with a longer length of the first feature's blob, which SQLite stores as a number of four bytes.
std::string with_a_lying_length(std::string bytes, int64_t from, int64_t to) {
  const auto varint = [](int64_t size) {
    const int64_t code = 2 * size + 12;  // https://sqlite.org/fileformat.html#record_format
    std::string text;
    for (int shift = 21; shift >= 0; shift -= 7)
      text += static_cast<char>(((code >> shift) & 0x7f) | (shift > 0 ? 0x80 : 0));
    return text;
  };
  const size_t at = bytes.find(varint(from));
  EXPECT_NE(at, std::string::npos);
  return bytes.replace(at, 4, varint(to));
}

TEST(LyingRecognizer, AFeatureThatSaysToBeLongerThanItMayBeIsNotRead) {
  constexpr int64_t kWide = int64_t{1} << 19;  // 2 MiB
  RecognizerSettings settings = small_settings();
  settings.feature_dim = kWide;
  const TempDir folder;
  const fs::path path = make_file(folder, settings);
  {
    ClassEnrolment large = enrolment("large", {}, {"x"});
    large.examples.features = array_of(at::ones({1, kWide}));
    RecognizerFile(path).enrol({large});
  }
  write_file(path, with_a_lying_length(read_file(path), 4 * kWide, 8'000'000));
  const RecognizerFile file(path);
  EXPECT_THAT(message_of([&] { static_cast<void>(file.snapshot()); }), HasSubstr("a.pcm: the file is damaged"));
  write_file(path, with_a_lying_length(read_file(path), 8'000'000, 130'000'000));
  EXPECT_THAT(message_of([&] { static_cast<void>(RecognizerFile(path).snapshot()); }), HasSubstr("a.pcm"));
}

}  // namespace
}  // namespace protocom::testing
