#include "io/mat_file.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "io/files.h"
#include "support/message_of.h"
#include "support/most_memory.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing::mat_files {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// "MAT-File Format" (MathWorks), chapter 1.
constexpr uint32_t kBytes = 1, kWhole = 5, kFlags = 6, kDouble = 9, kVariable = 14, kPacked = 15, kUtf8 = 16;
constexpr uint32_t kCellClass = 1, kStructClass = 2, kObjectClass = 3, kCharClass = 4, kSparseClass = 5,
                   kDoubleClass = 6;
constexpr int64_t kMebibyte = int64_t{1} << 20;

std::string number(uint32_t value, bool swapped = false) {
  if (swapped) value = __builtin_bswap32(value);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// Returns an element whose tag announces `announced` bytes.
std::string lying(uint32_t type, const std::string& content, uint32_t announced) {
  std::string bytes = number(type) + number(announced) + content;
  return bytes + std::string(-bytes.size() & 7, '\0');
}
std::string element(uint32_t type, const std::string& content) {
  return lying(type, content, static_cast<uint32_t>(content.size()));
}

/// Returns what precedes the content of a variable.
std::string start(uint32_t kind, const std::vector<uint32_t>& sizes, const std::string& name) {
  std::string dimensions;
  for (const uint32_t size : sizes) dimensions += number(size);
  return element(kFlags, number(kind) + number(0)) + element(kWhole, dimensions) + element(kBytes, name);
}

std::string doubles(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::string matrix(const std::string& name, const std::vector<uint32_t>& sizes, const std::vector<double>& values) {
  return element(kVariable, start(kDoubleClass, sizes, name) + element(kDouble, doubles(values)));
}

std::string packed(const std::string& variable) {
  std::string bytes(compressBound(variable.size()), '\0');
  uLongf size = bytes.size();
  compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(variable.data()),
           variable.size());
  return number(kPacked) + number(static_cast<uint32_t>(size)) + bytes.substr(0, size);
}

std::string header(const std::string& version_and_order = std::string("\0\1IM", 4)) {
  std::string bytes(124, ' ');
  std::fill(bytes.begin() + 116, bytes.end(), '\0');
  return bytes + version_and_order;
}

class Mat : public ::testing::Test {
 protected:
  /// Returns the error from reading the variable x of that file, and records the peak of memory.
  std::string refusal(const std::string& variables) {
    write_file(folder_ / "x.mat", header() + variables);
    std::string message;
    memory_ = most_memory_of([&] { message = message_of([&] { (void)MatFile(folder_ / "x.mat").matrix("x"); }); });
    return message;
  }
  at::Tensor read(const std::string& variables) {
    write_file(folder_ / "x.mat", header() + variables);
    return tensor_of(MatFile(folder_ / "x.mat").matrix("x"));
  }

  TempDir folder_;
  int64_t memory_ = 0;
};

TEST_F(Mat, IsReadPlainAndPacked) {
  const std::string variable = matrix("x", {2, 2}, {1, 2, 3, 4});  // column by column
  for (const std::string& variables : {variable, packed(variable), packed(matrix("y", {1, 1}, {7})) + variable}) {
    const at::Tensor x = read(variables);
    EXPECT_EQ(x[0][1].item<double>(), 3);
    EXPECT_EQ(x[1][0].item<double>(), 2);
  }
}

TEST_F(Mat, ThatAnnouncesMoreValuesThanItHoldsIsRefusedBeforeItTakesMemory) {
  // 16384 x 32768 float64 are 4 GiB; enough other data makes the size of the file plausible.
  const std::string lie = element(kVariable, start(kDoubleClass, {16384, 32768}, "x") + element(kDouble, doubles({1})));
  const std::string beside = matrix("y", {1, 600'000}, std::vector<double>(600'000, 0.5));
  for (const std::string& variables : {lie + beside, packed(lie) + beside}) {
    EXPECT_THAT(refusal(variables), AllOf(HasSubstr("x.mat"), HasSubstr("'x'"), HasSubstr("536870912 values and")));
    EXPECT_LT(memory_, 32 * kMebibyte);
  }
}

TEST_F(Mat, WhoseBytesAreFewerThanAVariableSaysIsRefused) {
  const std::string lie = start(kDoubleClass, {1000, 1000}, "x") + lying(kDouble, doubles({1}), 8'000'000);
  EXPECT_THAT(refusal(lying(kVariable, lie, 9'000'000)), HasSubstr("damaged or truncated"));
  EXPECT_THAT(refusal(packed(lying(kVariable, lie, 7'000'000))), HasSubstr("damaged or truncated in 'x'"));
  EXPECT_THAT(refusal(packed(lying(kVariable, lie, 9'000'000))), HasSubstr("damaged or truncated in 'x'"));
  EXPECT_LT(memory_, 32 * kMebibyte);
  const std::string whole = matrix("x", {1, 2}, {1, 2});
  for (size_t size = 1; size < whole.size(); ++size)
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("damaged or truncated")) << size;
}

TEST_F(Mat, ThatIsPackedMoreThanDataOfPhotosIsRefusedWithWhatToDo) {
  const std::string zeros = matrix("x", {1500, 2000}, std::vector<double>(3'000'000));  // 23 MiB in 23 KiB
  EXPECT_THAT(refusal(packed(zeros)), HasSubstr("save it without compression"));
  EXPECT_LT(memory_, 32 * kMebibyte);
  EXPECT_EQ(read(packed(matrix("x", {1000, 1000}, std::vector<double>(1'000'000)))).sum().item<double>(), 0);
}

