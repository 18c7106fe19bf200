#include "io/safetensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/files.h"
#include "support/message_of.h"
#include "support/most_memory.h"
#include "support/python.h"
#include "support/same_tensor.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::same;
using ::testing::UnorderedElementsAre;

class SafetensorsTest : public ::testing::Test {
 protected:
  /// Writes a file according to the format: the length of the header in 8 bytes, the header, the data.
  fs::path put(const std::string& header, const std::string& data) const {
    std::string bytes(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(bytes.data(), &length, sizeof(length));
    write_file(folder_ / "x.safetensors", bytes + header + data);
    return folder_ / "x.safetensors";
  }
  std::string error_of(const std::string& header, const std::string& data) const {
    const fs::path path = put(header, data);
    return testing::message_of([&] { read_safetensors(path); });
  }

  testing::TempDir folder_;
};

TEST_F(SafetensorsTest, ReadsBackEveryDtypeAndShapeAsItWasWritten) {
  std::vector<std::pair<std::string, at::Tensor>> written;
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                           at::kChar, at::kByte, at::kBool}) {
    for (const auto& shape : std::vector<std::vector<int64_t>>{{}, {0}, {3}, {2, 5}, {4, 0}}) {
      written.emplace_back(c10::toString(dtype) + std::to_string(written.size()),
                           at::randint(0, 100, shape, at::kLong).to(dtype));
    }
  }
  written.emplace_back("transposed", at::arange(6, at::kFloat).view({2, 3}).t());
  write_safetensors(folder_ / "all", arrays_of(written), {{"key", "na\xc3\xafve \"text\"\n"}, {"empty", ""}});
  const Safetensors read = read_safetensors(folder_ / "all");
  EXPECT_EQ(read.tensors.size(), written.size());
  for (const auto& [name, tensor] : written) EXPECT_TRUE(same(tensor_of(read.tensors.at(name)), tensor)) << name;
  EXPECT_THAT(read.metadata, UnorderedElementsAre(Pair("key", "na\xc3\xafve \"text\"\n"), Pair("empty", "")));
  EXPECT_EQ(read_safetensors_metadata(folder_ / "all"), read.metadata);
}

TEST_F(SafetensorsTest, ReadsAFileWithoutTensorsOrMetadata) {
  write_safetensors(folder_ / "none", {}, {});
  EXPECT_TRUE(read_safetensors(folder_ / "none").tensors.empty());
  EXPECT_TRUE(read_safetensors_metadata(folder_ / "none").empty());
}

TEST_F(SafetensorsTest, KeepsTheFileMappedAsLongAsATensorLives) {
  write_safetensors(folder_ / "x", arrays_of({{"a", at::arange(1000)}, {"b", at::ones(3)}}), {});
  at::Tensor view;
  {
    const Safetensors read = read_safetensors(folder_ / "x");
    view = tensor_of(read.tensors.at("a")).slice(0, 990);
  }
  fs::remove(folder_ / "x");
  EXPECT_TRUE(same(view, at::arange(990, 1000)));
}

TEST_F(SafetensorsTest, ReadsAFileMadeByPython) {
  const std::string printed = testing::run_python(folder_.path(), R"(
import json, struct
header = json.dumps({'__metadata__': {'format': 'pt'},
                     'w': {'dtype': 'F32', 'shape': [2, 2], 'data_offsets': [0, 16]},
                     'n': {'dtype': 'I64', 'shape': [], 'data_offsets': [16, 24]},
                     'half': {'dtype': 'F16', 'shape': [1, 2], 'data_offsets': [24, 28]}}).encode()
data = struct.pack('<4fq2e', 1.5, -2, 3, 4.25, -5, 0.5, 6)
open('py.safetensors', 'wb').write(struct.pack('<Q', len(header)) + header + data)
)");
  ASSERT_EQ(printed, "");
  const Safetensors read = read_safetensors(folder_ / "py.safetensors");
  EXPECT_TRUE(same(tensor_of(read.tensors.at("w")), at::tensor({1.5F, -2.F, 3.F, 4.25F}).view({2, 2})));
  EXPECT_TRUE(same(tensor_of(read.tensors.at("n")), at::scalar_tensor(-5, at::kLong)));
  EXPECT_TRUE(same(tensor_of(read.tensors.at("half")), at::tensor({0.5F, 6.F}).to(at::kHalf).view({1, 2})));
  EXPECT_THAT(read.metadata, UnorderedElementsAre(Pair("format", "pt")));
}

