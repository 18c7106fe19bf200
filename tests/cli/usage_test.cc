#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include "cli/program.h"
#include "support/environment.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace fs = std::filesystem;
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

int64_t count_of_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Checks the contract of every refused command line: exit code 2, nothing on stdout, one line on stderr.
void expect_usage_error(const Outcome& outcome, const std::string& stated) {
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(count_of_lines(outcome.err), 1) << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith("protocom: "));
  EXPECT_THAT(outcome.err, HasSubstr(stated));
}

class Usage : public ::testing::Test {
 protected:
  TempDir folder_;
  Outcome run(const std::vector<std::string>& arguments) { return protocom(folder_.path(), arguments); }
};

TEST_F(Usage, VersionAndHelpSucceed) {
  const ByExecutable started;
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("protocom "));
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"inspect", "extract", "fit", "evaluate", "classify", "serve"})
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command)) << command;
}

/// Joins its words with one space between them.
std::string one_line_of(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += " " + word;
  return line;
}

TEST_F(Usage, HelpShowsDefaults) {
  const std::string help = one_line_of(run({"classify", "--help"}).out);
  EXPECT_THAT(help,
              AllOf(HasSubstr(" --method TEXT "), HasSubstr("not with --batch-together, --proportions, --shares)")));
  EXPECT_THAT(help, AllOf(HasSubstr(" --min-confidence NUMBER "), HasSubstr("(0 to 1; default 0.2; with --boxes)")));
  EXPECT_THAT(help, HasSubstr("(0 to 1; default 0.1; with --boxes)")) << "--box-margin";
  EXPECT_THAT(help, AllOf(HasSubstr(" --proportions estimate|balanced|given "), HasSubstr("default table)")));
  EXPECT_THAT(help, AllOf(HasSubstr(" --top N "), HasSubstr("(at least 1; default 5; ")));
  EXPECT_THAT(one_line_of(run({"pack", "--help"}).out), HasSubstr("(default 84; not with --preprocess)"));
}

TEST_F(Usage, NoCommandIsAUsageError) { expect_usage_error(run({}), "which command?"); }

TEST_F(Usage, AnUnknownCommandIsNamedWithTheNearestOne) {
  expect_usage_error(run({"clasify"}), "unknown command 'clasify'; did you mean 'classify'?");
}

TEST_F(Usage, AnOptionWithATypoIsNamedWithTheNearestOneEvenWhenARequiredOneIsMissingToo) {
  expect_usage_error(run({"pack", "photos", "--oot", "x.pack"}), "unknown option --oot; did you mean '--out'");
  expect_usage_error(run({"knowledge", "wordnet", "--vocabulry=base"}),
                     "unknown option --vocabulry; did you mean '--vocabulary'?");
}

TEST_F(Usage, AValueThatIsNoNumberIsRefused) { expect_usage_error(run({"synth", "x", "--seed", "one"}), "--seed"); }

TEST_F(Usage, AMissingRequiredOptionIsNamed) { expect_usage_error(run({"pack", "photos"}), "--out is required"); }

/// Returns the words below "Subcommands:" or "Subcommands for ...:".
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  const size_t begin = help.find("Subcommands");
  std::istringstream lines(begin == std::string::npos ? "" : help.substr(begin, help.find("Example:") - begin));
  const std::regex name("^  ([a-z]\\S*)");
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, found, name)) names.push_back(found[1]);
  }
  return names;
}

TEST_F(Usage, EveryCommandsHelpShowsAnExampleOfItself) {
  const std::vector<std::string> commands = subcommands(run({"--help"}).out);
  EXPECT_GE(commands.size(), 25U);
  for (const std::string& command : commands) {
    const Outcome help = run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Example:\n  protocom " + command)) << command;
  }
}

/// Visits the help of a command and of its subcommands.
template <typename Visit>
void for_each_help(const std::filesystem::path& folder, const std::vector<std::string>& command, const Visit& visit) {
  std::vector<std::string> asked = command;
  asked.emplace_back("--help");
  const std::string help = protocom(folder, asked).out;
  visit(command, help);
  for (const std::string& name : subcommands(help)) {
    std::vector<std::string> below = command;
    below.push_back(name);
    for_each_help(folder, below, visit);
  }
}