// A byte per value becomes eight: the number of values is limited even if few bytes are stored.
TEST_F(Mat, OfSmallValuesIsLimitedByWhatTheyBecome) {
  const std::string bytes(15 << 20, '\1');
  const std::string many = start(kDoubleClass, {15, 1 << 20}, "x") + element(2, bytes);
  EXPECT_THAT(refusal(packed(element(kVariable, many))), HasSubstr("more than 64 times"));
  EXPECT_LT(memory_, 64 * kMebibyte);
}

TEST_F(Mat, OfMoreCellsThanItHoldsIsRefused) {
  const std::string empty = element(kVariable, "");
  const std::string lie = element(kVariable, start(kCellClass, {1 << 14, 1 << 14}, "x") + empty + empty);
  EXPECT_THAT(refusal(lie), HasSubstr("268435456 cells"));
  std::string cells;
  for (int i = 0; i < 1'000'000; ++i) cells += empty;  // 8 bytes each, which compress to almost nothing
  EXPECT_THAT(refusal(packed(element(kVariable, start(kCellClass, {1000, 1000}, "x") + cells))),
              HasSubstr("more than 64 times"));
  EXPECT_LT(memory_, 64 * kMebibyte);
  std::string nested = empty;
  for (int i = 0; i < 40; ++i) nested = element(kVariable, start(kCellClass, {1, 1}, "x") + nested);
  EXPECT_THAT(refusal(nested), HasSubstr("levels of cells"));
}

TEST_F(Mat, HasCellsStructsAndSparseMatricesBesideWhatIsRead) {
  const std::string text = element(kVariable, start(kCharClass, {1, 3}, "") + element(kUtf8, "ant"));
  const std::string cells = element(kVariable, start(kCellClass, {2, 1}, "names") + text + text);
  const std::string fields = number(kWhole | 4U << 16) + number(8) + element(kBytes, std::string("a\0\0\0\0\0\0\0", 8));
  const std::string record = element(kVariable, start(kStructClass, {1, 1}, "s") + fields + matrix("", {1, 1}, {5}));
  const std::string sparse =
      element(kVariable, start(kSparseClass, {2, 2}, "sparse") + element(kWhole, number(0)) +
                             element(kWhole, number(0) + number(1) + number(1)) + element(kDouble, doubles({1})));
  const std::string all = cells + record + sparse + matrix("x", {1, 1}, {9});
  EXPECT_EQ(read(all).item<double>(), 9);
  EXPECT_THAT(MatFile(folder_ / "x.mat").texts("names"), ElementsAre("ant", "ant"));
  EXPECT_EQ(read(packed(cells) + packed(record) + packed(matrix("x", {1, 1}, {9}))).item<double>(), 9);
  const std::string object = element(kVariable, start(kObjectClass, {1, 1}, "o") + element(kBytes, "table"));
  EXPECT_THAT(refusal(object + matrix("x", {1, 1}, {9})), HasSubstr("has an object"));
}

TEST_F(Mat, MayHaveItsNumbersTheOtherWayRound) {
  const auto big = [](uint32_t value) { return number(value, true); };
  const std::string content = big(kFlags) + big(8) + big(kDoubleClass) + big(0) + big(kWhole) + big(8) + big(1) +
                              big(1) + big(1U << 16 | kBytes) + std::string("x\0\0\0", 4) + big(2U << 16 | 3) +
                              std::string("\1\2\0\0", 4);  // two bytes: the int16 258
  write_file(folder_ / "big.mat",
             header(std::string("\1\0MI", 4)) + big(kVariable) + big(static_cast<uint32_t>(content.size())) + content);
  EXPECT_EQ(MatFile(folder_ / "big.mat").matrix("x").data<double>()[0], 258);
}

// MATLAB writes version 7.3 where a variable has more than 2 GiB, and where people ask for it: SciPy does not read it
// (scipy/scipy issue 17509), and who is told so by a bare exception asks what to do (YuxiangZhang-BIT/IEEE_TGRS_LDGnet
// issue 2).
TEST_F(Mat, OfVersion73IsRefusedWithTheLineThatConvertsIt) {
  const std::string hdf5 = std::string("\x89HDF\r\n\x1a\n", 8) + std::string(100, '\0');
  const std::string version = std::string("\0\2IM", 4);
  for (const std::string& bytes : {header(version) + std::string(512 - 128, '\0') + hdf5, header(version), hdf5}) {
    write_file(folder_ / "x.mat", bytes);
    EXPECT_THAT(message_of([&] { MatFile(folder_ / "x.mat"); }),
                AllOf(HasSubstr("version 7.3"), HasSubstr("'-v7'"), HasSubstr("h5py.File('"), HasSubstr("x.npz'")));
  }
  write_file(folder_ / "it's.mat", hdf5);
  EXPECT_THAT(message_of([&] { MatFile(folder_ / "it's.mat"); }),
              AllOf(HasSubstr("h5py.File('FILE.mat')"), Not(HasSubstr("File('/"))));
}

TEST_F(Mat, OfAnotherVersionOrNoneIsRefused) {
  const std::string version_4 = number(0) + number(1) + number(1) + number(0) + number(2) + "x" + std::string(9, '\0');
  for (const std::string& bytes : {version_4, std::string("a,b\n1,2\n"), std::string(), header("\7\7IM")}) {
    write_file(folder_ / "x.mat", bytes);
    EXPECT_THAT(message_of([&] { MatFile(folder_ / "x.mat"); }), HasSubstr("is not a MATLAB file of version 5 to 7"));
  }
}

}  // namespace
}  // namespace protocom::testing::mat_files
