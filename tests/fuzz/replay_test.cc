#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "fuzz/readers.h"
#include "fuzz/seeds.h"
#include "io/files.h"
#include "support/temp_dir.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;

// read_input ends the process if a reader does anything other than read or reject.

TEST(FuzzFindings, AreReadOrRefusedNow) {
  int replayed = 0;
  for (const auto& folder : fs::directory_iterator(PROTOCOM_REGRESSIONS)) {
    const auto& all = readers();
    const auto reader = std::find_if(all.begin(), all.end(),
                                     [&](const Reader& one) { return one.name == folder.path().filename().string(); });
    ASSERT_NE(reader, all.end()) << "no reader is called as " << folder.path();
    for (const auto& entry : fs::directory_iterator(folder)) {
      SCOPED_TRACE(entry.path().string());
      read_input(*reader, read_file(entry.path()));
      ++replayed;
    }
  }
  EXPECT_GE(replayed, 6) << "findings are missing from " << PROTOCOM_REGRESSIONS;
}

TEST(FuzzSeeds, ExistForEveryReaderAndAreRead) {
  const testing::TempDir folder;
  write_seeds(folder.path());
  for (const Reader& reader : readers()) {
    ASSERT_TRUE(fs::is_directory(folder / reader.name)) << reader.name;
    bool read = false;
    for (const auto& entry : fs::directory_iterator(folder / reader.name))
      read = read_input(reader, read_file(entry.path())) || read;
    EXPECT_TRUE(read || reader.name == "backbone") << reader.name;  // whose weights are too large for a seed
  }
}

/// Returns the value of an environment variable.
int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// Replaces a number of the text by one that no reader expects.
void change_number(std::string& text, std::mt19937& random) {
  static const std::vector<std::string> kOdd = {
      "-1", "0", "20000", "4294967296", "9223372036854775807", "1e308", "nan", "-0.", "\"\"", "null", "[]", "1e-320"};
  const size_t at = text.find_first_of("0123456789", random() % text.size());
  if (at == std::string::npos) return;
  const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
  text.replace(at, end - at, kOdd[random() % kOdd.size()]);
}

std::string damage(std::string text, std::mt19937& random) {
  const std::string whole = text;
  const uint32_t way = random() % 8;
  if (way < 3) {
    for (uint32_t k = random() % 4; k < 4; ++k) text[random() % text.size()] = static_cast<char>(random());
  } else if (way < 6) {
    for (uint32_t k = random() % 2; k < 2; ++k) change_number(text, random);
  } else if (way == 6) {
    text.resize(random() % text.size());
  } else {
    text.insert(random() % text.size(), whole.substr(random() % whole.size(), random() % 200));
  }
  return text;
}

/// Runs a few hundred inputs per reader, always the same ones; PROTOCOM_FUZZ_ROUNDS and PROTOCOM_FUZZ_SEED change their
/// number and choice.
TEST(FuzzSeeds, AreReadOrRefusedWhenTheyAreDamaged) {
  const testing::TempDir folder;
  write_seeds(folder.path());
  const int64_t rounds = setting("PROTOCOM_FUZZ_ROUNDS", 100);
  std::mt19937 random(static_cast<uint32_t>(setting("PROTOCOM_FUZZ_SEED", 7)));  // its output is standardised
  for (const Reader& reader : readers()) {
    for (const auto& entry : fs::directory_iterator(folder / reader.name)) {
      const std::string seed = read_file(entry.path());
      for (int64_t i = 0; i < rounds; ++i) read_input(reader, damage(seed, random));
    }
  }
}

}  // namespace
}  // namespace protocom::fuzz
