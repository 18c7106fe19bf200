#include "io/npz.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "io/files.h"
#include "support/message_of.h"
#include "support/python.h"
#include "support/same_tensor.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::same;

class NpzTest : public ::testing::Test {
 protected:
  /// Writes a `.npy` according to the format (version 1.0), by hand.
  fs::path put_npy(const std::string& dict, const std::string& data) const {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dict.size());
    bytes += '\0';
    write_file(folder_ / "x.npy", bytes + dict + data);
    return folder_ / "x.npy";
  }
  std::string npy_error(const std::string& dict, const std::string& data) const {
    const fs::path path = put_npy(dict, data);
    return testing::message_of([&] { read_npy(path); });
  }
  std::string array_error(const fs::path& path, const std::string& member) const {
    return testing::message_of([&] { (void)NpzReader(path).array(member); });
  }
  std::string python(const std::string& program) const {
    return testing::run_python(folder_.path(), "import numpy as np\n" + program);
  }

  testing::TempDir folder_;
};

const std::vector<std::string>& odd_strings() {
  static const std::vector<std::string> kStrings = {
      "plain", "", "na\xc3\xafve", "\xe2\x82\xac", "\xf0\x9f\xa6\x93 zebra", "a/b c.jpg"};
  return kStrings;
}

TEST_F(NpzTest, ReadsBackEveryDtypeAndShapeAsItWasWritten) {
  const std::vector<at::ScalarType> dtypes = {at::kHalf,  at::kFloat, at::kDouble, at::kLong, at::kInt,
                                              at::kShort, at::kChar,  at::kByte,   at::kBool};
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {5}, {2, 3}, {0, 4}, {2, 1, 3}};
  NpzWriter writer(folder_ / "all.npz");
  std::map<std::string, at::Tensor> written;
  for (const auto dtype : dtypes) {
    for (const auto& shape : shapes) {
      const std::string name = std::string(c10::toString(dtype)) + std::to_string(written.size());
      written[name] = at::randint(0, 100, shape, at::kLong).to(dtype);
      writer.add(name, array_of(written[name]));
    }
  }
  writer.close();
  const NpzReader reader(folder_ / "all.npz");
  EXPECT_EQ(reader.names().size(), dtypes.size() * shapes.size());
  for (const auto& [name, tensor] : written) EXPECT_TRUE(same(tensor_of(reader.array(name)), tensor)) << name;
}

TEST_F(NpzTest, WritesTensorsThatAreNotContiguousInTheirLogicalOrder) {
  const at::Tensor base = at::arange(12, at::kFloat).view({3, 4});
  NpzWriter writer(folder_ / "views.npz");
  writer.add("transposed", array_of(base.t()));
  writer.add("column", array_of(base.select(1, 2)));
  writer.close();
  const NpzReader reader(folder_ / "views.npz");
  EXPECT_TRUE(same(tensor_of(reader.array("transposed")), base.t().contiguous()));
  EXPECT_TRUE(same(tensor_of(reader.array("column")), at::tensor({2.F, 6.F, 10.F})));
}

TEST_F(NpzTest, ReadsBackTextAndBytes) {
  NpzWriter writer(folder_ / "text.npz");
  writer.add("odd", odd_strings());
  writer.add("none", std::vector<std::string>{});
  writer.add_bytes("header.json", std::string("{\0}", 3));
  writer.close();
  const NpzReader reader(folder_ / "text.npz");
  EXPECT_EQ(reader.strings("odd"), odd_strings());
  EXPECT_THAT(reader.strings("none"), IsEmpty());
  EXPECT_EQ(reader.bytes("header.json"), std::string("{\0}", 3));
  EXPECT_THAT(reader.names(), ElementsAre("odd", "none", "header.json"));
  EXPECT_TRUE(reader.has("odd"));
  EXPECT_FALSE(reader.has("even"));
  EXPECT_EQ(reader.path(), folder_ / "text.npz");
}

