#include "io/artefact.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/artefact_contents.h"
#include "io/files.h"
#include "io/safetensors.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ArtefactTest : public ::testing::Test {
 protected:
  static ArtefactHeader example() {
    Provenance provenance;
    provenance.command = "pretrain";
    provenance.options = {{"epochs", 120}, {"rotation", true}};
    provenance.seed = UINT64_MAX;
    provenance.inputs = {{"images", "99aa06d3014798d86001c324468d497f"}};
    ArtefactHeader header = make_header("backbone", 2, provenance);
    header.details = {{"dim", 512}};
    return header;
  }
  fs::path put_npz(const ArtefactHeader& header) const {
    NpzWriter writer(folder_ / "x.npz");
    writer.add("x", array_of(at::ones(2)));
    add_header(writer, header);
    writer.close();
    return folder_ / "x.npz";
  }
  fs::path put_npz_text(const std::string& text) const {
    NpzWriter writer(folder_ / "x.npz");
    writer.add_bytes("header.json", text);
    writer.close();
    return folder_ / "x.npz";
  }
  fs::path put_safetensors(const std::string& text) const {
    write_safetensors(folder_ / "x.safetensors", arrays_of({{"x", at::ones(2)}}), {{kSafetensorsHeaderKey, text}});
    return folder_ / "x.safetensors";
  }
  std::string error_of(const fs::path& path, const std::string& kind, int newest) const {
    return testing::message_of([&] { read_header(NpzReader(path), kind, newest); });
  }
  static std::string any_error_of(const fs::path& path) {
    return testing::message_of([&] { read_any_header(path); });
  }

  testing::TempDir folder_;
};

void expect_example(const ArtefactHeader& header) {
  EXPECT_EQ(header.kind, "backbone");
  EXPECT_EQ(header.format_version, 2);
  EXPECT_EQ(header.program_version, program_version());
  EXPECT_EQ(header.provenance.command, "pretrain");
  EXPECT_EQ(header.provenance.options.at("epochs"), 120);
  EXPECT_EQ(header.provenance.options.at("rotation"), true);
  EXPECT_EQ(header.provenance.seed, UINT64_MAX);
  EXPECT_EQ(header.provenance.inputs.at("images"), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(header.details.at("dim"), 512);
}

TEST_F(ArtefactTest, ReadsItsHeaderBackFromAnNpz) {
  const fs::path path = put_npz(example());
  expect_example(read_header(NpzReader(path), "backbone", 2));
  expect_example(read_header(NpzReader(path), "backbone", 3));
  expect_example(read_any_header(path));
}

TEST_F(ArtefactTest, ReadsItsHeaderBackFromSafetensors) {
  expect_example(read_any_header(put_safetensors(example().to_json().dump())));
}

TEST_F(ArtefactTest, IsLookedIntoWithoutKnowingItsKind) {
  const ArtefactContents npz = read_contents(put_npz(example()));
  EXPECT_EQ(npz.header.kind, "backbone");
  ASSERT_EQ(npz.members.size(), 1U);
  EXPECT_EQ(npz.members[0].name, "x");
  EXPECT_EQ(npz.members[0].type, "Float");
  EXPECT_EQ(npz.members[0].shape, std::vector<int64_t>{2});
  const nlohmann::json document = {{"header", example().to_json()}, {"results", {1, 2, 3}}};
  write_file(folder_ / "results.json", document.dump());
  const ArtefactContents results = read_contents(folder_ / "results.json");
  EXPECT_EQ(results.header.provenance.command, "pretrain");
  ASSERT_EQ(results.members.size(), 1U);
  EXPECT_EQ(results.members[0].type, "array");
  EXPECT_EQ(results.members[0].shape, std::vector<int64_t>{3});
  write_file(folder_ / "other.json", "{}");
  EXPECT_THAT(message_of([&] { read_contents(folder_ / "other.json"); }), HasSubstr("has no protocom header"));
  EXPECT_THAT(message_of([&] { read_contents(folder_ / "gone.npz"); }), HasSubstr("gone.npz: no such file"));
}

TEST_F(ArtefactTest, StoresTheFieldsUnderTheirDocumentedNames) {
  const nlohmann::json json = nlohmann::json::parse(NpzReader(put_npz(example())).bytes("header.json"));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"kind": "backbone", "format_version": 2, "program_version": ")" +
                                        std::string(program_version()) +
                                        R"(", "command": "pretrain", "options": {"epochs": 120, "rotation": true},
       "seed": 18446744073709551615, "inputs": {"images": "99aa06d3014798d86001c324468d497f"}, "details": {"dim": 512}})"));
}

