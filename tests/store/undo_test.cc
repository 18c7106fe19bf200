#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "store/recognizer_file.h"
#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RecognizerUndo : public ::testing::Test {
 protected:
  TempDir folder_;
  fs::path path_ = make_file(folder_);
};

TEST_F(RecognizerUndo, TakesOneChangeBackOnlyWhileItIsTheLast) {
  RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] { file.undo(1); }), HasSubstr("nothing to undo"));
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  const int64_t dog = file.changes(1)[0].id;
  file.enrol({enrolment("cat", {{3, 4}}, {"b"})});
  EXPECT_THAT(message_of([&] { file.undo(dog); }), HasSubstr("is not the next one to undo"));
  EXPECT_THAT(file.list_classes(), SizeIs(2));
  EXPECT_THAT(file.undo(file.changes(1)[0].id).what, HasSubstr("'cat'"));
  EXPECT_EQ(file.undo(dog).id, dog);
  EXPECT_THAT(file.list_classes(), IsEmpty());
}

TEST_F(RecognizerUndo, UndoGoesBackThroughAnyChanges) {
  RecognizerFile file(path_);
  std::mt19937 random(5);
  std::vector<std::string> states = {all_of(file)};
  std::vector<int64_t> revisions = {file.revision()};
  while (states.size() < 60) {
    change_anything(file, random);
    if (file.revision() == revisions.back()) continue;
    states.push_back(all_of(file));
    revisions.push_back(file.revision());
  }
  for (size_t left = states.size() - 1; left > 0; --left) {
    file.undo();
    ASSERT_EQ(all_of(file), states[left - 1]) << "after undoing change " << left;
    if (left > 1) {
      EXPECT_EQ(file.revision(), revisions[left - 1]);
    }
  }
  EXPECT_THAT(message_of([&] { file.undo(); }), HasSubstr("nothing to undo"));
  EXPECT_THAT(file.check(), IsEmpty());
}

TEST_F(RecognizerUndo, RedoAndUndoGoToAndFroThroughAnyChanges) {
  RecognizerFile file(path_);
  std::mt19937 random(7);
  std::vector<std::string> states = {all_of(file)};  // after each change so far, including undone ones
  std::vector<int64_t> revisions = {file.revision()};
  size_t at = 0, redone = 0;
  for (int64_t step = 0; step < 250; ++step) {
    const uint32_t what = random() % 9;
    if (what < 4 && at > 0) {
      EXPECT_EQ(file.undo().id, revisions[at--]);
    } else if (what < 8 && at + 1 < states.size()) {
      EXPECT_EQ(file.undone(1).at(0).id, revisions[at + 1]);
      EXPECT_EQ(file.redo().id, revisions[++at]);
      ++redone;
    } else if (what == 8 || states.size() < 3) {
      const int64_t before = file.revision();
      change_anything(file, random);
      if (file.revision() == before) continue;
      states.resize(++at);
      revisions.resize(at);
      states.push_back(all_of(file));
      revisions.push_back(file.revision());
    }
    ASSERT_EQ(all_of(file), states[at]) << "step " << step;
    ASSERT_THAT(file.changes(), SizeIs(at));
    ASSERT_THAT(file.undone(), SizeIs(states.size() - 1 - at));
  }
  EXPECT_GT(redone, 50U);
  while (at-- > 0) file.undo();
  EXPECT_THAT(file.check(), IsEmpty());
}

TEST_F(RecognizerUndo, BringsOneChangeBackOnlyWhileItIsTheNext) {
  RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] { file.redo(1); }), HasSubstr("nothing to redo"));
  EXPECT_THAT(message_of([&] { file.redo(); }), HasSubstr("nothing to redo"));
  for (const char* name : {"dog", "cat"}) file.enrol({enrolment(name, {{1, 2}}, {name})});
  const int64_t cat = file.changes(1)[0].id;
  file.undo();
  const int64_t dog = file.undo().id;
  EXPECT_THAT(message_of([&] { file.redo(cat); }), HasSubstr("is not the next one to redo")) << "the dog comes first";
  EXPECT_THAT(file.list_classes(), IsEmpty());
  EXPECT_EQ(file.redo(dog).what, "enrol 1 image of 'dog'");
  EXPECT_EQ(RecognizerFile(path_).redo(cat).what, "enrol 1 image of 'cat'") << "another program can";
  EXPECT_THAT(file.list_classes(), SizeIs(2));
}

TEST_F(RecognizerUndo, ANewChangeOrCompactingEndsWhatCouldBeRedone) {
  RecognizerFile file(path_);
  for (const char* name : {"dog", "cat"}) file.enrol({enrolment(name, {{1, 2}}, {name})});
  file.undo();
  file.enrol({enrolment("dog", {{1, 2}}, {"dog"})});
  EXPECT_THAT(file.undone(), SizeIs(1)) << "what was there already was no change";
  file.rename_class("dog", "wolf");
  EXPECT_THAT(file.undone(), IsEmpty());
  EXPECT_THAT(message_of([&] { file.redo(); }), HasSubstr("nothing to redo"));
  file.undo();
  file.compact();
  EXPECT_THAT(file.undone(), IsEmpty());
  EXPECT_TRUE(file.has_class("dog"));
  EXPECT_EQ(SqliteFile(path_).number("SELECT count(*) FROM undone"), 0);
  EXPECT_THAT(file.check(), IsEmpty());
}

TEST_F(RecognizerUndo, ARevisionIsNeverUsedForOtherClasses) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  const int64_t dog = file.revision();
  file.undo();
  const int64_t empty = file.revision();
  file.enrol({enrolment("cat", {{1, 2}}, {"a"})});
  EXPECT_NE(file.revision(), dog);
  file.compact();
  EXPECT_NE(file.revision(), empty);
}

TEST_F(RecognizerUndo, ARevisionWithoutChangesIsNeverUsedForOtherClassesThoughTheyWereRedone) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  file.undo();
  RecognizerSnapshot snapshot = file.snapshot();
  RecognizerFile other(path_);
  other.redo();
  other.compact();
  EXPECT_NE(file.revision(), snapshot.revision);
  file.refresh(snapshot);
  EXPECT_THAT(snapshot.enrolled.classes, SizeIs(1));
}

TEST_F(RecognizerUndo, AnUndoneEnrolmentIsGoneFromTheFileAfterTheNextChange) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  file.enrol({enrolment("secret", {{1, 2}, {3, 4}}, {"secret", "secret2"})});
  file.rename_class("dog", "secretive");
  file.undo();
  file.undo();
  EXPECT_THAT(read_file(path_), HasSubstr("JPEG of secret")) << "it can be done again until then";
  file.set_calibration({{"number", 1}});
  EXPECT_THAT(read_file(path_), Not(HasSubstr("secret")));
}

TEST_F(RecognizerUndo, WhatWasUndoneIsGoneFromTheFileAfterCompacting) {
  RecognizerFile file(path_);
  ClassEnrolment twice = enrolment("secret", {{1, 2}}, {"secret"});
  twice.describe = Describe::kAnyClass;
  twice.description->title = "secret";
  ClassEnrolment again = twice;
  again.description->title = "secret too";
  file.enrol({twice, again});
  file.undo();
  file.compact();
  EXPECT_THAT(read_file(path_), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace protocom::testing