TEST_F(SafetensorsTest, WritesWhatPythonReadsByTheFormat) {
  write_safetensors(folder_ / "x", arrays_of({{"a", at::tensor({1.5F, 2.F})}, {"b", at::tensor({int64_t{-3}})}}),
                    {{"k", "v"}});
  EXPECT_EQ(testing::run_python(folder_.path(), R"(
import json, struct
raw = open('x', 'rb').read()
n, = struct.unpack('<Q', raw[:8])
header = json.loads(raw[8:8 + n]); data = raw[8 + n:]
cut = lambda name: data[slice(*header[name]['data_offsets'])]
print(header['__metadata__'], header['a']['dtype'], header['a']['shape'], struct.unpack('<2f', cut('a')), struct.unpack('<q', cut('b')), n % 8)
)"),
            "{'k': 'v'} F32 [2] (1.5, 2.0) (-3,) 0\n");
}

TEST_F(SafetensorsTest, ReadsTensorsThatAnotherProgramDidNotAlign) {
  std::string data(1 + 2 * sizeof(double), '\7');
  const double values[] = {0.1, -2.5};
  std::memcpy(data.data() + 1, values, sizeof(values));
  const Safetensors read = read_safetensors(put(
      R"({"one": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "d": {"dtype": "F64", "shape": [2], "data_offsets": [1, 17]}})",
      data));
  EXPECT_TRUE(same(tensor_of(read.tensors.at("d")), at::tensor({0.1, -2.5}, at::kDouble)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.tensors.at("d").raw()) % sizeof(double), 0u);
}

TEST_F(SafetensorsTest, RefusesAFileThatIsNoneOrCutOff) {
  write_file(folder_ / "x", "short");
  EXPECT_THAT(testing::message_of([&] { read_safetensors(folder_ / "x"); }),
              AllOf(HasSubstr("/x is not a safetensors file"), HasSubstr("5 bytes")));
  write_file(folder_ / "x", "a text that is somewhat longer");
  EXPECT_THAT(testing::message_of([&] { read_safetensors(folder_ / "x"); }), HasSubstr("/x is not a safetensors file"));
  EXPECT_THAT(testing::message_of([&] { read_safetensors(folder_ / "missing"); }), HasSubstr("missing"));

  write_safetensors(folder_ / "whole", arrays_of({{"a", at::arange(50)}}), {{"k", "v"}});
  const std::string whole = read_file(folder_ / "whole");
  for (size_t length = 0; length < whole.size(); length += 13) {
    write_file(folder_ / "cut", whole.substr(0, length));
    EXPECT_THAT(testing::message_of([&] { read_safetensors(folder_ / "cut"); }), HasSubstr("cut")) << length;
  }
}

TEST_F(SafetensorsTest, NamesTheTensorWhoseDataDoNotFit) {
  const auto entry = [](const std::string& shape, const std::string& offsets) {
    return R"({"w": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}";
  };
  const auto names_it = AllOf(HasSubstr("x.safetensors: tensor 'w'"), HasSubstr("damaged or cut off"));
  const std::string data(16, 'x');
  EXPECT_THAT(error_of(entry("[4]", "[0, 20]"), data), names_it);   // beyond the end
  EXPECT_THAT(error_of(entry("[4]", "[0, 12]"), data), names_it);   // too few bytes
  EXPECT_THAT(error_of(entry("[4]", "[16, 0]"), data), names_it);   // backwards
  EXPECT_THAT(error_of(entry("[4]", "[-16, 0]"), data), names_it);  // before the beginning
  EXPECT_THAT(error_of(entry("[-2, -2]", "[0, 16]"), data), names_it);
  EXPECT_THAT(error_of(entry("[4611686018427387908]", "[0, 16]"), data), names_it);  // 2^64 + 16 bytes
}

