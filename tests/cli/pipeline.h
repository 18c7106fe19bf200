#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/temp_dir.h"

namespace protocom::testing {

namespace fs = std::filesystem;

/// A complete run in a few seconds: tiny images, a small network, hardly any training.
inline constexpr const char* kTinyRun = R"(
out = "${folder}"

[synth]
image-size = 32
images-per-class = 20
base = 8
val = 3
novel = 5

[pack]
image-size = 32

[knowledge]
source = "table"
embedding-dim = 6

[pretrain]
architecture = "conv4"
epochs = 1
batch = 32
val-episodes = 10

[extract]

[complete]
epochs = 2
batches = 20
lr = 0.0001
val-episodes = 10

[evaluate]
k-shot = [1, 5]
n-query = 5
episodes = 20

[report]
)";

/// Runs one pipeline once for the tests of all derived suites, which must leave it unchanged.
class Pipeline : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (folder_ != nullptr) return;
    folder_ = std::make_unique<TempDir>();
    write_text(*folder_ / "tiny.toml", kTinyRun);
    first_ = run({});
  }

  static Outcome run(const std::vector<std::string>& more, const std::string& out = "out") {
    std::vector<std::string> arguments = {"run", "tiny.toml", "--quiet", "--threads", "1", "--set", "folder=" + out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  }
  static fs::path out(const std::string& name) { return folder_->path() / "out" / name; }

  /// Returns "<class>/<number>.jpg" of the first image.
  static std::string first_image() {
    for (const std::string& file : files_below(out("images"))) {
      if (file.find('/') != std::string::npos) return file;
    }
    throw std::runtime_error("the run left no image");
  }

  inline static std::unique_ptr<TempDir> folder_;
  inline static Outcome first_;
};

}  // namespace protocom::testing
