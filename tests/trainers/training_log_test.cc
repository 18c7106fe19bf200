#include "trainers/detail/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "io/files.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::TempDir;

TrainingFiles logged_files_in(const fs::path& folder) {
  TrainingFiles files;
  files.out = folder / "m.npz";
  return files;
}

void add(const TrainingLog& log, int64_t epoch) {
  const auto loss = 1.0 / static_cast<double>(epoch);
  log.add(epoch, {{"loss", loss}});
}

std::vector<int64_t> epochs_logged(const TrainingFiles& files) {
  std::vector<int64_t> epochs;
  for_each_line(files.log(), [&](int64_t, std::string_view line) {
    epochs.push_back(nlohmann::json::parse(line).at("epoch"));
    return true;
  });
  return epochs;
}

TEST(TrainingLog, HasALineAnEpochWithItsFigures) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  const TrainingLog log(files, TrainingLog::kNew);
  add(log, 1);
  add(log, 2);
  EXPECT_EQ(read_file(files.log()), "{\"epoch\":1,\"loss\":1.0}\n{\"epoch\":2,\"loss\":0.5}\n");
}

TEST(TrainingLog, ATrainingThatGoesOnHasNoEpochTwice) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  {
    const TrainingLog log(files, TrainingLog::kNew);
    for (int64_t epoch = 1; epoch <= 3; ++epoch) add(log, epoch);
  }
  // The last checkpoint was written after epoch 2, and power failed while the line of the fourth was being written.
  std::ofstream(files.log(), std::ios::app) << R"({"epoch": 4, "lo)";
  const TrainingLog log(files, 2);
  add(log, 3);
  add(log, 4);
  EXPECT_EQ(epochs_logged(files), (std::vector<int64_t>{1, 2, 3, 4}));
}

TEST(TrainingLog, ATrainingThatWasKilledWhileItCutItsLogLeavesNothing) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  const pid_t killed = ::fork();
  if (killed == 0) {
    write_file_with(files.log(), [](const fs::path& temporary) {
      std::ofstream(temporary) << "half a li" << std::flush;
      ::kill(::getpid(), SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_FALSE(fs::is_empty(folder.path()));
  const TrainingLog log(files, 2);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(TrainingLog, ANewTrainingBeginsWithAnEmptyLog) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  {
    const TrainingLog log(files, TrainingLog::kNew);
    add(log, 1);
  }
  const TrainingLog log(files, TrainingLog::kNew);
  EXPECT_TRUE(epochs_logged(files).empty());
}

TEST(TrainingLog, WritesNothingWithoutAPlaceForIt) {
  const TrainingFiles files;
  const TrainingLog log(files, TrainingLog::kNew);
  add(log, 1);
  EXPECT_FALSE(fs::exists(".jsonl"));
}

}  // namespace
}  // namespace protocom