TEST_F(NpzTest, ReadsBackFileNamesThatAreNotUtf8) {
  // Latin-1, a truncated character, an overlong form, a lone surrogate, beyond Unicode, a NUL inside.
  const std::vector<std::string> names = {"caf\xe9.jpg",  "\xe2\x82",         "\xc0\xaf",
                                          "\xed\xb2\x80", "\xf5\x80\x80\x80", std::string("a\0b", 3)};
  NpzWriter writer(folder_ / "names.npz");
  writer.add("names", names);
  writer.close();
  EXPECT_EQ(NpzReader(folder_ / "names.npz").strings("names"), names);
}

TEST_F(NpzTest, WritesTheSameBytesForTheSameContent) {
  for (const char* name : {"a.npz", "b.npz"}) {
    NpzWriter writer(folder_ / name);
    writer.add("x", array_of(at::arange(10)));
    writer.close();
  }
  EXPECT_EQ(read_file(folder_ / "a.npz"), read_file(folder_ / "b.npz"));
}

TEST_F(NpzTest, IsReadByNumPyWithTheSameValues) {
  REQUIRE_NUMPY();
  NpzWriter writer(folder_ / "ours.npz");
  writer.add("f2", array_of(at::tensor({0.5F, -2.F}).to(at::kHalf)));
  writer.add("f4", array_of(at::tensor({1.5F, -2.25F, 3.F, 4.F, 5.F, 6.F}).view({2, 3})));
  writer.add("f8", array_of(at::scalar_tensor(0.1, at::kDouble)));
  writer.add("i8", array_of(at::tensor({int64_t{1} << 40, int64_t{-7}})));
  writer.add("i4", array_of(at::tensor({-3}, at::kInt)));
  writer.add("i2", array_of(at::tensor({-300}, at::kShort)));
  writer.add("i1", array_of(at::tensor({-3}, at::kChar)));
  writer.add("u1", array_of(at::tensor({200}, at::kByte)));
  writer.add("b1", array_of(at::tensor({1, 0}, at::kInt).to(at::kBool)));
  writer.add("empty", array_of(at::empty({0, 4})));
  writer.add("text", odd_strings());
  writer.add("latin", {"caf\xe9.jpg"});
  writer.add_bytes("header.json", "{}");
  writer.close();
  EXPECT_EQ(python(R"(
z = np.load('ours.npz')
expected = dict(
    f2=np.array([0.5, -2], 'f2'), f4=np.array([[1.5, -2.25, 3], [4, 5, 6]], 'f4'), f8=np.array(0.1),
    i8=np.array([2**40, -7]), i4=np.array([-3], 'i4'), i2=np.array([-300], 'i2'), i1=np.array([-3], 'i1'),
    u1=np.array([200], 'u1'), b1=np.array([True, False]), empty=np.zeros((0, 4), 'f4'),
    text=np.array(['plain', '', 'na\u00efve', '\u20ac', '\U0001f993 zebra', 'a/b c.jpg']))
for name, array in expected.items():
    same = z[name].dtype == array.dtype and z[name].shape == array.shape and (z[name] == array).all()
    if not same: print(name, 'differs:', repr(z[name]))
import os
print(z['header.json'], os.fsencode(str(z['latin'][0])), sorted(z.files) == sorted([*expected, 'latin', 'header.json']))
)"),
            "b'{}' b'caf\\xe9.jpg' True\n");
}

