#include "io/mapped_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "io/detail/stored_member.h"
#include "io/files.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "support/python.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

/// Makes matrices of every size stay in their file.
class MappedRows : public ::testing::Test {
 protected:
  void SetUp() override { set_mapped_from(0); }
  void TearDown() override { set_mapped_from(before_); }

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  /// Returns the name of the file that an array's memory is mapped from, according to the system.
  static std::string mapped_file(const Array& array) {
    const auto address = reinterpret_cast<uintptr_t>(array.raw());
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      uintptr_t begin = 0, end = 0;
      char dash = 0;
      std::istringstream(line) >> std::hex >> begin >> dash >> end;
      if (begin <= address && address < end) return line.substr(std::min(line.size(), line.rfind(' ') + 1));
    }
    return "";
  }

  const int64_t before_ = mapped_from();
  TempDir folder_;
  at::Tensor rows_ = at::arange(600).to(at::kFloat).view({100, 6});
};

constexpr const char* kSaved = R"(
import numpy as np
x = np.arange(600, dtype='f4').reshape(100, 6)
np.save('float32.npy', x)
np.save('float16.npy', x.astype('f2'))
np.save('float64.npy', x.astype('f8'))
np.save('fortran.npy', np.asfortranarray(x))
np.save('big-endian.npy', x.astype('>f4'))
np.save('whole.npy', x.astype('i4'))
np.save('vector.npy', x[0])
np.savez('stored.npz', other=np.zeros(3), features=x, x=x + 1)
np.savez('odd.npz', features_=x, **{'feature%s' % ('s' * i): x for i in range(4)})
np.savez_compressed('deflated.npz', features=x)
)";

TEST_F(MappedRows, OfNumPysFilesLieWhereTheyAre) {
  REQUIRE_NUMPY();
  ASSERT_EQ(run_python(folder_.path(), kSaved), "");
  for (const char* name : {"float32.npy", "float16.npy", "float64.npy"}) {
    const auto found = map_npy_rows(file(name));
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(tensor_of(*found).equal(rows_)) << name;
    EXPECT_TRUE(is_mapped(*found));
    EXPECT_TRUE(is_mapped(found->row(99)));
    EXPECT_FALSE(is_mapped(found->copy()));
  }
  EXPECT_EQ(mapped_file(*map_npy_rows(file("float32.npy"))), file("float32.npy").string());
  for (const char* name : {"fortran.npy", "big-endian.npy", "whole.npy", "vector.npy"})
    EXPECT_FALSE(map_npy_rows(file(name))) << name;
  const auto stored = map_npz_rows(file("stored.npz"), "features");
  ASSERT_TRUE(stored);
  EXPECT_TRUE(tensor_of(*stored).equal(rows_));
  EXPECT_TRUE(tensor_of(*map_npz_rows(file("stored.npz"), "x")).equal(rows_ + 1));
  EXPECT_FALSE(map_npz_rows(file("stored.npz"), "y"));
  EXPECT_FALSE(map_npz_rows(file("deflated.npz"), "features"));
}

TEST_F(MappedRows, OfAnArchiveAtAPlaceOfFourBytesAreNotCopied) {
  REQUIRE_NUMPY();
  ASSERT_EQ(run_python(folder_.path(), kSaved), "");
  int in_place = 0;
  for (const std::string name : {"feature", "features", "featuress", "featuresss"}) {
    const auto found = map_npz_rows(file("odd.npz"), name);
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(tensor_of(*found).equal(rows_));
    in_place += mapped_file(*found) == file("odd.npz").string() ? 1 : 0;
  }
  EXPECT_EQ(in_place, 1) << "one of four names in a row makes the place a multiple of four";
}

TEST_F(MappedRows, OfOurOwnFilesAndOfSafetensors) {
  NpzWriter writer(file("own.npz"));
  writer.add("features", array_of(rows_));
  writer.close();
  EXPECT_TRUE(tensor_of(*map_npz_rows(file("own.npz"), "features")).equal(rows_));
  write_safetensors(file("own.safetensors"), arrays_of({{"features", rows_}}), {});
  const auto found = map_array_rows(read_safetensors(file("own.safetensors")).tensors.at("features"));
  ASSERT_TRUE(found);
  EXPECT_TRUE(tensor_of(*found).equal(rows_));
  EXPECT_EQ(mapped_file(*found), file("own.safetensors").string());
}

TEST_F(MappedRows, AreStillThereWhenTheirPagesWereForgotten) {
  at::Tensor large = at::arange(1 << 20).to(at::kFloat).view({-1, 64});
  write_safetensors(file("large.safetensors"), arrays_of({{"features", large}}), {});
  const auto found = map_array_rows(read_safetensors(file("large.safetensors")).tensors.at("features"));
  EXPECT_TRUE(tensor_of(*found).equal(large));
  forget_pages(*found);
  EXPECT_TRUE(tensor_of(*found).equal(large));
  const at::Tensor own = large.clone();
  forget_pages(array_of(own));  // not mapped from a file
  EXPECT_TRUE(own.equal(large));
}

TEST_F(MappedRows, SmallOnesAreNot) {
  write_safetensors(file("small.safetensors"), arrays_of({{"features", rows_}}), {});
  const Array features = read_safetensors(file("small.safetensors")).tensors.at("features");
  set_mapped_from(2401);
  EXPECT_FALSE(map_array_rows(features));
  set_mapped_from(2400);
  EXPECT_TRUE(map_array_rows(features));
}

TEST_F(MappedRows, OfADamagedArchiveAreLeftToWhoSaysSo) {
  NpzWriter writer(file("whole.npz"));
  writer.add("features", array_of(rows_));
  writer.close();
  const std::string whole = read_file(file("whole.npz"));
  ASSERT_TRUE(stored_member(whole, "features.npy"));
  for (size_t size = 0; size < whole.size(); size += 7)
    EXPECT_FALSE(stored_member(whole.substr(0, size), "features.npy"));
  for (size_t at = whole.size() - 120; at < whole.size(); ++at) {  // the directory
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x7f);
    const auto found = stored_member(damaged, "features.npy");
    EXPECT_LE(found ? found->size() : 0, damaged.size());
  }
}

}  // namespace
}  // namespace protocom::testing