TEST_F(ArtefactTest, WritesAHeaderThoughAnOptionIsAPathThatIsNotUtf8) {
  ArtefactHeader header = example();
  header.provenance.options["out"] = "caf\xe9.npz";
  EXPECT_EQ(read_any_header(put_npz(header)).provenance.options.at("out"), "caf\xef\xbf\xbd.npz");
}

TEST_F(ArtefactTest, RefusesAnotherKindAndSaysWhichItIs) {
  EXPECT_THAT(error_of(put_npz(example()), "protocomnet", 9),
              HasSubstr("x.npz is a 'backbone' file, expected 'protocomnet'"));
}

TEST_F(ArtefactTest, RefusesAVersionThatIsNewerThanItKnows) {
  EXPECT_THAT(
      error_of(put_npz(example()), "backbone", 1),
      AllOf(HasSubstr("x.npz"), HasSubstr("format 2"), HasSubstr("reads up to 1"), HasSubstr("use a newer protocom")));
  ArtefactHeader none = example();
  none.format_version = 0;
  EXPECT_THAT(error_of(put_npz(none), "backbone", 2), HasSubstr("format 0"));
}

TEST_F(ArtefactTest, SaysThatAFileIsNotOneOfOurs) {
  NpzWriter writer(folder_ / "x.npz");
  writer.add("x", array_of(at::ones(2)));
  writer.close();
  EXPECT_THAT(error_of(folder_ / "x.npz", "features", 1),
              AllOf(HasSubstr("x.npz is not a protocom file"), HasSubstr("'features'")));
  EXPECT_THAT(any_error_of(folder_ / "x.npz"), HasSubstr("x.npz has no protocom header"));

  write_safetensors(folder_ / "x.safetensors", arrays_of({{"x", at::ones(2)}}), {{"format", "pt"}});
  EXPECT_THAT(any_error_of(folder_ / "x.safetensors"), HasSubstr("x.safetensors has no protocom header"));
  write_file(folder_ / "x.txt", "a text of some length");
  EXPECT_THAT(any_error_of(folder_ / "x.txt"), HasSubstr("x.txt"));
  write_file(folder_ / "empty", "");
  EXPECT_THAT(any_error_of(folder_ / "empty"), HasSubstr("empty"));
  EXPECT_THAT(any_error_of(folder_.path()), HasSubstr("folder"));
  EXPECT_THAT(any_error_of(folder_ / "missing"), AllOf(HasSubstr("missing"), HasSubstr("No such file")));
}

TEST_F(ArtefactTest, DoesNotTakeADamagedFileForOneOfAnotherFormat) {
  std::string bytes = read_file(put_safetensors(example().to_json().dump()));
  write_file(folder_ / "cut.safetensors", bytes.substr(0, 40));
  EXPECT_THAT(any_error_of(folder_ / "cut.safetensors"), AllOf(HasSubstr("cut.safetensors"), HasSubstr("cut off")));
  bytes = read_file(put_npz(example()));
  write_file(folder_ / "cut.npz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(any_error_of(folder_ / "cut.npz"), HasSubstr("cut.npz is not an npz file"));
}

TEST_F(ArtefactTest, NamesTheFieldThatIsMissingOrWrong) {
  for (const auto& field :
       {"kind", "format_version", "program_version", "command", "options", "seed", "inputs", "details"}) {
    nlohmann::json json = example().to_json();
    json.erase(field);
    EXPECT_THAT(any_error_of(put_npz_text(json.dump())),
                AllOf(HasSubstr("x.npz"), HasSubstr("header is damaged"), HasSubstr(field)));
    EXPECT_THAT(any_error_of(put_safetensors(json.dump())), AllOf(HasSubstr("x.safetensors"), HasSubstr(field)));
    json[field] = nlohmann::json::array({1});  // of the wrong type for every field
    EXPECT_THAT(any_error_of(put_npz_text(json.dump())), AllOf(HasSubstr("x.npz"), HasSubstr("header is damaged")))
        << field;
  }
  EXPECT_THAT(any_error_of(put_npz_text("{\"kind\": ")), AllOf(HasSubstr("x.npz"), HasSubstr("not valid JSON")));
  EXPECT_THAT(any_error_of(put_npz_text("[]")), HasSubstr("header is damaged"));
}

}  // namespace
}  // namespace protocom