/// Returns each option's name and everything that a help page says of it, on one line.
std::vector<std::pair<std::string, std::string>> options_in(const std::string& help) {
  std::vector<std::pair<std::string, std::string>> options;
  const std::regex name("^  (?:-[a-z],)?(--[a-z-]+)");
  std::istringstream lines(help);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, found, name))
      options.emplace_back(found[1], line);
    else if (!options.empty() && line.rfind("      ", 0) == 0)
      options.back().second += " " + line.substr(line.find_first_not_of(' '));
  }
  return options;
}

TEST_F(Usage, ValuesOutsideOfWhatHelpStatesAreRefusedInReadableNumbers) {
  const std::regex unreadable("[0-9]{20}");
  const std::regex limited(R"(\((required; )?([0-9.]+ to |at least )[^()]*\)$)");
  int commands = 0;
  int limits = 0;
  for_each_help(folder_.path(), {}, [&](const std::vector<std::string>& command, const std::string& help) {
    ++commands;
    EXPECT_FALSE(std::regex_search(help, unreadable)) << help;
    for (const auto& [option, text] : options_in(help)) {
      if (!std::regex_search(text, limited)) continue;
      std::vector<std::string> arguments = command;
      arguments.push_back(option + "=-1");
      const Outcome refused = run(arguments);
      ++limits;
      EXPECT_EQ(refused.exit_code, 2) << arguments.back();
      EXPECT_FALSE(std::regex_search(refused.err, unreadable)) << refused.err;
    }
  });
  EXPECT_GT(commands, 35);
  EXPECT_GT(limits, 15);
}

TEST_F(Usage, HelpIsAtMost100ColumnsWide) {
  for_each_help(folder_.path(), {}, [&](const std::vector<std::string>& command, const std::string& help) {
    std::istringstream lines(help.substr(0, help.find("Example:")));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 100U) << fmt::format("{}", fmt::join(command, " ")) << ": " << line;
  });
}

/// Returns the help of every command.
std::vector<std::string> all_help(const std::filesystem::path& folder) {
  std::vector<std::string> pages;
  for_each_help(folder, {}, [&](const auto& /*command*/, const std::string& help) { pages.push_back(help); });
  return pages;
}

TEST_F(Usage, TheExecutableAnswersForHelpAndVersionWhatTheProgramWould) {
  const std::vector<std::string> expected = all_help(folder_.path());
  const Outcome version = run({"--version"}), short_help = run({"-h"});
  const ByExecutable started;
  const std::vector<std::string> pages = all_help(folder_.path());
  ASSERT_EQ(pages.size(), expected.size());
  for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i], expected[i]);
  EXPECT_EQ(run({"--version"}).out, version.out);
  EXPECT_EQ(run({"-h"}).out, short_help.out);
}

TEST_F(Usage, ProgramOptionsStandBeforeOrAfterTheCommand) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--threads", "1", "show", "nothing.npz"}, {"show", "nothing.npz", "--threads", "1"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("nothing.npz: no such file"));
  }
}

/// Sets an environment variable during its lifetime.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const char* value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value, 1);
  }
  ~EnvironmentVariable() { ::unsetenv(name_.c_str()); }

 private:
  std::string name_;
};

TEST_F(Usage, HelpAndVersionNeedNoLibTorch) {
  const ByExecutable started;
  const EnvironmentVariable listing("LD_TRACE_LOADED_OBJECTS",
                                    "1");  // the dynamic linker lists the libraries and exits
  EXPECT_THAT(run({"--version"}).out, AllOf(HasSubstr("libc.so"), Not(HasSubstr("libtorch"))));
}

/// A command for tests of what happens when libraries are loaded.
const std::vector<std::string> kLoads = {"show", "nothing.npz"};

// OpenBLAS treats an unknown CPU like one of 2004; its last word on standard error is what it uses.
TEST_F(Usage, MatrixProductsUseWhatTheProcessorHasUnlessTheUserChose) {
  const ByExecutable started;
  const EnvironmentVariable verbose("OPENBLAS_VERBOSE", "2");
  if (read_text("/proc/cpuinfo").find(" avx2 ") != std::string::npos) {
    const std::string stated = run(kLoads).err;
    EXPECT_THAT(stated.substr(std::min(stated.size(), stated.rfind("Core: "))), Not(HasSubstr("Prescott")));
  }
  const EnvironmentVariable chosen("OPENBLAS_CORETYPE", "Nehalem");
  EXPECT_THAT(run(kLoads).err, Not(HasSubstr("SkylakeX")));
}

