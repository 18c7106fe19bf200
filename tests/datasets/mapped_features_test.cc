// Features that stay in their file.
#include <ATen/ATen.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "base/threads.h"
#include "datasets/feature_set.h"
#include "io/files.h"
#include "io/mapped_rows.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

class MappedFeatures : public ::testing::Test {
 protected:
  void TearDown() override { set_mapped_from(before_); }

  /// Writes the same features in each format.
  void write(const at::Tensor& features) const {
    const at::Tensor labels = at::arange(features.size(0)).remainder(3);
    NpzWriter writer(folder_ / "f.npz");
    writer.add("features", array_of(features));
    writer.add("labels", array_of(labels));
    writer.add("names", std::vector<std::string>{"a", "b", "c"});
    writer.add("split", std::vector<std::string>{"base", "novel", "novel"});
    writer.close();
    write_safetensors(folder_ / "f.safetensors", arrays_of({{"labels", labels}, {"features", features}}),
                      {{"names", R"(["a", "b", "c"])"}, {"split", R"(["base", "novel", "novel"])"}});
  }

  FeatureSet read(const std::string& name, int64_t from) const {
    set_mapped_from(from);
    return read_features(folder_ / name);
  }

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const int64_t before_ = mapped_from();
  TempDir folder_;
};

TEST_F(MappedFeatures, AreThoseThatAreRead) {
  write(at::rand({60, 5}));
  const FeatureSet expected = read("f.npz", kNever);
  EXPECT_FALSE(is_mapped(expected.features));
  for (const char* name : {"f.npz", "f.safetensors"}) {
    for (const int64_t from : {int64_t{0}, kNever}) {
      const FeatureSet found = read(name, from);
      EXPECT_EQ(is_mapped(found.features), from == 0) << name;
      EXPECT_TRUE(tensor_of(found.features).equal(tensor_of(expected.features))) << name;
      EXPECT_EQ(found.labels, expected.labels) << name;
      EXPECT_EQ(found.class_names, expected.class_names);
      EXPECT_EQ(found.class_split, expected.class_split);
      EXPECT_EQ(found.image_ids, expected.image_ids);
    }
  }
}

TEST_F(MappedFeatures, ARowThatCannotBeComputedWithIsNotLookedAtBeforeItIsUsed) {
  at::Tensor features = at::rand({60, 5});
  features[7][2] = std::numeric_limits<float>::quiet_NaN();
  write(features);
  EXPECT_THAT(message_of([&] { read("f.npz", kNever); }), HasSubstr("NaN or infinity in 1 rows, first in row 7"));
  EXPECT_EQ(read("f.npz", 0).size(), 60);
  write_file(folder_ / "split.csv", "class,split\nb,base\n");
  FeatureFileOptions options;
  options.split = folder_ / "split.csv";
  set_mapped_from(0);
  EXPECT_THAT(message_of([&] { read_features(folder_ / "f.npz", options); }), HasSubstr("NaN or infinity"))
      << "rows that are taken out of the file are checked";
}

int64_t data_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmData:", 0) == 0) return std::stoll(line.substr(7));
  }
  return 0;
}

/// Writes a `.npy` of float32 [n, d] that occupies no disk space except for its last row.
void write_sparse(const std::filesystem::path& path, int64_t n, int64_t d) {
  std::string header("\x93NUMPY\x01\x00", 8);
  std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(n) + ", " + std::to_string(d) + "), }";
  dict.append(118 - dict.size() - 1, ' ');
  dict += '\n';
  header += static_cast<char>(dict.size());
  header += '\0';
  header += dict;
  write_file(path, header);
  const int file = ::open(path.c_str(), O_WRONLY);
  const std::vector<float> row(static_cast<size_t>(d), 2.5F);
  const auto bytes = static_cast<off_t>(d * static_cast<int64_t>(sizeof(float)));
  ASSERT_EQ(::pwrite(file, row.data(), static_cast<size_t>(bytes), 128 + (n - 1) * bytes), bytes);
  ::close(file);
}

TEST_F(MappedFeatures, OfMoreBytesThanAProcessMayHaveAreRead) {
  constexpr int64_t kRows = 100'000, kDim = 1024;  // 410 MB
  write_sparse(folder_ / "features.npy", kRows, kDim);
  NpzWriter writer(folder_ / "labels.npz");
  const at::Tensor labels = at::arange(kRows).remainder(7);
  writer.add("labels", array_of(labels));
  writer.close();
  write_file(folder_ / "labels.npy", NpzReader(folder_ / "labels.npz").bytes("labels"));
  const auto reads = [&] {
    FeatureFileOptions options;
    options.without_split = Split::kNovel;
    const FeatureSet set = read_features(folder_ / "features.npy", options);
    return set.features.row(kRows - 1).data<float>()[3] == 2.5F && set.features.row(5).data<float>()[0] == 0;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    set_threads(1);
    set_mapped_from(int64_t{256} << 20);
    const auto most = static_cast<rlim_t>(data_kilobytes() * 1024 + (int64_t{128} << 20));
    const rlimit limit{most, most};
    ::_exit(::setrlimit(RLIMIT_DATA, &limit) == 0 && reads() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace protocom::testing