TEST_F(NpzTest, ReadsUnsignedNumbersAsInt64) {
  REQUIRE_NUMPY();
  ASSERT_EQ(python("np.savez('unsigned.npz', u2=np.array([65535, 1], 'u2'), u4=np.array([[2**32 - 1]], 'u4'), "
                   "u8=np.array([2**63 - 1], 'u8'), large=np.array([2**63], 'u8'))"),
            "");
  const NpzReader reader(folder_ / "unsigned.npz");
  EXPECT_TRUE(same(tensor_of(reader.array("u2")), at::tensor({65535, 1}, at::kLong)));
  EXPECT_TRUE(same(tensor_of(reader.array("u4")), at::tensor({4294967295}, at::kLong).view({1, 1})));
  EXPECT_TRUE(same(tensor_of(reader.array("u8")), at::tensor({std::numeric_limits<int64_t>::max()}, at::kLong)));
  EXPECT_THROW((void)reader.array("large"), Error);
}

TEST_F(NpzTest, ReadsWhatNumPyWrites) {
  REQUIRE_NUMPY();
  ASSERT_EQ(python(R"(
arrays = dict(f2=np.array([0.5, -2], 'f2'), f4=np.arange(6, dtype='f4').reshape(2, 3), f8=np.float64(0.1), i8=np.array([2**40, -7]),
              i4=np.array([-3], 'i4'), i2=np.array([-300], 'i2'), i1=np.array([-3], 'i1'), u1=np.array([200], 'u1'),
              b1=np.array([True, False]), empty=np.zeros((0, 4), 'f4'), one=np.asfortranarray(np.array([1., 2.])),
              text=np.array(['na\u00efve', '', '\U0001f993']), latin=np.array([b'ab', b'', b'\xe9']), no_text=np.array([], dtype=str))
np.savez('stored.npz', **arrays)
np.savez_compressed('deflated.npz', **arrays)
np.save('alone.npy', np.arange(3))
)"),
            "");
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const NpzReader reader(folder_ / name);
    EXPECT_TRUE(same(tensor_of(reader.array("f2")), at::tensor({0.5F, -2.F}).to(at::kHalf)));
    EXPECT_TRUE(same(tensor_of(reader.array("f4")), at::arange(6, at::kFloat).view({2, 3})));
    EXPECT_TRUE(same(tensor_of(reader.array("f8")), at::scalar_tensor(0.1, at::kDouble)));
    EXPECT_TRUE(same(tensor_of(reader.array("i8")), at::tensor({int64_t{1} << 40, int64_t{-7}})));
    EXPECT_TRUE(same(tensor_of(reader.array("i4")), at::tensor({-3}, at::kInt)));
    EXPECT_TRUE(same(tensor_of(reader.array("i2")), at::tensor({-300}, at::kShort)));
    EXPECT_TRUE(same(tensor_of(reader.array("i1")), at::tensor({-3}, at::kChar)));
    EXPECT_TRUE(same(tensor_of(reader.array("u1")), at::tensor({200}, at::kByte)));
    EXPECT_TRUE(same(tensor_of(reader.array("b1")), at::tensor({1, 0}, at::kInt).to(at::kBool)));
    EXPECT_TRUE(same(tensor_of(reader.array("empty")), at::empty({0, 4})));
    EXPECT_TRUE(same(tensor_of(reader.array("one")), at::tensor({1., 2.}, at::kDouble)));
    EXPECT_THAT(reader.strings("text"), ElementsAre("na\xc3\xafve", "", "\xf0\x9f\xa6\x93"));
    EXPECT_THAT(reader.strings("latin"), ElementsAre("ab", "", "\xe9"));
    EXPECT_THAT(reader.strings("no_text"), IsEmpty());
  }
  EXPECT_TRUE(same(tensor_of(read_npy(folder_ / "alone.npy")), at::arange(3)));
}

