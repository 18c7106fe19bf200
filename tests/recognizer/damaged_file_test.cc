#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <random>

#include "base/error.h"
#include "recognizer/recognizer_folder.h"
#include "store/recognizer_file_support.h"
#include "support/file_limit.h"
#include "support/message_of.h"
#include "support/small_disk.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DamagedRecognizer : public ::testing::Test {
 protected:
  void SetUp() override {
    RecognizerSettings settings = small_settings();
    write_file(folder_ / "backbone.npz", "the backbone");
    write_file(folder_ / "model.npz", "the model");
    RecognizerFile::create(path_, settings, {{"backbone", folder_ / "backbone.npz"}, {"model", folder_ / "model.npz"}},
                           {});
    RecognizerFile file(path_);
    for (int64_t k = 0; k < 5; ++k)
      file.enrol(
          {enrolment(fmt::format("class {}", k), {{1, 2}, {3, 4}}, {fmt::format("{}a", k), fmt::format("{}b", k)})});
    file.remove_class("class 2");
  }
  std::string opened() const {
    return message_of([&] { static_cast<void>(RecognizerFile(path_)); });
  }

  TempDir folder_;
  fs::path path_ = folder_ / "a.pcm";
};

TEST_F(DamagedRecognizer, AnotherKindOfFileIsNamed) {
  for (const std::string content : {"a text", "PK\x03\x04 an archive", ""}) {
    write_file(path_, content);
    EXPECT_THAT(opened(), HasSubstr("a.pcm")) << content;
    EXPECT_THAT(opened(), Not(HasSubstr("no Error"))) << content;
  }
  fs::remove(path_);
  EXPECT_THAT(opened(), HasSubstr("a.pcm: no such file"));
  EXPECT_FALSE(fs::exists(path_)) << "looking makes none";
  fs::create_directory(path_);
  EXPECT_THAT(opened(), HasSubstr("is not a file"));
}

TEST_F(DamagedRecognizer, AnotherProgramsDatabaseIsRefused) {
  fs::remove(path_);
  SqliteFile(path_).run("CREATE TABLE notes(text)");
  EXPECT_THAT(opened(), HasSubstr("is not a recognizer"));
}

TEST_F(DamagedRecognizer, AnotherFormatIsRefusedByItsNumber) {
  SqliteFile(path_).run("PRAGMA user_version=7");
  EXPECT_THAT(opened(), AllOf(HasSubstr("recognizer of format 7"), HasSubstr("reads format 1")));
}

TEST_F(DamagedRecognizer, AnUnknownTypeOfFeaturesIsRefused) {
  SqliteFile(path_).run("UPDATE header SET json = replace(json, 'float32', 'float8')");
  EXPECT_THAT(opened(), AllOf(HasSubstr(path_.string()), HasSubstr("unknown type of features 'float8'")));
}

TEST_F(DamagedRecognizer, AnUnexpectedViewInTheSchemaIsRefused) {
  SqliteFile(path_).run("CREATE VIEW sneaky AS SELECT 1");
  EXPECT_THAT(opened(), HasSubstr("unexpected 'sneaky'"));
}

TEST_F(DamagedRecognizer, AMissingTableIsRefused) {
  SqliteFile(path_).run("DROP TABLE thumbnails");
  EXPECT_THAT(opened(), HasSubstr("are missing"));
}

TEST_F(DamagedRecognizer, ValuesOfAnotherSizeAreRefusedByTheClass) {
  SqliteFile(path_).run("UPDATE examples SET feature = zeroblob(3) WHERE class = 2");
  const RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] { static_cast<void>(file.snapshot()); }), HasSubstr("class 'class 1' is damaged"));
  EXPECT_THAT(file.check(), Not(IsEmpty()));
}

TEST_F(DamagedRecognizer, CheckingFindsRowsThatBelongToNothing) {
  SqliteFile(path_).run("UPDATE examples SET class = 77 WHERE id = 1");
  EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr("1 examples of missing classes")));
}

TEST_F(DamagedRecognizer, CheckingComparesArtefactsWithTheirHashes) {
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
  SqliteFile(path_).run("UPDATE artefacts SET bytes = CAST('another' AS BLOB)");
  EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr("its backbone is damaged")));
}

