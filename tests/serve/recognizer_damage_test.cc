#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "protocom/core/error.h"
#include "serve/database.h"
#include "serve/recognizer_file_support.h"
#include "support/file_limit.h"
#include "support/message_of.h"

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
    RecognizerFile::create(path_, settings, {{"backbone", folder_ / "backbone.npz"}}, {});
    RecognizerFile file(path_);
    for (int64_t k = 0; k < 5; ++k)
      file.enrol(
          {enrolee(fmt::format("class {}", k), {{1, 2}, {3, 4}}, {fmt::format("{}a", k), fmt::format("{}b", k)})});
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
  Database::create(path_).run("CREATE TABLE notes(text)");
  EXPECT_THAT(opened(), HasSubstr("is not a recognizer"));
}

TEST_F(DamagedRecognizer, ANewerFormatIsRefusedByItsNumber) {
  Database::open(path_).run("PRAGMA user_version=7");
  EXPECT_THAT(opened(), AllOf(HasSubstr("format 7"), HasSubstr("up to 2")));
}

TEST_F(DamagedRecognizer, TheFirstFormatIsRefusedWithTheWayOverAFolder) {
  Database::open(path_).run("PRAGMA user_version=1");
  EXPECT_THAT(opened(), AllOf(HasSubstr("format 1"), HasSubstr("recognizer export")));
}

TEST_F(DamagedRecognizer, AnUnknownTypeOfFeaturesIsRefused) {
  Database::open(path_).run("UPDATE header SET json = replace(json, 'float32', 'float8')");
  EXPECT_THAT(opened(), AllOf(HasSubstr(path_.string()), HasSubstr("unknown type of features 'float8'")));
}

TEST_F(DamagedRecognizer, WhatAStrangerPlantedInTheSchemaIsRefused) {
  Database::open(path_).run("CREATE VIEW sneaky AS SELECT 1");
  EXPECT_THAT(opened(), HasSubstr("should have no 'sneaky'"));
}

TEST_F(DamagedRecognizer, AMissingTableIsRefused) {
  Database::open(path_).run("DROP TABLE thumbnails");
  EXPECT_THAT(opened(), HasSubstr("are missing"));
}

TEST_F(DamagedRecognizer, ValuesOfAnotherSizeAreRefusedByTheClass) {
  Database::open(path_).run("UPDATE examples SET feature = zeroblob(3) WHERE class = 2");
  const RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] { static_cast<void>(file.snapshot()); }), HasSubstr("class 'class 1' is damaged"));
  EXPECT_THAT(file.check(), Not(IsEmpty()));
}

TEST_F(DamagedRecognizer, CheckingFindsRowsThatBelongToNothing) {
  Database::open(path_).run("UPDATE examples SET class = 77 WHERE id = 1");
  EXPECT_THAT(RecognizerFile(path_).check(),
              ::testing::Contains(HasSubstr("1 examples of classes that are not there")));
}

TEST_F(DamagedRecognizer, CheckingComparesArtefactsWithTheirHashes) {
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
  Database::open(path_).run("UPDATE artefacts SET bytes = CAST('another' AS BLOB)");
  EXPECT_THAT(RecognizerFile(path_).check(), ::testing::Contains(HasSubstr("its backbone is damaged")));
}

/// Opens and reads all of it; whatever is wrong has to leave as an Error of one sentence that names the file.
void read_all(const fs::path& path) {
  try {
    RecognizerFile file(path);
    static_cast<void>(file.check());
    static_cast<void>(file.snapshot());
    static_cast<void>(file.list_examples(""));
    static_cast<void>(file.changes());
    file.enrol({enrolee("new", {{1, 2}}, {"new"})});
    file.undo();
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

TEST_F(DamagedRecognizer, AFullDiskLeavesItAsItWas) {
  RecognizerFile file(path_);
  const std::string before = all_of(file);
  Enrolee large = enrolee("large", {{1, 2}}, {"x"});
  large.examples.thumbnails = {std::string(1'000'000, 'x')};
  {
    const FileLimit full(fs::file_size(path_));
    EXPECT_THAT(message_of([&] { file.enrol({large}); }), HasSubstr("a.pcm"));
  }
  EXPECT_EQ(all_of(file), before);
  EXPECT_THAT(file.check(), IsEmpty());
  EXPECT_EQ(file.enrol({large})[0].added, 1) << "with room again it goes on";
}

}  // namespace
}  // namespace protocom::testing
