#include "trainers/detail/training_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/log_sinks.h"
#include "io/files.h"
#include "support/file_limit.h"
#include "support/message_of.h"
#include "support/small_disk.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::FileLimit;
using protocom::testing::message_of;
using protocom::testing::SmallDisk;
using protocom::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const nlohmann::json kMadeBy = {{"epochs", 5}, {"seed", 1}};

TrainingFiles files_in(const fs::path& folder, Resume resume = Resume::kNo) {
  TrainingFiles files;
  files.out = folder / "m.npz";
  files.resume = resume;
  return files;
}

Checkpoint state_at(int64_t epoch, int64_t step = 0, int64_t size = 10) {
  Checkpoint state;
  state.training = {{"weight", at::full({size}, static_cast<double>(epoch), at::kFloat)}};
  state.position = {{"epoch", epoch}, {"step", step}};
  return state;
}

void damage(const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Collects what the library logs during its lifetime.
class CapturedLog {
 public:
  CapturedLog() { log_backend().sinks().push_back(sink_); }
  ~CapturedLog() { log_backend().sinks().pop_back(); }
  [[nodiscard]] std::string text() const { return stream_.str(); }

 private:
  std::ostringstream stream_;
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_ = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_);
};

int64_t epoch_of(const std::optional<Checkpoint>& state) {
  return state ? state->position.at("epoch").get<int64_t>() : -1;
}

/// Saves the states of epochs 0 to `last`.
void save_up_to(const TrainingFiles& files, int64_t last) {
  TrainingKeeper keeper(files, kMadeBy);
  keeper.begin();
  for (int64_t epoch = 0; epoch <= last; ++epoch) keeper.save(state_at(epoch));
}

TEST(TrainingKeeper, ASecondTrainingOfTheSameFileIsRefusedWhileTheFirstLasts) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder / ".");
  {
    TrainingKeeper first(files, kMadeBy);
    EXPECT_FALSE(first.begin());
    TrainingKeeper second(files, kMadeBy);
    EXPECT_THAT(message_of([&] { (void)second.begin(); }),
                AllOf(HasSubstr("another protocom process is writing"), HasSubstr("m.npz")));
  }
  EXPECT_THAT(names_in(folder / "."), IsEmpty());
  write_file(folder / "m.npz.lock", "");  // left by a killed process
  TrainingKeeper third(files, kMadeBy);
  EXPECT_FALSE(third.begin());
}

TEST(TrainingKeeper, WritesNothingBehindLinksInItsPlaces) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder / ".");
  write_file(folder / "precious", "precious");
  for (const fs::path& place : {files.last(), files.previous(), files.log()}) {
    fs::create_symlink(folder / "precious", place);
    EXPECT_THAT(message_of([&] { (void)TrainingKeeper(files, kMadeBy).begin(); }),
                AllOf(HasSubstr(place.filename().string()), HasSubstr("it is a symbolic link")));
    fs::remove(place);
  }
  EXPECT_EQ(read_file(folder / "precious"), "precious");
}

TEST(TrainingKeeper, StartsFromScratchOrResumesFromTheLastState) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  EXPECT_FALSE(TrainingKeeper(files, kMadeBy).begin().has_value());
  save_up_to(files, 3);
  EXPECT_EQ(epoch_of(TrainingKeeper(files, kMadeBy).begin()), 3);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("m.npz.last", "m.npz.last.previous"));
  EXPECT_EQ(epoch_of(read_checkpoint(files.previous())), 2);
  TrainingKeeper(files, kMadeBy).finish();
  EXPECT_THAT(names_in(folder.path()), ElementsAre("m.npz.last"));
}

TEST(TrainingKeeper, ADamagedStateIsReportedAndThePreviousOneUsed) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 3);
  damage(files.last());
  const CapturedLog log;
  TrainingKeeper keeper(files, kMadeBy);
  EXPECT_EQ(epoch_of(keeper.begin()), 2);
  EXPECT_THAT(log.text(), AllOf(HasSubstr(files.last().string()), HasSubstr("using the state before it"),
                                HasSubstr(files.previous().string())));
  keeper.save(state_at(4));
  EXPECT_EQ(epoch_of(read_checkpoint(files.last())), 4);
  EXPECT_EQ(epoch_of(read_checkpoint(files.previous())), 2) << "the damaged one did not take its place";
}

TEST(TrainingKeeper, AFlippedBitMakesTheOneBeforeTheNewest) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 3);
  std::string bytes = read_file(files.last());
  const size_t value = bytes.find(std::string("\0\0\x40\x40", 4));  // 3.0F, an entry of the weight
  ASSERT_NE(value, std::string::npos);
  bytes[value + 2] = static_cast<char>(bytes[value + 2] ^ 1);
  write_file(files.last(), bytes);
  EXPECT_EQ(epoch_of(TrainingKeeper(files, kMadeBy).begin()), 2);
}

TEST(TrainingKeeper, WithoutAnyWholeStateItSaysSo) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 3);
  damage(files.last());
  damage(files.previous());
  EXPECT_THAT(message_of([&] { TrainingKeeper(files, kMadeBy).begin(); }),
              AllOf(HasSubstr(files.last().string()), HasSubstr(files.previous().string()), HasSubstr("start again")));
  fs::remove(files.previous());
  EXPECT_THAT(message_of([&] { TrainingKeeper(files, kMadeBy).begin(); }),
              HasSubstr("delete the damaged file to start again"));
}

TEST(TrainingKeeper, AMissingStateIsMadeUpForByTheOneBefore) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 3);
  fs::remove(files.last());
  EXPECT_EQ(epoch_of(TrainingKeeper(files, kMadeBy).begin()), 2);
}