TEST_F(DamagedRecognizer, AnArtefactNameOutsideTheFolderIsRefused) {
  const fs::path precious = folder_ / "precious";
  write_file(precious, "years of work");
  for (const std::string& name : {precious.string(), std::string("../precious"), std::string("fitted.npz"),
                                  std::string(), std::string("model\nx")}) {
    SqliteFile(path_).run("UPDATE artefacts SET name = " + quoted(name) + " WHERE id = 2");
    EXPECT_THAT(message_of([&] { export_recognizer(RecognizerFile(path_), folder_ / "out"); }),
                AllOf(HasSubstr("a.pcm: the file is damaged: it has an artefact '"), HasSubstr("expected one of")));
  }
  EXPECT_EQ(read_file(precious), "years of work");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(DamagedRecognizer, TwoArtefactsOfOneNameAreRefused) {
  SqliteFile(path_).run("INSERT INTO artefacts(name, path, hash) VALUES('backbone', '/x', 'x')");
  EXPECT_THAT(opened(), HasSubstr("duplicate artefact 'backbone'"));
}

TEST_F(DamagedRecognizer, TheSuffixOfAnExportedFileIsPlain) {
  SqliteFile(path_).run("UPDATE artefacts SET path = '/x/backbone.n' || char(27) || 'z'");
  export_recognizer(RecognizerFile(path_), folder_ / "out");
  EXPECT_EQ(read_file(folder_ / "out/backbone"), "the backbone");
}

TEST_F(DamagedRecognizer, CheckingFindsWhateverNoRunOfOursLeaves) {
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
  const std::string whole = read_file(path_);
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"UPDATE names SET name = CAST('class 1' AS BLOB) WHERE name = 'class 0'", "1 duplicate names of classes"},
      {"UPDATE names SET name = '' WHERE name = 'class 0'", "1 classes of an empty name"},
      {"DELETE FROM names WHERE name = 'class 0'", "1 classes without a name"},
      {"UPDATE names SET class = 77 WHERE name = 'class 0'", "1 names of missing classes"},
      {"INSERT INTO descriptions SELECT 99, 77, title, association, embedding, source, added_by, NULL "
       "FROM descriptions LIMIT 1",
       "1 descriptions of missing classes"},
      {"DELETE FROM classes WHERE id = 1", "2 examples of missing classes"},
      {"UPDATE attributes SET name = 'tail'", "1 duplicate names of attributes"},
      {"UPDATE attributes SET name = '' WHERE id = 1", "1 attributes of an empty name"},
      {"DELETE FROM artefacts WHERE name = 'model'", "neither a fitted method nor a completion model"},
      {"UPDATE artefacts SET name = 'knowledge' WHERE name = 'backbone'", "it has no backbone"},
      {"UPDATE sqlite_sequence SET seq = 9223372036854775807", "1 counts of changes out of range"},
      {"INSERT INTO calibrations VALUES(1, 'null', 1, NULL), (2, 'null', 1, NULL)", "1 calibrations too many"},
      {"UPDATE descriptions SET association = x'0000a0c00000003f' WHERE class = 1", "an association outside 0 to 1"},
      {"UPDATE descriptions SET association = x'0000a0400000003f' WHERE class = 1", "an association outside 0 to 1"},
      {"UPDATE descriptions SET association = x'99766f7f0000003f' WHERE class = 1", "an association outside 0 to 1"}};
  for (const auto& [sql, finding] : damages) {
    write_file(path_, whole);
    SqliteFile(path_).run(sql);
    EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr(finding))) << sql;
  }
}

TEST_F(DamagedRecognizer, IsNotExportedWithoutWhatItLacks) {
  for (const char* sql :
       {"DELETE FROM descriptions", "DELETE FROM names WHERE name = 'class 0'", "DELETE FROM classes"}) {
    SCOPED_TRACE(sql);
    const std::string whole = read_file(path_);
    SqliteFile(path_).run(sql);
    EXPECT_THAT(message_of([&] { export_recognizer(RecognizerFile(path_), folder_ / "lacking"); }),
                HasSubstr("the file is damaged"));
    write_file(path_, whole);
  }
}

TEST_F(DamagedRecognizer, CheckingFindsWhatNoUndoLeaves) {
  RecognizerFile(path_).undo();
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
  const std::string whole = read_file(path_);
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"UPDATE names SET removed_by = -77 WHERE id = 1", "1 names of changes that were not undone"},
      {"DELETE FROM undone", "removals of changes that were not undone"},
      {"UPDATE undone SET id = 1", "1 changes that were undone before others that were not"},
      {"UPDATE undone_removals SET part = 'sqlite_schema' WHERE part = 'names'",
       "1 removals from tables that are unknown"},
      {"UPDATE undone_removals SET item = 99 WHERE part = 'names'", "1 names that a redo would remove are missing"}};
  for (const auto& [sql, finding] : damages) {
    write_file(path_, whole);
    SqliteFile(path_).run(sql);
    EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr(finding))) << sql;
  }
}

TEST_F(DamagedRecognizer, ARedoOfAnUntrustedListTouchesNoOtherTable) {
  RecognizerFile(path_).undo();
  SqliteFile(path_).run(
      "UPDATE undone_removals SET part = 'artefacts'; INSERT INTO undone_removals VALUES(6, 'names; DROP TABLE names', "
      "1), "
      "(6, 'names'' OR 1 --', 1)");
  RecognizerFile file(path_);
  const std::string before = all_of(file);
  EXPECT_EQ(file.redo().what, "remove class 'class 2'");
  EXPECT_EQ(all_of(file), before) << "it removes nothing that it does not know";
  file.read_artefact("backbone", [](const fs::path& path) { EXPECT_EQ(read_file(path), "the backbone"); });
}