TEST_F(NpzTest, RefusesByNameWhatNumPyWritesAndWeDoNotRead) {
  REQUIRE_NUMPY();
  ASSERT_EQ(python(R"(
np.savez('odd.npz', objects=np.array([{}, None], dtype=object),
         complex=np.ones(2, complex), record=np.zeros(2, [('a', 'f4'), ('b', 'i4')]), text=np.array([['a'], ['b']]), number=np.ones(2))
)"),
            "");
  const fs::path path = folder_ / "odd.npz";
  const auto names = [](const std::string& member, const std::string& why) {
    return AllOf(HasSubstr("odd.npz: member '" + member + "'"), HasSubstr(why));
  };
  EXPECT_THAT(array_error(path, "objects"), names("objects", "object array (dtype '|O')"));
  EXPECT_THAT(array_error(path, "complex"), names("complex", "<c16"));
  EXPECT_THAT(array_error(path, "record"), names("record", "structured"));
  EXPECT_THAT(array_error(path, "text"), names("text", "<U1"));
  const NpzReader reader(path);
  EXPECT_THAT(testing::message_of([&] { (void)reader.strings("text"); }), names("text", "one dimension"));
  EXPECT_THAT(testing::message_of([&] { (void)reader.strings("number"); }), names("number", "is not text"));
}

TEST_F(NpzTest, ReadsFortranOrderAndBigEndianNumbersInOurOrder) {
  REQUIRE_NUMPY();
  ASSERT_EQ(python(R"(
x = np.arange(24).reshape(2, 3, 4)
np.savez('order.npz', fortran=np.asfortranarray(x), big=x.astype('>i4'), both=np.asfortranarray(x.astype('>f8')))
)"),
            "");
  const NpzReader reader(folder_ / "order.npz");
  for (const char* name : {"fortran", "big", "both"}) {
    EXPECT_TRUE(at::equal(tensor_of(reader.array(name)).to(at::kLong), at::arange(24).view({2, 3, 4}))) << name;
  }
}

TEST_F(NpzTest, ListsTheMembersWhenOneIsMissing) {
  NpzWriter writer(folder_ / "f.npz");
  writer.add("features", array_of(at::ones(2)));
  writer.add("labels", array_of(at::ones(2)));
  writer.close();
  EXPECT_THAT(array_error(folder_ / "f.npz", "label"),
              AllOf(HasSubstr("f.npz has no member 'label'"), HasSubstr("features, labels")));
}

TEST_F(NpzTest, RefusesAFileThatIsMissingOrNoZip) {
  EXPECT_THAT(testing::message_of([&] { NpzReader{folder_ / "none.npz"}; }),
              AllOf(HasSubstr("none.npz"), HasSubstr("No such file")));
  write_file(folder_ / "text.npz", "this is not a zip archive");
  EXPECT_THAT(testing::message_of([&] { NpzReader{folder_ / "text.npz"}; }), HasSubstr("text.npz is not an npz file"));
}

TEST_F(NpzTest, RefusesAnArchiveThatIsCutOffAnywhere) {
  NpzWriter writer(folder_ / "whole.npz");
  writer.add("x", array_of(at::arange(100)));
  writer.close();
  const std::string whole = read_file(folder_ / "whole.npz");
  for (size_t length = 1; length < whole.size(); length += 37) {
    write_file(folder_ / "cut.npz", whole.substr(0, length));
    EXPECT_THAT(array_error(folder_ / "cut.npz", "x"), HasSubstr("cut.npz")) << length;
  }
}

TEST_F(NpzTest, NamesTheMemberWhoseBytesAreDamaged) {
  NpzWriter writer(folder_ / "f.npz");
  writer.add("good", array_of(at::ones(3)));
  writer.add("bad", array_of(at::full({8}, 7, at::kByte)));
  writer.close();
  std::string bytes = read_file(folder_ / "f.npz");
  const size_t place = bytes.find("\7\7\7\7\7\7\7\7");
  ASSERT_NE(place, std::string::npos);
  bytes[place + 3] = 9;
  write_file(folder_ / "f.npz", bytes);
  EXPECT_TRUE(same(tensor_of(NpzReader(folder_ / "f.npz").array("good")), at::ones(3)));
  EXPECT_THAT(array_error(folder_ / "f.npz", "bad"), AllOf(HasSubstr("f.npz: member 'bad'"), HasSubstr("damaged")));
}

