#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "io/files.h"
#include "store/database_error.h"
#include "store/recognizer_file.h"
#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "support/planted_journal.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kThesis = "ten years of work\n";
class FilesBesideARecognizer : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "backbone.npz", "the backbone");
    write_file(folder_ / "model.npz", "the model");
    write_file(thesis_, kThesis);
    RecognizerFile::create(path_, small_settings(),
                           {{"backbone", folder_ / "backbone.npz"}, {"model", folder_ / "model.npz"}}, {});
    RecognizerFile(path_).enrol({enrolment("cat", {{1, 2}, {3, 4}}, {"a", "b"})});
  }
  [[nodiscard]] std::string opened(FileUse use) const {
    return message_of([&] { static_cast<void>(RecognizerFile(path_, use)); });
  }
  [[nodiscard]] uint32_t pages() const { return static_cast<uint32_t>(fs::file_size(path_) / 4096); }
  void plant_journal(const std::string& victim, uint32_t pages) const {
    write_file(journal_, journal_naming(victim, pages));
  }
  /// Leaves the recognizer and its journal as after a crash during a change.
  void interrupt_a_change() const {
    const fs::path other = folder_ / "other.pcm";
    fs::copy_file(path_, other);
    const SqliteFile writer(other);
    writer.run("PRAGMA cache_size=1; BEGIN; UPDATE names SET name = 'half a change'");
    writer.run("CREATE TABLE filler(x); INSERT INTO filler VALUES(zeroblob(200000))");
    fs::copy_file(other, path_, fs::copy_options::overwrite_existing);
    fs::copy_file(other.string() + "-journal", journal_);
    writer.run("ROLLBACK");
  }

  TempDir folder_;
  fs::path path_ = folder_ / "a.pcm";
  fs::path journal_ = folder_ / "a.pcm-journal";
  fs::path thesis_ = folder_ / "thesis.txt";
};

TEST_F(FilesBesideARecognizer, AJournalThatNamesAnotherFileIsRefusedAndDeletesNothing) {
  const std::string before = read_file(path_);
  for (const FileUse use : {FileUse::kRead, FileUse::kChange}) {
    for (const uint32_t count : {pages(), uint32_t{3}}) {
      plant_journal(thesis_.string(), count);
      EXPECT_THAT(opened(use), AllOf(HasSubstr("a.pcm-journal"), HasSubstr("names another file")));
      EXPECT_EQ(read_file(thesis_), kThesis);
      EXPECT_TRUE(read_file(path_) == before) << "the recognizer was changed";
      EXPECT_TRUE(fs::exists(journal_));
    }
  }
}

TEST_F(FilesBesideARecognizer, AJournalPlantedWhileTheFileIsOpenDeletesNothing) {
  RecognizerFile file(path_);
  plant_journal(thesis_.string(), pages());
  EXPECT_THAT(message_of([&] { static_cast<void>(file.list_classes()); }), HasSubstr("names another file"));
  EXPECT_THAT(message_of([&] { file.rename_class("cat", "dog"); }), HasSubstr("names another file"));
  EXPECT_EQ(read_file(thesis_), kThesis);
  fs::remove(journal_);
  file.rename_class("cat", "dog");
  EXPECT_TRUE(file.has_class("dog"));
}

TEST_F(FilesBesideARecognizer, ReadingNamesAnInterruptedChangeAndChangingRollsItBack) {
  interrupt_a_change();
  const std::string before = read_file(path_);
  EXPECT_THAT(opened(FileUse::kRead), AllOf(HasSubstr("a change of it was interrupted"), HasSubstr("recover")));
  EXPECT_TRUE(read_file(path_) == before) << "reading changed it";
  EXPECT_TRUE(fs::exists(journal_));
  EXPECT_TRUE(RecognizerFile(path_).has_class("cat"));
  EXPECT_FALSE(fs::exists(journal_));
  EXPECT_TRUE(RecognizerFile(path_, FileUse::kRead).has_class("cat"));
}