TEST_F(DamagedRecognizer, AChangeOfANumberThatNoneHasIsNotUndone) {
  for (const char* number : {"0", "-1", "-9223372036854775808"}) {
    SqliteFile(path_).run(
        fmt::format("DELETE FROM changes; INSERT INTO changes(id, time, what) VALUES({}, 0, 'x')", number));
    RecognizerFile file(path_);
    EXPECT_THAT(message_of([&] { file.undo(); }), HasSubstr(number)) << "and that the file is damaged";
  }
}

TEST_F(DamagedRecognizer, AFileWithHalfOfTheTablesOfUndoneChangesIsRefused) {
  RecognizerFile(path_).undo();
  SqliteFile(path_).run("DROP TABLE undone_removals");
  EXPECT_THAT(opened(), HasSubstr("are missing"));
}

TEST_F(DamagedRecognizer, AnExhaustedChangeCounterIsReportedAsSuch) {
  SqliteFile(path_).run("UPDATE sqlite_sequence SET seq = 9223372036854775807");
  RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] { file.remove_class("class 1"); }),
              AllOf(HasSubstr("a.pcm: the file is damaged: no number follows"), Not(HasSubstr("disk"))));
}

TEST_F(DamagedRecognizer, ChangesInAWalAreMergedIntoTheFile) {
  {
    const SqliteFile other(path_);
    other.run("PRAGMA journal_mode=WAL; UPDATE names SET name = 'renamed' WHERE name = 'class 1'");
    for (const char* part : {"", "-wal"}) fs::copy_file(path_.string() + part, (folder_ / "b.pcm").string() + part);
  }
  EXPECT_TRUE(RecognizerFile(folder_ / "b.pcm").has_class("renamed"));
  EXPECT_FALSE(fs::exists(folder_ / "b.pcm-wal"));
  fs::copy_file(folder_ / "b.pcm", folder_ / "c.pcm");
  EXPECT_TRUE(RecognizerFile(folder_ / "c.pcm").has_class("renamed")) << "it is one file again";
}

TEST_F(DamagedRecognizer, ChangesAreRefusedWhileAnotherProgramHoldsTheWal) {
  RecognizerFile file(path_, FileUse::kChange, std::chrono::seconds(1));
  {
    const SqliteFile other(path_);
    other.run("PRAGMA journal_mode=WAL; UPDATE names SET name = 'theirs' WHERE name = 'class 3'");
    EXPECT_TRUE(file.has_class("class 1")) << "it is read all the same";
    EXPECT_THAT(message_of([&] { file.rename_class("class 1", "renamed"); }),
                AllOf(HasSubstr("a.pcm: another program"), HasSubstr("a.pcm-wal"), HasSubstr("nothing was changed")));
  }
  file.rename_class("class 1", "renamed");
  EXPECT_FALSE(fs::exists(path_.string() + "-wal"));
}

TEST_F(DamagedRecognizer, AnArtefactOutsideThatIsAPipeOrADeviceIsRefusedAtOnce) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& place : {pipe.string(), std::string("/dev/zero")}) {
    SqliteFile(path_).run("UPDATE artefacts SET bytes = NULL, path = " + quoted(place) + " WHERE id = 1");
    EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr("expected a plain file")));
  }
}

/// Opens and reads all of it; every fault must cause an Error of one sentence that names the file.
void read_all(const fs::path& path) {
  try {
    RecognizerFile file(path);
    static_cast<void>(file.check());
    static_cast<void>(file.snapshot());
    static_cast<void>(file.list_examples(""));
    static_cast<void>(file.changes());
    static_cast<void>(file.undone());
    file.enrol({enrolment("new", {{1, 2}}, {"new"})});
    file.undo();
    file.redo();
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("a.pcm"));
  }
}

TEST_F(DamagedRecognizer, AFileThatWasCutOffAnywhereIsReadOrRefused) {
  const std::string whole = read_file(path_);
  for (size_t part = 0; part < 40; ++part) {
    write_file(path_, whole.substr(0, whole.size() * part / 40));
    read_all(path_);
  }
}

TEST_F(DamagedRecognizer, AnyDamagedBytesAreReadOrRefused) {
  const std::string whole = read_file(path_);
  std::mt19937 random(11);
  for (int64_t round = 0; round < 400; ++round) {
    std::string damaged = whole;
    for (uint32_t k = random() % 8; k < 8; ++k) {
      const size_t at = random() % 2 == 0 ? random() % 4096 : random() % damaged.size();
      damaged[at] = static_cast<char>(random());
    }
    write_file(path_, damaged);
    read_all(path_);
  }
}