TEST_F(NpzTest, RefusesAMemberThatIsNoArray) {
  NpzWriter writer(folder_ / "f.npz");
  writer.add_bytes("x.npy", "");
  writer.add_bytes("y.npy", "some text that is long enough");
  writer.close();
  EXPECT_THAT(array_error(folder_ / "f.npz", "x"), HasSubstr("f.npz: member 'x': not a NumPy array"));
  EXPECT_THAT(array_error(folder_ / "f.npz", "y"), HasSubstr("f.npz: member 'y': not a NumPy array"));
}

TEST_F(NpzTest, ReadsAnArrayMadeByHand) {
  const fs::path path = put_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n", {1, 2, 3, 4});
  EXPECT_TRUE(same(tensor_of(read_npy(path)), at::tensor({1, 2, 3, 4}, at::kByte).view({2, 2})));
}

TEST_F(NpzTest, RefusesAnArrayWhoseHeaderAnnouncesWhatIsNotThere) {
  const auto header = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  EXPECT_THAT(npy_error(header("(2,)"), "1234567"), AllOf(HasSubstr("x.npy"), HasSubstr("7 bytes"), HasSubstr("[2]")));
  EXPECT_THAT(npy_error(header("(2,)"), "123456789"), HasSubstr("9 bytes"));
  EXPECT_THAT(npy_error(header("(1000000000000,)"), "1234"), HasSubstr("damaged"));      // before it allocates 4 TB
  EXPECT_THAT(npy_error(header("(4294967296, 4294967296)"), ""), HasSubstr("damaged"));  // 2^66 bytes, 0 in 64 bits
  EXPECT_THAT(npy_error(header("(99999999999999999999,)"), "1234"), HasSubstr("(99999999999999999999,)"));
  EXPECT_THAT(npy_error(header("(-1,)"), "1234"), HasSubstr("(-1,)"));
  EXPECT_THAT(npy_error(header("1"), "1234"), HasSubstr("no shape"));
  EXPECT_THAT(npy_error("{'descr': '<f4', 'shape': (1,), }\n", "1234"), HasSubstr("no 'fortran_order'"));
  EXPECT_THAT(npy_error("{'fortran_order': False, 'shape': (1,), }\n", "1234"), HasSubstr("no 'descr'"));
}

TEST_F(NpzTest, RefusesTextOfAnUnknownLength) {
  NpzWriter writer(folder_ / "f.npz");
  std::string bytes("\x93NUMPY\x01\x00", 8);
  const std::string dict = "{'descr': '<U', 'fortran_order': False, 'shape': (1,), }\n";
  bytes += static_cast<char>(dict.size());
  writer.add_bytes("x.npy", bytes + '\0' + dict);
  writer.close();
  const NpzReader reader(folder_ / "f.npz");
  EXPECT_THAT(testing::message_of([&] { (void)reader.strings("x"); }),
              AllOf(HasSubstr("member 'x'"), HasSubstr("'<U'")));
}

TEST_F(NpzTest, LeavesNothingBehindWhenItCannotWrite) {
  fs::create_directory(folder_ / "taken.npz");
  NpzWriter on_a_folder(folder_ / "taken.npz");
  on_a_folder.add("x", array_of(at::ones(2)));
  EXPECT_THAT(testing::message_of([&] { on_a_folder.close(); }), HasSubstr("taken.npz"));

  write_file(folder_ / "twice.npz", "old");
  NpzWriter twice(folder_ / "twice.npz");
  twice.add("x", array_of(at::ones(2)));
  twice.add("x", array_of(at::ones(2)));
  EXPECT_THAT(testing::message_of([&] { twice.close(); }), HasSubstr("cannot write"));
  EXPECT_EQ(read_file(folder_ / "twice.npz"), "old");

  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2);
  NpzWriter nowhere("/proc/protocom/x.npz");  // where nobody can write, not even root
  EXPECT_THAT(testing::message_of([&] { nowhere.close(); }), HasSubstr("/proc/protocom"));
}