TEST_F(SafetensorsTest, RefusesADamagedHeader) {
  EXPECT_THAT(error_of("{\"w\": ", ""), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("[1]", ""), HasSubstr("header is not a JSON object"));
  EXPECT_THAT(error_of(R"({"w": 1})", ""), HasSubstr("damaged safetensors header"));
  EXPECT_THAT(error_of(R"({"w": {"dtype": "F32", "shape": [0]}})", ""), HasSubstr("data_offsets"));
  EXPECT_THAT(error_of(R"({"w": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}})", "x"),
              AllOf(HasSubstr("tensor 'w'"), HasSubstr("F8_E4M3")));
  const fs::path path = put(R"({"__metadata__": {"k": 1}})", "");
  EXPECT_THAT(testing::message_of([&] { read_safetensors(path); }), HasSubstr("damaged safetensors header"));
  EXPECT_THAT(testing::message_of([&] { read_safetensors_metadata(path); }), HasSubstr("damaged safetensors header"));
}

TEST_F(SafetensorsTest, LeavesTheOldFileAndNothingElseWhenItCannotWrite) {
  write_file(folder_ / "x", "old");
  EXPECT_THAT(testing::message_of([&] {
                write_safetensors(folder_ / "x", {}, {{"name", "caf\xe9"}});
              }),
              HasSubstr("UTF-8"));
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(SafetensorsTest, BytesThatNoTensorHasAreRefused) {
  const std::string two = R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, )";
  EXPECT_THAT(error_of(two + R"("b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}})", "abcd"),
              HasSubstr("x.safetensors: 1 bytes follow the last tensor"));
  EXPECT_THAT(error_of(two + R"("b": {"dtype": "U8", "shape": [1], "data_offsets": [3, 4]}})", "abcd"),
              HasSubstr("overlap or leave gaps"));
  EXPECT_THAT(error_of(two + R"("b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}})", "abc"),
              HasSubstr("overlap or leave gaps"));
  EXPECT_NO_THROW(read_safetensors(put(R"({"e": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}})", "")));
}

TEST_F(SafetensorsTest, TensorsThatLieInOnePlaceAreRefusedBeforeAnyIsCopied) {
  std::string header = R"({"first": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]})";
  for (int i = 0; i < 400; ++i)
    header += R"(, "t)" + std::to_string(i) + R"(": {"dtype": "F64", "shape": [32768], "data_offsets": [1, 262145]})";
  header += "}";
  header.append(8 - header.size() % 8, ' ');  // so that one byte more leaves every tensor unaligned
  const std::string data(262145, '\1');
  const int64_t taken =
      testing::most_memory_of([&] { EXPECT_THAT(error_of(header, data), HasSubstr("overlap or leave gaps")); });
  EXPECT_LT(taken, 32 << 20);
}

TEST_F(SafetensorsTest, AHeaderOfTooManyValuesIsRefusedBeforeItIsRead) {
  std::string header = R"({"w": {"dtype": "U8", "shape": [1)";
  for (int i = 0; i < 1 << 20; ++i) header += ",1";
  EXPECT_THAT(error_of(header + R"(], "data_offsets": [0, 1]}})", "x"),
              AllOf(HasSubstr("x.safetensors: the safetensors header has 10485"), HasSubstr("at most 1048576")));
}

TEST_F(SafetensorsTest, ALongTextAmongTheMetadataIsRead) {
  std::string list = "[";
  for (int i = 0; i < 1 << 20; ++i) list += "\"a\",";  // the names of very many images
  write_safetensors(folder_ / "x", {}, {{"image_ids", list}});
  EXPECT_EQ(read_safetensors_metadata(folder_ / "x").at("image_ids"), list);
}

}  // namespace
}  // namespace protocom