TEST_F(FilesBesideARecognizer, AJournalThatClaimsAnotherSizeIsRefusedAndChangesNothing) {
  const std::string before = read_file(path_);
  struct Lie {
    uint32_t records, pages, sector, page_size;
  };
  for (const Lie& lie :
       {Lie{0xffffffff, 0x7fffffff, 512, 4096}, Lie{0, 3, 512, 4096}, Lie{0xffffffff, 1, 512, 4096},
        Lie{0, pages(), 512, 512}, Lie{0, pages(), 512, 0}, Lie{0, pages(), 0, 4096}, Lie{0, 0, 512, 4096}}) {
    write_file(journal_, journal_of(lie.records, lie.pages, lie.sector, lie.page_size) + std::string(200'000, 'x'));
    for (const FileUse use : {FileUse::kRead, FileUse::kChange}) {
      EXPECT_THAT(opened(use), AllOf(HasSubstr("a.pcm-journal"), HasSubstr("a wrong size for it"))) << lie.pages;
      EXPECT_TRUE(read_file(path_) == before) << "the recognizer was changed by a journal of " << lie.pages << " pages";
      EXPECT_TRUE(fs::exists(journal_));
    }
  }
  fs::remove(journal_);
  RecognizerFile file(path_);
  write_file(journal_, journal_of(0xffffffff, 1, 512, 4096) + std::string(200'000, 'x'));
  EXPECT_THAT(message_of([&] { file.rename_class("cat", "dog"); }), HasSubstr("a wrong size for it"));
  EXPECT_TRUE(read_file(path_) == before);
}

/// Returns the initial value of the checksums of a journal's pages of 4,096 bytes: that of the first page without its
/// bytes.
uint32_t sum_before_first_page(const std::string& journal) {
  const auto byte = [&](size_t at) { return uint32_t{static_cast<unsigned char>(journal.at(at))}; };
  constexpr size_t kPage = 512 + 4, kSum = kPage + 4096;
  uint32_t sum = byte(kSum) << 24U | byte(kSum + 1) << 16U | byte(kSum + 2) << 8U | byte(kSum + 3);
  for (size_t i = 4096 - 200; i > 0; i -= std::min<size_t>(i, 200)) sum -= byte(kPage + i);
  return sum;
}

TEST_F(FilesBesideARecognizer, AChangeThatMadeTheFileSmallerIsRolledBack) {
  {
    const SqliteFile writer(path_);
    writer.run("CREATE TABLE filler(x); INSERT INTO filler VALUES(zeroblob(400000)); DROP TABLE filler");
  }
  const std::string before = read_file(path_);
  const fs::path other = folder_ / "other.pcm";
  fs::copy_file(path_, other);
  const SqliteFile writer(other);
  writer.run("PRAGMA journal_mode=PERSIST; VACUUM");
  // In this mode SQLite keeps the journal of a completed change, without its header.
  std::string journal = read_file(other.string() + "-journal");
  journal.replace(0, 28, journal_of(0xffffffff, pages(), 512, 4096, sum_before_first_page(journal)), 0, 28);
  write_file(journal_, journal);
  fs::copy_file(other, path_, fs::copy_options::overwrite_existing);
  ASSERT_LT(fs::file_size(path_), before.size());
  EXPECT_TRUE(RecognizerFile(path_).has_class("cat"));
  EXPECT_EQ(fs::file_size(path_), before.size());
}

/// Returns whether any part of a file is locked. Asking drops the locks of this process.
bool is_locked(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  EXPECT_EQ(::fcntl(file, F_OFD_GETLK, &lock), 0);  // sees those of this process too, unlike F_GETLK
  ::close(file);
  return lock.l_type != F_UNLCK;
}

TEST_F(FilesBesideARecognizer, OpeningAFileAgainKeepsTheLocksOfThisProcess) {
  const SqliteFile writer(path_);
  writer.run("BEGIN IMMEDIATE");
  EXPECT_TRUE(RecognizerFile(path_).has_class("cat"));
  EXPECT_TRUE(is_locked(path_));
}

TEST_F(FilesBesideARecognizer, AWriteAheadLogOfAFileThatHasNoneIsRefused) {
  for (const char* end : {"-wal", "-shm"}) {
    const fs::path planted = path_.string() + end;
    write_file(planted, std::string(4096, 'x'));
    for (const FileUse use : {FileUse::kRead, FileUse::kChange})
      EXPECT_THAT(opened(use), AllOf(HasSubstr(planted.filename().string()), HasSubstr("does not belong to it")));
    EXPECT_TRUE(fs::exists(planted));
    fs::remove(planted);
  }
  RecognizerFile file(path_);
  write_file(path_.string() + "-wal", std::string(4096, 'x'));
  EXPECT_THAT(message_of([&] { static_cast<void>(file.list_classes()); }), HasSubstr("a.pcm-wal"));
}

TEST_F(FilesBesideARecognizer, ALinkOrAFolderInPlaceOfAJournalIsRefused) {
  fs::create_symlink(thesis_, journal_);
  EXPECT_THAT(opened(FileUse::kChange), HasSubstr("a.pcm-journal beside it is not a plain file"));
  fs::remove(journal_);
  fs::create_directory(journal_);
  EXPECT_THAT(opened(FileUse::kRead), HasSubstr("a.pcm-journal beside it is not a plain file"));
  EXPECT_EQ(read_file(thesis_), kThesis);
}

TEST_F(FilesBesideARecognizer, WhatIsOpenedToReadCannotBeChanged) {
  RecognizerFile file(path_, FileUse::kRead);
  EXPECT_THAT(message_of([&] { file.rename_class("cat", "dog"); }), HasSubstr("cannot be written"));
  EXPECT_TRUE(file.has_class("cat"));
}

}  // namespace
}  // namespace protocom::testing
