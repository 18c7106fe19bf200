#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/recognizers.h"
#include "support/python.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Makes bare.safetensors: the tensors of backbone.npz under their names, without any statement about its images.
constexpr const char* kTakeHeaderOff = R"(
import ast, json, struct, zipfile
header, data = {}, b''
with zipfile.ZipFile('backbone.npz') as npz:
    for member in npz.namelist():
        if not member.endswith('.npy'): continue
        npy = npz.read(member)
        length = struct.unpack('<H', npy[8:10])[0]
        about = ast.literal_eval(npy[10:10 + length].decode())
        kind = {'<f4': 'F32', '<i8': 'I64'}[about['descr']]
        values = npy[10 + length:]
        header[member[:-4]] = {'dtype': kind, 'shape': list(about['shape']),
                               'data_offsets': [len(data), len(data) + len(values)]}
        data += values
text = json.dumps(header).encode()
open('bare.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + data)
)";

class Metatrain : public Recognizers {};

// A residual network takes images of any size: that 84 pixels are usual is no reason to refuse a pack of 64.
TEST_F(Metatrain, TakesAStateDictThatSaysNoSizeAtTheSizeOfThePack) {
  const TempDir folder;
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--threads", "1"});
    return protocom(folder.path(), arguments);
  };
  const auto by_class = images_by_class();
  std::string split = "class,split\n";
  for (auto one = by_class.begin(); one != std::next(by_class.begin(), 2); ++one) {
    split += one->first + ",base\n";
    for (size_t i = 0; i < 2; ++i)
      write_text(folder / "few" / one->second.at(i), read_text(out("images") / one->second[i]));
  }
  write_text(folder / "few/split.csv", split);
  for (const char* side : {"16", "64"}) {
    const Outcome packed = run({"pack", "few", "--image-size", side, "--out", side + std::string(".pack")});
    ASSERT_EQ(packed.exit_code, 0) << packed.err;
  }
  const Outcome trained = run({"pretrain", "16.pack", "--architecture", "resnet12", "--epochs", "1", "--batch", "4",
                               "--val-episodes", "0", "--out", "backbone.npz"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(run_python(folder.path(), kTakeHeaderOff), "");

  const auto tune = [&](const std::string& images) {
    std::vector<std::string> arguments = {"metatrain", "--images", images,  "--backbone", "bare.safetensors",
                                          "--head",    "mean",     "--out", "j.npz"};
    for (const char* once : {"--epochs", "--batches", "--episodes", "--n-query"})
      arguments.insert(arguments.end(), {once, "1"});
    arguments.insert(arguments.end(), {"--n-way", "2", "--val-episodes", "0"});
    return run(arguments);
  };
  const Outcome unknown = tune("few");
  EXPECT_EQ(unknown.exit_code, 1) << "photos have any size";
  EXPECT_THAT(unknown.err, HasSubstr("does not state its preprocessing: give --preprocess"));
  const Outcome tuned = tune("64.pack");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, AllOf(HasSubstr("'shorter side 64, crop 64"), HasSubstr("assuming"),
                               Not(HasSubstr("the backbone expects images of"))));
  const auto shown = nlohmann::json::parse(run({"show", "j.npz", "--json"}).out);
  EXPECT_EQ(shown.at("header").at("details").at("image_size"), 64);
}

}  // namespace
}  // namespace protocom::testing
