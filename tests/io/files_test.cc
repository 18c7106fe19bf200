#include "io/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/error.h"
#include "io/npz.h"
#include "io/unfinished.h"
#include "support/file_limit.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FilesTest : public ::testing::Test {
 protected:
  static std::string message_of(const std::function<void()>& call) { return testing::message_of(call); }

  fs::path put(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }

  fs::path put_gzip(const std::string& name, const std::string& content) const {
    const gzFile file = gzopen((folder_ / name).c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return folder_ / name;
  }

  /// Returns the names in the folder, sorted.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::vector<std::string> lines_of(const fs::path& path) {
    std::vector<std::string> lines;
    for_each_line(path, [&](int64_t number, std::string_view line) {
      EXPECT_EQ(number, static_cast<int64_t>(lines.size()) + 1);
      lines.emplace_back(line);
      return true;
    });
    return lines;
  }

  testing::TempDir folder_;
};

TEST_F(FilesTest, ReadsBackWhatItWroteWhateverTheBytes) {
  std::string bytes(200'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 % 256);
  write_file(folder_ / "all", bytes);
  write_file(folder_ / "empty", "");
  EXPECT_EQ(read_file(folder_ / "all"), bytes);
  EXPECT_EQ(read_file(folder_ / "empty"), "");
  EXPECT_THAT(listing(), ElementsAre("all", "empty"));
}

TEST_F(FilesTest, MakesTheFoldersOfAFile) {
  write_file(folder_ / "a/b/c.txt", "text");
  EXPECT_EQ(read_file(folder_ / "a/b/c.txt"), "text");
}

TEST_F(FilesTest, ReplacesAFileAsAWhole) {
  const fs::path path = put("file", "old and long");
  std::ifstream reader(path);  // opened before: it continues to read the old file
  write_file(path, "new");
  EXPECT_EQ(read_file(path), "new");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old and long");
}

TEST_F(FilesTest, LeavesTheOldFileAndNothingElseWhenTheWriterThrows) {
  const fs::path path = put("file", "old");
  fs::path temporary;
  const auto failing = [&](const fs::path& place) {
    temporary = place;
    std::ofstream(place) << "half";
    EXPECT_EQ(read_file(path), "old");
    throw std::runtime_error("the writer failed");
  };
  EXPECT_THROW(write_file_with(path, failing), std::runtime_error);
  EXPECT_EQ(temporary.parent_path(), path.parent_path()) << "a rename is only atomic within a file system";
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THAT(listing(), ElementsAre("file"));
}

TEST_F(FilesTest, LeavesNothingWhenAnImpossiblePlaceIsWritten) {
  fs::create_directory(folder_ / "folder");
  put("file", "text");
  EXPECT_THAT(message_of([&] { write_file(folder_ / "folder", "x"); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("/folder")));
  EXPECT_THAT(message_of([&] { write_file(folder_ / "file/below", "x"); }), HasSubstr("cannot create the folder"));
  EXPECT_THAT(listing(), ElementsAre("file", "folder"));
}

TEST_F(FilesTest, CallsAFileForWhichThereIsNoRoomByItsOwnName) {
  const fs::path path = folder_ / "a.txt";
  const testing::FileLimit limit(1000);
  EXPECT_EQ(message_of([&] { write_file(path, std::string(5000, 'x')); }),
            "cannot write " + path.string() + ": File too large");
}

TEST_F(FilesTest, SaysSoWhenAWriterWroteNoFile) {
  EXPECT_THAT(message_of([&] { write_file_with(folder_ / "file", [](const fs::path&) {}); }),
              HasSubstr("nothing was written"));
  EXPECT_THAT(listing(), IsEmpty());
}

TEST_F(FilesTest, NamesTheFileAndTheReasonWhenItCannotBeRead) {
  const fs::path missing = folder_ / "missing.txt";
  const auto names_it = AllOf(HasSubstr(missing.string()), HasSubstr("No such file or directory"));
  EXPECT_THAT(message_of([&] { read_file(missing); }), names_it);
  EXPECT_THAT(message_of([&] { hash_file(missing); }), names_it);
  EXPECT_THAT(message_of([&] { MappedFile{missing}; }), names_it);
  EXPECT_THAT(message_of([&] { lines_of(missing); }), names_it);
}

TEST_F(FilesTest, NamesAFileThatDoesNotFitIntoMemory) {
#ifdef PROTOCOM_SANITIZED
  GTEST_SKIP() << "the address sanitizer ends the program at an allocation of this size";
#endif
  const fs::path path = folder_ / "holes";
  std::ofstream(path) << "x";
  fs::resize_file(path, uintmax_t{1} << 43);
  EXPECT_THAT(message_of([&] { read_file(path); }), AllOf(HasSubstr("holes"), HasSubstr("MiB do not fit into memory")));
}

TEST_F(FilesTest, SaysThatAFolderIsNoFile) {
  const auto names_it =
      AllOf(HasSubstr(folder_.path().string()), ::testing::ContainsRegex("is a (folder|directory)|Is a directory"));
  EXPECT_THAT(message_of([&] { read_file(folder_.path()); }), names_it);
  EXPECT_THAT(message_of([&] { hash_file(folder_.path()); }), names_it);
  EXPECT_THAT(message_of([&] { MappedFile{folder_.path()}; }), names_it);
  EXPECT_THAT(message_of([&] { lines_of(folder_.path()); }), names_it);
}

TEST_F(FilesTest, ReadsLinesWithEveryKindOfEnd) {
  const std::vector<std::string> expected = {"one", "", "three \r x"};
  EXPECT_EQ(lines_of(put("unix", "one\n\nthree \r x\n")), expected);
  EXPECT_EQ(lines_of(put("windows", "one\r\n\r\nthree \r x\r\n")), expected);
  EXPECT_EQ(lines_of(put("no final end", "one\n\nthree \r x")), expected);
  EXPECT_EQ(lines_of(put_gzip("zipped.gz", "one\r\n\nthree \r x")), expected);
  EXPECT_THAT(lines_of(put("empty", "")), IsEmpty());
  EXPECT_THAT(lines_of(put_gzip("empty.gz", "")), IsEmpty());
  EXPECT_THAT(lines_of(put("an end alone", "\n")), ElementsAre(""));
}

TEST_F(FilesTest, ReadsLinesThatAreLongerThanABlock) {
  std::vector<std::string> expected;
  std::string text;
  // Lengths end before, on and after the ends of blocks of any power of two, also between \r and
  // .
  for (const size_t length : {0, 1, 65535, 131070, 131071, 131072, 131073, 1'000'003, 5}) {
    expected.emplace_back(length, static_cast<char>('a' + expected.size()));
    text += expected.back() + (expected.size() % 2 == 0 ? "\n" : "\r\n");
  }
  EXPECT_EQ(lines_of(put("plain", text)), expected);
  EXPECT_EQ(lines_of(put_gzip("zipped.gz", text)), expected);
}

TEST_F(FilesTest, KeepsBothCharactersOfALineEndTogetherOverABlockEnd) {
  for (size_t length = 131069; length <= 131073; ++length) {
    const std::string line(length, 'x');
    EXPECT_EQ(lines_of(put("file", line + "\r\nnext\r\n")), (std::vector<std::string>{line, "next"})) << length;
  }
}

TEST_F(FilesTest, StopsReadingLinesWhenAsked) {
  const fs::path path = put("file", "1\n2\n3\n4");
  int seen = 0;
  for_each_line(path, [&](int64_t number, std::string_view) {
    ++seen;
    return number < 2;
  });
  EXPECT_EQ(seen, 2);
}

TEST_F(FilesTest, RefusesAGzipFileThatIsCutOffOrDamaged) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  const std::string whole = read_file(put_gzip("whole.gz", text));
  const fs::path cut = put("cut.gz", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(message_of([&] { lines_of(cut); }), AllOf(HasSubstr("cut.gz"), HasSubstr("unexpected end of file")));
  std::string wrong = whole;
  wrong[wrong.size() - 6] = static_cast<char>(wrong[wrong.size() - 6] ^ 1);  // in the checksum
  const fs::path damaged = put("damaged.gz", wrong);
  EXPECT_THAT(message_of([&] { lines_of(damaged); }),
              AllOf(HasSubstr("damaged.gz"), HasSubstr("incorrect data check")));
}

// The values stated by the tests of python-xxhash and of ClickHouse.
TEST_F(FilesTest, HashesAsOtherProgramsDo) {
  EXPECT_EQ(hash_bytes(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_file(put("empty", "")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_bytes("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash_bytes("ClickHouse"), "14c27b7bef95d36fecf5520ca2daf030");
}

TEST_F(FilesTest, HashesAFileOfManyBlocksAsItsBytes) {
  std::string bytes(3'500'001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i % 251);
  EXPECT_EQ(hash_file(put("large", bytes)), hash_bytes(bytes));
  bytes[1'234'567] ^= 1;
  EXPECT_NE(hash_file(folder_ / "large"), hash_bytes(bytes));
}

TEST_F(FilesTest, TellsBeforehandWhetherAPlaceCanBeWritten) {
  put("file", "old");
  check_writable(folder_ / "new");
  check_writable(folder_ / "file");
  check_writable(folder_ / "made/for/it");
  EXPECT_EQ(read_file(folder_ / "file"), "old");
  EXPECT_THAT(listing(), ElementsAre("file", "made"));
  EXPECT_TRUE(fs::is_empty(folder_ / "made/for"));
}

TEST_F(FilesTest, TellsBeforehandThatAPlaceCannotBeWritten) {
  EXPECT_THAT(message_of([&] { check_writable(folder_.path()); }), HasSubstr("is a folder, expected a file name"));
  put("file", "");
  EXPECT_THAT(message_of([&] { check_writable(folder_ / "file/below"); }), HasSubstr("cannot create the folder"));
  EXPECT_THAT(message_of([] { check_writable("/proc/protocom.npz"); }),
              HasSubstr("cannot create /proc/protocom.npz"));  // even for root
  EXPECT_THAT(message_of([&] { check_writable(folder_ / std::string(300, 'x')); }), HasSubstr("File name too long"));
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_THAT(message_of([&] { check_writable(folder_ / "loop/file"); }),
              HasSubstr("Too many levels of symbolic links"));
}

TEST_F(FilesTest, TellsThatSomethingIsAlreadyThereButNotOfWhatIsEmptyOrAStream) {
  write_file(folder_ / "empty", "");
  for (const fs::path& free : {folder_ / "nothing", folder_ / "empty", fs::path("/dev/stdout")})
    EXPECT_EQ(message_of([&] { check_absent(free); }), "(no Error)") << free;
  write_file(folder_ / "mine.csv", "x");
  for (const fs::path& kept : {folder_ / "mine.csv", folder_.path()})
    EXPECT_EQ(message_of([&] { check_absent(kept); }),
              kept.string() + " is already there: remove it, or choose another name");
}

/// Redirects standard output to a file during its lifetime.
class OutputToFile {
 public:
  explicit OutputToFile(const fs::path& path) : before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND);
    ::dup2(file, STDOUT_FILENO);
    ::close(file);
  }
  ~OutputToFile() {
    std::fflush(stdout);
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  OutputToFile(const OutputToFile&) = delete;
  OutputToFile& operator=(const OutputToFile&) = delete;

 private:
  int before_;
};

TEST_F(FilesTest, StandardOutputMayBeTheOutputAlsoWhereItGoesToAFileThatHasText) {
  const OutputToFile redirected(put("said.txt", "said before\n"));
  EXPECT_EQ(message_of([&] { check_absent("/dev/stdout"); }), "(no Error)");
}

TEST_F(FilesTest, MapsAFile) {
  const MappedFile file(put("file", "some bytes"));
  EXPECT_EQ(file.bytes(), "some bytes");
  EXPECT_EQ(MappedFile(put("empty", "")).bytes(), "");
}

TEST_F(FilesTest, MovesAMappingAndKeepsItWhenTheFileIsReplacedOrRemoved) {
  const fs::path path = put("file", "some bytes");
  MappedFile first(path);
  const MappedFile second(std::move(first));
  write_file(path, "others");
  fs::remove(path);
  EXPECT_EQ(second.bytes(), "some bytes");
  EXPECT_EQ(first.bytes(), "");  // NOLINT(bugprone-use-after-move): it is specified to be empty
}

TEST_F(FilesTest, ALinkStaysALinkAndItsTargetGetsTheNewContent) {
  const fs::path target = put("store", "old");
  fs::create_directory(folder_ / "links");
  fs::create_symlink("../store", folder_ / "links/second");
  fs::create_symlink("links/second", folder_ / "first");
  write_file(folder_ / "first", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "first"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "links/second"));
  EXPECT_EQ(read_file(target), "new");
  EXPECT_THAT(listing(), ElementsAre("first", "links", "store"));
}

TEST_F(FilesTest, ALinkToAFileThatIsNotThereYetMakesThatFile) {
  fs::create_symlink("later", folder_ / "link");
  check_writable(folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "later"), "new");
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_THAT(message_of([&] { write_file(folder_ / "a", "x"); }), AllOf(HasSubstr("/a"), HasSubstr("links")));
}

TEST_F(FilesTest, KeepsTheModeOfTheFileItReplaces) {
  const fs::path path = put("secret", "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::perms while_written = fs::perms::all;
  write_file_with(path, [&](const fs::path& temporary) {
    while_written = fs::status(temporary).permissions();
    fs::remove(temporary);  // as libraries do that write a file of their own
    std::ofstream(temporary) << "new";
  });
  EXPECT_EQ(while_written, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_file(path), "new");
}

TEST_F(FilesTest, WritesStraightToWhatIsNoPlainFile) {
  check_writable("/dev/null");
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { std::getline(std::ifstream(pipe), received); });
  write_file_with(pipe, [](const fs::path& place) { std::ofstream(place) << "through the pipe"; });
  reader.join();
  EXPECT_EQ(received, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THAT(listing(), ElementsAre("pipe"));
}

TEST_F(FilesTest, APipeOrADeviceIsRefusedInsteadOfReadForEver) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto reads = {message_of([&] { (void)read_file(pipe); }), message_of([&] { (void)hash_file(pipe); }),
                      message_of([&] { (void)MappedFile(pipe); }), message_of([&] { (void)NpzReader(pipe); }),
                      message_of([&] { for_each_line(pipe, [](int64_t, std::string_view) { return true; }); })};
  EXPECT_THAT(reads, ::testing::Each(AllOf(HasSubstr("pipe: it is a pipe"), HasSubstr("expected a plain file"))));
  EXPECT_THAT(message_of([] { (void)hash_file("/dev/zero"); }), HasSubstr("/dev/zero: it is a device"));
  EXPECT_THAT(message_of([&] { (void)hash_file(folder_.path()); }), HasSubstr("it is a folder"));
}

TEST_F(FilesTest, AStreamThatTheCallerHasOpenedIsRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "sent", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])), "sent");
  ::close(ends[0]);
}