/// Removes an environment variable during its lifetime.
class Without {
 public:
  explicit Without(std::string name) : name_(std::move(name)) {
    if (const char* value = std::getenv(name_.c_str())) before_ = value;
    ::unsetenv(name_.c_str());
  }
  ~Without() {
    if (before_) ::setenv(name_.c_str(), before_->c_str(), 1);
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

// Threads that spin for long keep the one they wait for from running where other programs use the same cores.
TEST_F(Usage, ThreadsSpinForAShortWhileUnlessTheUserChose) {
  const ByExecutable started;
  const EnvironmentVariable display("OMP_DISPLAY_ENV", "verbose");
  const Without policy("OMP_WAIT_POLICY");
  const Without spins("GOMP_SPINCOUNT");
  EXPECT_THAT(run(kLoads).err, HasSubstr("GOMP_SPINCOUNT = '3000'"));
  EXPECT_THAT(run(kLoads).err, HasSubstr("nothing.npz"));
  const EnvironmentVariable active("OMP_WAIT_POLICY", "passive");
  EXPECT_THAT(run(kLoads).err, HasSubstr("GOMP_SPINCOUNT = '0'"));
}

// Threads that a library starts when it is loaded, before the program's first line, would die of a signal.
TEST_F(Usage, WhatTheExecutableBecomesIsBornWithTheSignalsBlocked) {
  const fs::path bin = folder_.path() / "apps/protocom", libexec = folder_.path() / "apps/libexec/protocom";
  fs::create_directories(bin);
  fs::create_directories(libexec);
  fs::copy_file(std::getenv("PROTOCOM_PROGRAM"), bin / "protocom");
  fs::create_symlink("/bin/cat", libexec / "protocom");  // a shell would clear its mask
  const auto blocked = [&](const std::string& before) {
    const std::string command = before + (bin / "protocom").string() + " /proc/self/status > said";
    EXPECT_EQ(std::system(("cd " + folder_.path().string() + " && " + command).c_str()), 0);
    const std::string stated = read_text(folder_.path() / "said");
    return std::stoull(stated.substr(stated.find("SigBlk:") + 7), nullptr, 16);
  };
  EXPECT_EQ(blocked("") & 0x4003, 0x4003u) << "SIGHUP, SIGINT and SIGTERM";
  EXPECT_EQ(blocked("trap '' HUP; ") & 0x4003, 0x4002u) << "nohup stays";
}

TEST_F(Usage, ShowRefusesWhatIsNotAnArtefact) {
  write_text(folder_ / "notes.txt", "hello");
  const Outcome outcome = run({"show", "notes.txt"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("notes.txt"));
  EXPECT_EQ(count_of_lines(outcome.err), 1) << outcome.err;
}

/// A bad input: exit code 1 or 2, one sentence that names it, nothing new on the disk.
class BadInput : public Usage {
 protected:
  void SetUp() override {
    // The smallest valid BMP: 1 x 1 pixels.
    const std::string header("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0", 30);
    bmp_ = header + std::string(24, '\0') + std::string("\x10\x20\x30\0", 4);
    write_text(folder_ / "photos/cat/1.bmp", bmp_);
    write_text(folder_ / "photos/dog/1.bmp", bmp_);
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& stated) {
    const std::vector<std::string> before = files_below(folder_.path());
    const Outcome outcome = run(arguments);
    EXPECT_THAT(outcome.exit_code, AnyOf(1, 2)) << outcome.err;
    EXPECT_EQ(count_of_lines(outcome.err), 1) << outcome.err;
    for (const std::string& words : stated) EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(files_below(folder_.path()), before) << "something half-written was left behind";
  }

  std::string bmp_;
};

TEST_F(BadInput, AMissingFolder) { expect_refused({"pack", "nowhere", "--out", "x.pack"}, {"nowhere"}); }

TEST_F(BadInput, AClassWithoutImagesIsNamedAndLeftOut) {
  std::filesystem::create_directories(folder_ / "photos/empty");
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\nempty,novel\n");
  const Outcome outcome = run({"pack", "photos", "--split", "split.csv", "--out", "x.pack"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("which have no images: empty"));
}

TEST_F(BadInput, AFolderThatTheSplitDoesNotNameIsNamedAndLeftOut) {
  std::filesystem::copy(folder_ / "photos/cat", folder_ / "photos/lynx", std::filesystem::copy_options::recursive);
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\n");
  const Outcome outcome = run({"pack", "photos", "--split", "split.csv", "--out", "x.pack"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("ignoring folders in photos that are not in split.csv, 1 of them: lynx"));
}

TEST_F(BadInput, FilesThatAreNoImagesOfAClassAreCountedByWhyTheyAreLeftOut) {
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\n");
  const auto packed = [&] {
    const Outcome outcome = run({"pack", "photos", "--split", "split.csv", "--out", "x.pack"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return std::regex_replace(outcome.out, std::regex(" +"), " ");
  };
  EXPECT_THAT(packed(), HasSubstr("\nother files 0\n"));
  for (const char* file : {"cat/notes.txt", "cat/more.TXT", "dog/clip.mp4", "dog/README", "dog/.hidden.bmp",
                           ".cache/1.bmp", "forgotten.bmp"})
    write_text(folder_ / "photos" / file, bmp_);
  std::filesystem::create_symlink("gone.bmp", folder_ / "photos/dog/2.bmp");
  EXPECT_THAT(
      packed(),
      AllOf(HasSubstr("images 2\n"),
            HasSubstr("\nother files 8 files are ignored: 2 .txt, 1 .mp4, 1 beside the class "
                      "folders, 1 broken link, 1 hidden, 1 in a hidden folder, 1 without a suffix; make photos")));
}

TEST_F(BadInput, ATruncatedImageIsNamedAndLeftOut) {
  write_text(folder_ / "photos/dog/2.bmp", bmp_.substr(0, 40));
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "x.pack", "--strict"}, {"dog/2.bmp"});
  const Outcome outcome = run({"pack", "photos", "--split", "split.csv", "--out", "x.pack"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("dog/2.bmp"));
  EXPECT_THAT(outcome.err, HasSubstr("ignoring 1 of 3 images, which cannot be read"));
}

TEST_F(BadInput, AWrongColumn) {
  write_text(folder_ / "split.csv", "klass,split\ncat,base\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "x.pack"}, {"split.csv", "class", "klass"});
}

TEST_F(BadInput, AClassInTwoSplits) {
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\ncat,novel\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "x.pack"}, {"split.csv:4", "cat"});
}

TEST_F(BadInput, AClassOfTheSplitWithoutAFolderIsNamedAndLeftOut) {
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\nunicorn,novel\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "x.pack", "--strict"}, {"unicorn"});
  const Outcome outcome = run({"pack", "photos", "--split", "split.csv", "--out", "x.pack"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 classes that are not in photos; ignoring them: unicorn"));
  write_text(folder_ / "split.csv", "class,split\nunicorn,base\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "y.pack"}, {"unicorn"});
}

TEST_F(BadInput, AnOutputFolderThatCannotBeMade) {
  write_text(folder_ / "split.csv", "class,split\ncat,base\ndog,novel\n");
  expect_refused({"pack", "photos", "--split", "split.csv", "--out", "split.csv/x.pack"}, {"split.csv"});
}

TEST_F(BadInput, AnAttributeWeightThatIsNone) {
  write_text(folder_ / "attributes.csv", "class,attribute,weight\ncat,tail,1\ndog,tail,much\n");
  expect_refused({"knowledge", "table", "--csv", "attributes.csv", "--out", "k.npz"}, {"attributes.csv:3", "much"});
}

TEST_F(BadInput, ARecognizerThatIsNotThere) {
  expect_refused({"classify", "none.pcm", "photos"}, {"none.pcm: no such file"});
  expect_refused({"enrol", "none.pcm", "photos/cat", "--class", "cat"}, {"none.pcm: no such file"});
}

TEST_F(BadInput, AnotherFileWhereARecognizerIsExpected) {
  write_text(folder_ / "old.store", "PK an archive");
  expect_refused({"classify", "old.store", "photos"}, {"old.store", "not a recognizer"});
}

TEST_F(BadInput, ARecognizerWithoutABackboneOfItsOwnOrADefault) {
  const Environment named("PROTOCOM_ENCODER", "nobodys-encoder");
  expect_refused({"recognizer", "create", "new.pcm", "--fitted", "plda.npz"}, {"--backbone", "nobodys-encoder"});
}

}  // namespace
}  // namespace protocom::testing
