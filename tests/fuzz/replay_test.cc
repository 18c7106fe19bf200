#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "fuzz/readers.h"
#include "fuzz/seeds.h"
#include "protocom/core/files.h"
#include "support/temp_dir.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;

// read_input ends the process when a reader does anything but read or refuse.

TEST(FuzzFindings, AreReadOrRefusedNow) {
  for (const Reader& reader : readers()) {
    const fs::path folder = fs::path(PROTOCOM_REGRESSIONS) / reader.name;
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      SCOPED_TRACE(entry.path().string());
      read_input(reader, read_file(entry.path()));
    }
  }
}

TEST(FuzzSeeds, ExistForEveryReaderAndAreRead) {
  const testing::TempDir folder;
  write_seeds(folder.path());
  for (const Reader& reader : readers()) {
    ASSERT_TRUE(fs::is_directory(folder / reader.name)) << reader.name;
    for (const auto& entry : fs::directory_iterator(folder / reader.name)) read_input(reader, read_file(entry.path()));
  }
}

/// Cut short, with bytes changed, and with a piece twice: a few hundred a reader, always the same ones.
TEST(FuzzSeeds, AreReadOrRefusedWhenTheyAreDamaged) {
  const testing::TempDir folder;
  write_seeds(folder.path());
  std::mt19937 random(7);  // its numbers are the standard's; distributions are not
  for (const Reader& reader : readers()) {
    for (const auto& entry : fs::directory_iterator(folder / reader.name)) {
      const std::string seed = read_file(entry.path());
      for (int i = 0; i < 60; ++i) {
        std::string damaged = seed;
        for (uint32_t k = random() % 4; k < 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
        if (i % 3 == 0) damaged.resize(random() % damaged.size());
        if (i % 5 == 0) damaged += seed.substr(random() % seed.size());
        read_input(reader, damaged);
      }
    }
  }
}

}  // namespace
}  // namespace protocom::fuzz