TEST_F(FilesTest, AFewBytesThatUnpackToMillionsOfLinesAreRefused) {
  const fs::path path = put_gzip("lines.gz", std::string(size_t{33} << 20, '\n'));
  EXPECT_THAT(message_of([&] { for_each_line(path, [](int64_t, std::string_view) { return true; }); }),
              HasSubstr("lines.gz: it unpacks to more than 200 times its size"));
}

// /dev/shm is an ordinary folder.
TEST_F(FilesTest, ReplacesAPlainFileBelowDevAsAWhole) {
  if (!fs::is_directory("/dev/shm")) return;
  const fs::path path = fs::path("/dev/shm") / temporary_beside("protocom-test").filename();
  write_file(path, "old");
  std::ifstream reader(path);
  write_file(path, "new");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(read_file(path), "new");
  fs::remove(path);
}

TEST_F(FilesTest, RefusesOutputNamesThatCannotBeBeforeTheWork) {
  EXPECT_THAT(message_of([] { check_writable(""); }), HasSubstr("expected a file name"));
  EXPECT_THAT(message_of([&] { check_writable(folder_.path() / ""); }), HasSubstr("it is a folder"));
  EXPECT_THAT(message_of([&] { check_writable(folder_ / std::string(256, 'n')); }), HasSubstr("name too long"));
  EXPECT_EQ(message_of([&] { check_writable(folder_ / std::string(255, 'n')); }), "(no Error)");
  EXPECT_THAT(listing(), IsEmpty());
}