TEST_F(NpzTest, WritesNoFileBeforeItIsClosed) {
  {
    NpzWriter writer(folder_ / "f.npz");
    writer.add("x", array_of(at::ones(2)));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(NpzTest, RefusesToWriteADtypeThatNumPyDoesNotHave) {
  NpzWriter writer(folder_ / "f.npz");
  EXPECT_THAT(testing::message_of([&] { writer.add("x", array_of(at::ones(2).to(at::kBFloat16))); }),
              HasSubstr("BFloat16"));
}

/// Writes little-endian numbers of `bytes` bytes in a zip's directory.
void put_number(std::string& zip, size_t at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) zip[at + i] = static_cast<char>(value >> 8 * i & 0xff);
}

// APPNOTE 4.3.12 and 4.5.3: in the central directory the sizes are at 20 and 24, and are stored as 64 bits in an extra
// field 0x0001 if they are 0xffffffff.
TEST_F(NpzTest, RefusesSizesThatAreLargerThanTheFileEvenWhenBothLie) {
  NpzWriter writer(folder_ / "x.npz");
  writer.add("a", array_of(at::arange(1000)));
  writer.close();
  std::string zip = read_file(folder_ / "x.npz");
  const size_t entry = zip.find("PK\x01\x02");
  for (const uint64_t lie : {uint64_t{60'000'000}, uint64_t{4'000'000'000}}) {
    std::string damaged = zip;
    put_number(damaged, entry + 20, lie / 100, 4);
    put_number(damaged, entry + 24, lie, 4);
    write_file(folder_ / "lie.npz", damaged);
    EXPECT_THAT(array_error(folder_ / "lie.npz", "a"),
                AllOf(HasSubstr("lie.npz"), HasSubstr("'a"), HasSubstr("damaged")));
  }
  const auto name_length = static_cast<uint8_t>(zip[entry + 28]);
  std::string extra("\x01\x00\x10\x00", 4);
  extra.resize(20);
  put_number(extra, 4, uint64_t{6} << 30, 8);
  put_number(extra, 12, uint64_t{5} << 30, 8);
  put_number(zip, entry + 20, 0xffffffff, 4);
  put_number(zip, entry + 24, 0xffffffff, 4);
  put_number(zip, entry + 30, extra.size(), 2);
  zip.insert(entry + 46 + name_length, extra);
  const size_t end = zip.rfind("PK\x05\x06");
  put_number(zip, end + 12, end - entry, 4);
  write_file(folder_ / "zip64.npz", zip);
  EXPECT_THAT(array_error(folder_ / "zip64.npz", "a"),
              AllOf(HasSubstr("zip64.npz"), HasSubstr("'a"), HasSubstr("damaged")));
}

TEST_F(NpzTest, RefusesTextsWithoutLengthWhoseNumberTheFileDoesNotBear) {
  const std::string many = "{'descr': '<U0', 'fortran_order': False, 'shape': (400000000000,), }";
  const std::string text = "{'descr': '<U0', 'fortran_order': False, 'shape': (4000,), }";
  const std::string none = "{'descr': '<U0', 'fortran_order': False, 'shape': (0,), }";
  const auto strings = [&](const std::string& dict) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    NpzWriter writer(folder_ / "t.npz");
    writer.add_bytes("t.npy", bytes + static_cast<char>(dict.size()) + '\0' + dict);
    writer.close();
    return testing::message_of([&] { (void)NpzReader(folder_ / "t.npz").strings("t"); });
  };
  EXPECT_THAT(strings(many), AllOf(HasSubstr("t.npz"), HasSubstr("400000000000 texts")));
  EXPECT_THAT(strings(text), AllOf(HasSubstr("t.npz"), HasSubstr("'<U0'")));
  EXPECT_EQ(strings(none), "(no Error)");
}

// A text takes 32 bytes besides its own: 100 kB of a hundred million became 3.5 GB.
TEST_F(NpzTest, RefusesMillionsOfTextsOrHundredsOfMillionsOfNumbersOfASmallFile) {
  python(
      "np.savez_compressed('small.npz', texts=np.zeros(1 << 21, 'S1'), numbers=np.zeros((1 << 27) + (1 << 24), 'u1'))");
  ASSERT_LT(fs::file_size(folder_ / "small.npz"), 200'000U);
  const NpzReader reader(folder_ / "small.npz");
  const auto said = [](const auto& read) { return testing::message_of([&] { (void)read(); }); };
  const auto is_refused =
      AllOf(HasSubstr("small.npz: member 'texts': 2097152 texts"), HasSubstr("without compression"));
  EXPECT_THAT(said([&] { return reader.strings("texts"); }), is_refused);
  EXPECT_THAT(said([&] { return array_in(reader, "texts"); }), is_refused);
  EXPECT_THAT(array_error(folder_ / "small.npz", "numbers"), HasSubstr("'numbers': 150994944 values"));
  python("np.savez('large.npz', texts=np.zeros(1 << 21, 'S1'))");
  EXPECT_EQ(NpzReader(folder_ / "large.npz").strings("texts").size(), size_t{1} << 21);
}

TEST_F(NpzTest, RefusesAMemberOfASmallFileThatUnpacksToMoreThanHalfAGigabyte) {
  NpzWriter writer(folder_ / "x.npz");
  writer.add("a", array_of(at::zeros({150'000})));
  writer.close();
  std::string zip = read_file(folder_ / "x.npz");
  const size_t entry = zip.find("PK\x01\x02");
  put_number(zip, entry + 24, (size_t{512} << 20) + 1, 4);
  write_file(folder_ / "x.npz", zip);
  EXPECT_THAT(array_error(folder_ / "x.npz", "a"), HasSubstr("unpacks to 536870913 bytes, expected at most 536870912"));
}

TEST_F(NpzTest, RefusesJsonOfASmallFileThatUnpacksToMoreThan16Megabytes) {
  REQUIRE_NUMPY();
  python(
      "import zipfile\n"
      "for name, size in (('small.npz', 16 << 20), ('large.npz', (16 << 20) + 1)):\n"
      "    with zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED) as made: made.writestr('a.json', ' ' * size)");
  EXPECT_EQ(NpzReader(folder_ / "small.npz").bytes("a.json").size(), size_t{16} << 20);
  EXPECT_THAT(testing::message_of([&] { NpzReader reader(folder_ / "large.npz"); }),
              HasSubstr("'a.json' unpacks to 16777217 bytes, expected at most 16777216"));
}

TEST_F(NpzTest, RefusesMoreDimensionsThanNumPyHas) {
  std::string sizes;
  for (int i = 0; i < 33; ++i) sizes += "1,";
  EXPECT_THAT(npy_error("{'descr': '|u1', 'fortran_order': False, 'shape': (" + sizes + ")}", "x"),
              HasSubstr("more than 32 dimensions"));
}

TEST_F(NpzTest, TwoMembersOfOneNameAreRefused) {
  NpzWriter writer(folder_ / "x.npz");
  writer.add("first", array_of(at::zeros({2})));
  writer.add("other", array_of(at::ones({2})));
  writer.close();
  std::string bytes = read_file(folder_ / "x.npz");
  for (size_t at = bytes.find("other"); at != std::string::npos; at = bytes.find("other", at))
    bytes.replace(at, 5, "first");
  write_file(folder_ / "x.npz", bytes);
  EXPECT_THAT(testing::message_of([&] { (void)NpzReader(folder_ / "x.npz"); }),
              HasSubstr("x.npz: duplicate member 'first.npy'"));
}

}  // namespace
}  // namespace protocom
