#include "train/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/python.h"
#include "protocom/core/files.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::run_python;
using protocom::testing::TempDir;

/// An event-file reader of its own: it computes CRC-32C bit by bit, takes protocol buffers apart by hand, and prints a
/// line "step tag value" a scalar, "version ..." and "start step" for the others, sorted files one after the other.
constexpr const char* kReader = R"(
import glob, struct
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff
def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xa282ead8) & 0xffffffff
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]; at += 1
        value |= (byte & 127) << shift; shift += 7
        if byte < 128: return value, at
def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0: value, at = varint(data, at)
        elif kind == 1: value = struct.unpack('<d', data[at:at + 8])[0]; at += 8
        elif kind == 2:
            size, at = varint(data, at); value = data[at:at + size]; at += size
        elif kind == 5: value = struct.unpack('<f', data[at:at + 4])[0]; at += 4
        yield key >> 3, value
assert masked(b'') == 0xa282ead8 and crc32c(b'123456789') == 0xe3069283
for name in sorted(glob.glob('m.npz.events/*tfevents*')):
    data = open(name, 'rb').read()
    at = 0
    while at < len(data):
        size, check = struct.unpack('<QI', data[at:at + 12])
        assert check == masked(data[at:at + 8]), 'length'
        event = data[at + 12:at + 12 + size]
        assert struct.unpack('<I', data[at + 12 + size:at + 16 + size])[0] == masked(event), 'data'
        at += 16 + size
        event = dict(fields(event))
        assert event[1] > 1.6e9, 'wall time'
        if 3 in event: print('version', event[3].decode())
        if 7 in event: print('start', event[2], dict(fields(event[7])))
        for number, value in fields(event.get(5, b'')):
            assert number == 1
            scalar = dict(fields(value))
            print(event[2], scalar[1].decode(), '%.6g' % scalar[2])
)";

TrainingFiles logged_files_in(const fs::path& folder) {
  TrainingFiles files;
  files.out = folder / "m.npz";
  return files;
}

void add(TrainingLog& log, int64_t epoch) {
  const auto loss = 1.0 / static_cast<double>(epoch);
  log.add(epoch, {{"loss", loss}}, {{"loss/train", loss}, {"learning_rate", 0.1}});
}

std::vector<int64_t> epochs_logged(const TrainingFiles& files) {
  std::vector<int64_t> epochs;
  for_each_line(files.log(), [&](int64_t, std::string_view line) {
    epochs.push_back(nlohmann::json::parse(line).at("epoch"));
    return true;
  });
  return epochs;
}

TEST(TrainingLog, ChecksumsAreCastagnolis) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U) << "the check value of RFC 3720's CRC";
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU) << "RFC 3720, B.4";
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U) << "RFC 3720, B.4";
}

TEST(TrainingLog, AnotherReaderSeesTheCurves) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  TrainingLog log(files, TrainingLog::kNew);
  add(log, 1);
  add(log, 2);
  EXPECT_EQ(run_python(folder.path(), kReader),
            "version brain.Event:2\nstart 1 {1: 1}\n1 loss/train 1\n1 learning_rate 0.1\n2 loss/train 0.5\n"
            "2 learning_rate 0.1\n");
  EXPECT_EQ(epochs_logged(files), (std::vector<int64_t>{1, 2}));
}

TEST(TrainingLog, ATrainingThatGoesOnHasNoEpochTwice) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  {
    TrainingLog log(files, TrainingLog::kNew);
    for (int64_t epoch = 1; epoch <= 3; ++epoch) add(log, epoch);
  }
  // The last checkpoint was the one after epoch 2, and the power went while the fourth was being written.
  std::ofstream(files.log(), std::ios::app) << R"({"epoch": 4, "lo)";
  for (const auto& entry : fs::directory_iterator(files.events()))
    std::ofstream(entry.path(), std::ios::app | std::ios::binary) << std::string("\x28\0\0\0", 4);
  TrainingLog log(files, 2);
  add(log, 3);
  add(log, 4);
  EXPECT_EQ(epochs_logged(files), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(run_python(folder.path(), kReader),
            "version brain.Event:2\nstart 1 {1: 1}\n1 loss/train 1\n1 learning_rate 0.1\n2 loss/train 0.5\n"
            "2 learning_rate 0.1\nversion brain.Event:2\nstart 3 {1: 1}\n3 loss/train 0.333333\n3 learning_rate 0.1\n"
            "4 loss/train 0.25\n4 learning_rate 0.1\n");
}

TEST(TrainingLog, ANewTrainingBeginsWithEmptyLogs) {
  const TempDir folder;
  const TrainingFiles files = logged_files_in(folder.path());
  {
    TrainingLog log(files, TrainingLog::kNew);
    add(log, 1);
  }
  const TrainingLog log(files, TrainingLog::kNew);
  EXPECT_TRUE(epochs_logged(files).empty());
  EXPECT_EQ(run_python(folder.path(), kReader), "");
}

TEST(TrainingLog, WritesNothingWithoutAPlaceForIt) {
  const TrainingFiles files;
  TrainingLog log(files, TrainingLog::kNew);
  add(log, 1);
  EXPECT_FALSE(fs::exists(".jsonl"));
}

}  // namespace
}  // namespace protocom