TEST_F(DamagedRecognizer, AnyDamagedBytesOfAnUndoneChangeAreReadOrRefused) {
  RecognizerFile(path_).undo();
  const std::string whole = read_file(path_);
  std::mt19937 random(12);
  for (int64_t round = 0; round < 200; ++round) {
    std::string damaged = whole;
    for (uint32_t k = random() % 8; k < 8; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    write_file(path_, damaged);
    read_all(path_);
  }
}

TEST_F(DamagedRecognizer, AFullDiskLeavesItAsItWas) {
  RecognizerFile file(path_);
  const std::string before = all_of(file);
  ClassEnrolment large = enrolment("large", {{1, 2}}, {"x"});
  large.examples.thumbnails = {std::string(1'000'000, 'x')};
  {
    const FileLimit full(fs::file_size(path_));
    EXPECT_THAT(message_of([&] { file.enrol({large}); }), HasSubstr("a.pcm"));
  }
  EXPECT_EQ(all_of(file), before);
  EXPECT_THAT(file.check(), IsEmpty());
  EXPECT_EQ(file.enrol({large})[0].added, 1) << "with room again it goes on";
}

class FullDisk : public DamagedRecognizer {
 protected:
  void SetUp() override {
    DamagedRecognizer::SetUp();
    fs::create_directory(folder_ / "disk");
    disk_ = std::make_unique<SmallDisk>(folder_ / "disk", "16m");
    if (!disk_->there()) GTEST_SKIP() << "needs the right to mount a small disk (root)";
    fs::copy_file(path_, on_disk_);
  }
  /// Leaves that much of the disk free.
  void fill_up_to(uintmax_t left) const {
    const auto free = [&] { return fs::space(on_disk_).available; };
    std::ofstream other(folder_ / "disk/other", std::ios::app);
    while (free() > left && other.write(std::string(4096, 'x').data(), 4096).flush()) {
    }
  }
  static ClassEnrolment large(const std::string& name) {
    ClassEnrolment made = enrolment(name, {{1, 2}}, {name});
    made.examples.thumbnails = {std::string(1'000'000, 'x')};
    return made;
  }

  std::unique_ptr<SmallDisk> disk_;
  fs::path on_disk_ = folder_ / "disk/a.pcm";
};

TEST_F(FullDisk, EnrollingLeavesTheRoomThatUndoAndRemovingTake) {
  RecognizerFile file(on_disk_);
  fill_up_to(9 << 20);
  std::string refused = "(no Error)";
  int enrolled = 0;
  for (; enrolled < 20 && refused == "(no Error)"; ++enrolled)
    refused = message_of([&] { file.enrol({large(fmt::format("large {}", enrolled))}); });
  EXPECT_THAT(refused, AllOf(HasSubstr("a.pcm: the disk is nearly full"), HasSubstr("nothing was changed")));
  EXPECT_GT(enrolled, 2);
  EXPECT_EQ(file.undo().what, fmt::format("enrol 1 image of 'large {}'", enrolled - 2));
  file.remove_class("large 0");
  EXPECT_THAT(file.check(), IsEmpty());
}

TEST_F(FullDisk, OfOtherProgramsIsSaidWithWhatToDo) {
  RecognizerFile file(on_disk_);
  file.enrol({large("large")});
  const std::string before = all_of(file);
  fill_up_to(0);
  for (const auto& refused : {message_of([&] { file.undo(); }), message_of([&] { file.remove_class("large"); }),
                              message_of([&] { file.compact(); }), message_of([&] { file.enrol({large("b")}); })})
    EXPECT_THAT(refused, AllOf(HasSubstr("nothing was changed"), HasSubstr("free some"))) << refused;
  EXPECT_EQ(all_of(file), before);
  EXPECT_THAT(file.check(), IsEmpty());
}

// VACUUM takes as much space as the file is long: without it, what was removed is still gone.
TEST_F(FullDisk, CompactOverwritesWhatWasRemovedThoughTheFileCannotBecomeSmaller) {
  RecognizerFile file(on_disk_);
  for (const char* name : {"a", "b", "c", "d"}) file.enrol({large(name)});
  file.remove_class("a");
  fill_up_to(2'500'000);
  EXPECT_THAT(message_of([&] { file.compact(); }), HasSubstr("what was removed is erased"));
  EXPECT_TRUE(file.changes(10).empty());
  EXPECT_THAT(file.check(), IsEmpty());
  const uintmax_t size = fs::file_size(on_disk_);
  fs::remove(folder_ / "disk/other");
  file.enrol({large("e")});
  EXPECT_EQ(fs::file_size(on_disk_), size) << "the room of the class that was removed is used";
  file.compact();
}

}  // namespace
}  // namespace protocom::testing