TEST(TrainingKeeper, DoesNotOverwriteAnUnfinishedTrainingByAccident) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path());
  save_up_to(files, 3);
  EXPECT_THAT(message_of([&] { TrainingKeeper(files, kMadeBy).begin(); }),
              AllOf(HasSubstr("epoch 4 of 5"), HasSubstr("--resume")));
  save_up_to(files_in(folder.path(), Resume::kIfThere), 5);
  EXPECT_FALSE(TrainingKeeper(files, kMadeBy).begin().has_value()) << "a finished one may be made again";
}

TEST(TrainingKeeper, StatesOfOtherOptionsAreRefused) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 3);
  EXPECT_THAT(message_of([&] {
                TrainingKeeper(files, {{"epochs", 5}, {"seed", 2}}).begin();
              }),
              HasSubstr("seed was 1, is 2"));
}

TEST(TrainingKeeper, AnAskedStopSavesTheStateAndInterrupts) {
  const TempDir folder;
  StopSignal stop;
  EXPECT_FALSE(stop.request(SIGUSR1)) << "nothing listens";
  StopSignal later;
  TrainingFiles files = files_in(folder.path());
  files.stop = &later;
  TrainingKeeper keeper(files, kMadeBy);
  keeper.begin();
  keeper.after_step([] { return state_at(0, 1); });
  EXPECT_FALSE(fs::exists(files.last())) << "a minute has not passed";
  EXPECT_TRUE(later.request(SIGTERM));
  try {
    keeper.after_step([] { return state_at(2, 7); });
    FAIL() << "the training was not interrupted";
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
    EXPECT_THAT(interrupted.what(), AllOf(HasSubstr("SIGTERM"), HasSubstr("epoch 3 of 5, after step 7"),
                                          HasSubstr(files.last().string()), HasSubstr("--resume")));
  }
  EXPECT_EQ(read_checkpoint(files.last()).position.at("step"), 7);
}

TEST(TrainingKeeper, AStopIsHeardInTheMiddleOfALongJob) {
  const TempDir folder;
  StopSignal stop;
  TrainingFiles files = files_in(folder.path());
  files.stop = &stop;
  TrainingKeeper keeper(files, kMadeBy);
  keeper.begin();
  int reports = 0;
  const auto job = [&](Progress& progress) {
    progress.start("validation", 10);
    for (int i = 0; i < 10; ++i) {
      if (i == 4) stop.request(SIGINT);
      progress.advance(i, "");
      ++reports;
    }
  };
  EXPECT_THROW(keeper.interruptible(job, [] { return state_at(1, 9); }), Interrupted);
  EXPECT_EQ(reports, 4);
  EXPECT_EQ(read_checkpoint(files.last()).position.at("step"), 9);
}

TEST(TrainingKeeper, SavesWithinAnEpochWhenItIsTime) {
  const TempDir folder;
  TrainingFiles files = files_in(folder.path());
  files.checkpoint_seconds = 0;
  TrainingKeeper keeper(files, kMadeBy);
  keeper.begin();
  keeper.after_step([] { return state_at(0, 1); });
  EXPECT_EQ(read_checkpoint(files.last()).position.at("step"), 1);
}

TEST(TrainingKeeper, AStateThatDoesNotFitLeavesTheOneBeforeWhole) {
  const TempDir folder;
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 2);
  {
    TrainingKeeper keeper(files, kMadeBy);
    keeper.begin();
    const FileLimit limit(100000);
    EXPECT_THAT(message_of([&] { keeper.save(state_at(3, 0, 50000)); }),
                AllOf(HasSubstr("the state of the training is not saved"), HasSubstr(files.last().string() + ":"),
                      HasSubstr("File too large"), HasSubstr("the state saved before is intact")));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("m.npz.last", "m.npz.last.previous"));
  EXPECT_EQ(epoch_of(TrainingKeeper(files, kMadeBy).begin()), 2);
}

TEST(TrainingKeeper, AFullDiskLeavesTheStateBeforeWhole) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), "200k");
  if (!disk.there())
    GTEST_SKIP() << "needs the right to mount a small disk (root); AStateThatDoesNotFit... tests the same by a limit";
  const TrainingFiles files = files_in(folder.path(), Resume::kIfThere);
  save_up_to(files, 2);
  {
    TrainingKeeper keeper(files, kMadeBy);
    keeper.begin();
    EXPECT_THAT(message_of([&] { keeper.save(state_at(3, 0, 100000)); }), HasSubstr("No space left on device"));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("m.npz.last", "m.npz.last.previous"));
  EXPECT_EQ(epoch_of(TrainingKeeper(files, kMadeBy).begin()), 2);
}

TEST(TrainingKeeper, AFolderThatCannotBeWrittenIsNamedBeforeTheTrainingStarts) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), "200k", MS_RDONLY);
  if (!disk.there()) GTEST_SKIP() << "needs the right to mount a read-only disk (root)";
  const TrainingFiles files = files_in(folder.path());
  EXPECT_THAT(message_of([&] { TrainingKeeper(files, kMadeBy).begin(); }),
              AllOf(HasSubstr(files.out.string()), HasSubstr("Read-only file system")));
}

TEST(TrainingKeeper, KeepsNothingWithoutAPlaceForIt) {
  StopSignal stop;
  TrainingFiles files;
  files.stop = &stop;
  TrainingKeeper keeper(files, kMadeBy);
  EXPECT_FALSE(keeper.begin().has_value());
  keeper.save(state_at(1));
  stop.request(SIGINT);
  EXPECT_THROW(keeper.after_step([] { return state_at(1); }), Interrupted);
}

}  // namespace
}  // namespace protocom