TEST_F(FilesTest, ALineWithoutEndTakesNoMoreMemoryThanALineMay) {
  const gzFile file = gzopen((folder_ / "endless.gz").c_str(), "wb");
  const std::string piece(1 << 20, 'a');
  for (int i = 0; i < 64; ++i) gzwrite(file, piece.data(), static_cast<unsigned>(piece.size()));  // 64 MiB in 64 KiB
  gzclose(file);
  EXPECT_THAT(message_of([&] { lines_of(folder_ / "endless.gz"); }),
              AllOf(HasSubstr("endless.gz:1"), HasSubstr("longer than")));
}

TEST_F(FilesTest, SaysInOneSentenceWhatWentWrongWhileAFileWasRead) {
  const auto message = [](const std::function<void()>& read) {
    return message_of([&] { reading("some/file", read); });
  };
  EXPECT_EQ(message([] { fail("some/file:3: a number was expected"); }), "some/file:3: a number was expected");
  EXPECT_EQ(message([] { fail("a number was expected"); }), "some/file: a number was expected");
  EXPECT_EQ(message([] { throw UsageError("unknown split 'x'"); }), "some/file: unknown split 'x'");
  EXPECT_EQ(message([] { throw std::bad_alloc(); }), "some/file: out of memory");
  EXPECT_EQ(message([] { nlohmann::json(3).get<std::string>(); }), "some/file: type must be string, but is number");
  EXPECT_EQ(message([] { throw std::runtime_error("first line\nsecond line"); }), "some/file: first line");
}

}  // namespace
}  // namespace protocom
