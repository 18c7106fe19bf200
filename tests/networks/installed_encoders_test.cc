#include "encoders/installed_encoders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "encoders/add_encoder.h"
#include "encoders/encoder.h"
#include "io/files.h"
#include "support/colour_encoder.h"
#include "support/environment.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two folders of encoders of the test's own, which precede those of the system.
class EncodersByName : public ::testing::Test {
 protected:
  /// Returns names that begin with "test-": the machine may have others.
  static std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const InstalledEncoder& one : installed_encoders().encoders) {
      if (one.name.rfind("test-", 0) == 0) found.push_back(one.name);
    }
    return found;
  }

  TempDir folder_;
  fs::path first_ = folder_ / "first", users_ = folder_ / "data/protocom/encoders";
  Environment environment_{"PROTOCOM_ENCODERS", first_.string()};
  Environment data_{"XDG_DATA_HOME", (folder_ / "data").string()};
  Environment default_{"PROTOCOM_ENCODER", ""};
};

TEST_F(EncodersByName, AreSearchedInTheNamedFolderThenInTheUsers) {
  EXPECT_EQ(encoder_folders()[0], first_);
  EXPECT_EQ(encoder_folders()[1], users_);
  EXPECT_EQ(encoder_folders().back(), "/usr/share/protocom/encoders");
  write_file(first_ / "test-a.onnx", colour_encoder(8, stated_side(8)));
  write_file(users_ / "test-a.onnx", "shadowed");
  write_file(users_ / "test-b/encoder.onnx", colour_encoder(8, stated_side(8)));
  write_file(users_ / "test-c.tflite", "damaged");
  EXPECT_THAT(names(), ElementsAre("test-a", "test-b", "test-c"));
  EXPECT_EQ(find_encoder("test-a"), first_ / "test-a.onnx");
  EXPECT_EQ(find_encoder("test-b"), users_ / "test-b");
  EXPECT_EQ(encoder_at("test-b"), users_ / "test-b/encoder.onnx");
  EXPECT_EQ(open_encoder("test-a", {})->dim(), 3);
  EXPECT_EQ(hash_encoder("test-a", {}), hash_file(first_ / "test-a.onnx"));
  EXPECT_THAT(message_of([] { open_encoder("test-c", {}); }), HasSubstr("test-c.tflite"));
}

TEST_F(EncodersByName, AreFoundInTheHomeFolderWhereNothingElseIsSaid) {
  const Environment none("XDG_DATA_HOME", ""), home("HOME", folder_.path().string());
  EXPECT_EQ(user_encoders(), folder_ / ".local/share/protocom/encoders");
  const Environment relative("XDG_DATA_HOME", "somewhere");
  EXPECT_EQ(user_encoders(), folder_ / ".local/share/protocom/encoders");
  const Environment homeless("HOME", "");
  EXPECT_TRUE(user_encoders().empty());
}

TEST_F(EncodersByName, APathThatExistsIsNoName) {
  write_file(first_ / "test-a.onnx", "named");
  write_file(folder_ / "test-a", "a file");
  EXPECT_EQ(find_encoder(folder_ / "test-a"), folder_ / "test-a");
  EXPECT_EQ(find_encoder("test-a"), first_ / "test-a.onnx");
}

TEST_F(EncodersByName, AreListedWhereTheOneIsMissing) {
  write_file(first_ / "test-resnet.onnx", "one");
  EXPECT_THAT(message_of([] { find_encoder("test-restnet"); }),
              AllOf(HasSubstr("test-restnet: no such file or folder"), HasSubstr("did you mean 'test-resnet'"),
                    HasSubstr("protocom encoders")));
}

TEST_F(EncodersByName, WhatIsNoneIsSaidAndNotTaken) {
  write_file(first_ / "test-a.onnx.tmp-host.1-2-0123456789abcdef", "half of it");
  write_file(first_ / "test-b.tmp-host.1-2-0123456789abcdef/encoder.onnx", "half of it");
  write_file(first_ / "test-c.onnx", "one");
  write_file(first_ / "test-c/encoder.onnx", "of the same name");
  write_file(users_ / "notes.txt", "where they are from");
  EXPECT_THAT(names(), ElementsAre("test-c"));
  std::vector<std::string> others;
  for (const fs::path& other : installed_encoders().others) others.push_back(other.filename().string());
  EXPECT_THAT(others,
              AllOf(Contains("test-a.onnx.tmp-host.1-2-0123456789abcdef"),
                    Contains("test-b.tmp-host.1-2-0123456789abcdef"), Contains("notes.txt"), Contains("test-c.onnx")));
}

TEST_F(EncodersByName, AFolderThatIsNoneIsSaid) {
  write_file(first_, "a file");
  const Logged logged;
  EXPECT_THAT(message_of([] { find_encoder("test-a"); }), HasSubstr("no such file"));
  EXPECT_THAT(logged.text(), HasSubstr(first_.string() + ": "));
}

TEST_F(EncodersByName, TheDefaultIsTheOneThatTheEnvironmentNames) {
  write_file(first_ / "test-a.onnx", "one");
  write_file(first_ / (std::string(kDefaultEncoder) + ".onnx"), "the usual one");
  EXPECT_EQ(find_encoder(""), first_ / (std::string(kDefaultEncoder) + ".onnx"));
  const Environment named("PROTOCOM_ENCODER", "test-a");
  const Logged logged;
  EXPECT_EQ(chosen_encoder("test-a"), first_ / "test-a.onnx");
  EXPECT_THAT(logged.text(), Not(HasSubstr("default")));
  EXPECT_EQ(chosen_encoder(""), first_ / "test-a.onnx");
  EXPECT_THAT(logged.text(), HasSubstr("encoder: test-a (default; --backbone for another)"));
  const Environment gone("PROTOCOM_ENCODER", "test-gone");
  EXPECT_THAT(message_of([] { default_encoder(); }),
              AllOf(HasSubstr("PROTOCOM_ENCODER is test-gone: no such file"), HasSubstr("--backbone")));
}

// Adding
// -----------------------------------------------------------------------------------------------------------

TEST_F(EncodersByName, AddsAFileUnderAName) {
  write_file(folder_ / "downloaded.onnx", colour_encoder(8));  // which images it takes may be stated later
  EXPECT_EQ(add_encoder("test-mine", folder_ / "downloaded.onnx", AddedTwice::kRefuse), users_ / "test-mine.onnx");
  EXPECT_EQ(read_file(users_ / "test-mine.onnx"), read_file(folder_ / "downloaded.onnx"));
  EXPECT_EQ(find_encoder("test-mine"), users_ / "test-mine.onnx");
  write_file(folder_ / "other.onnx", colour_encoder(8, stated_side(8), 2));
  EXPECT_THAT(message_of([&] { add_encoder("test-mine", folder_ / "other.onnx", AddedTwice::kRefuse); }),
              AllOf(HasSubstr("installed already"), HasSubstr("--replace")));
  add_encoder("test-mine", folder_ / "other.onnx", AddedTwice::kReplace);
  EXPECT_EQ(read_file(users_ / "test-mine.onnx"), read_file(folder_ / "other.onnx"));
}

TEST_F(EncodersByName, AddsTheImageSettingsBesideAFile) {
  write_file(folder_ / "downloaded/onnx/model.onnx", colour_encoder(8));
  write_file(folder_ / "downloaded/preprocessor_config.json",
             R"({"size": {"height": 8, "width": 8}, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]})");
  EXPECT_EQ(add_encoder("test-mine", folder_ / "downloaded/onnx/model.onnx", AddedTwice::kRefuse),
            users_ / "test-mine");
  const Preprocessing images = open_encoder("test-mine", {})->preprocessing();
  EXPECT_TRUE(images.squeeze);
  EXPECT_THAT(images.std, ElementsAre(0.25, 0.25, 0.25));
}

TEST_F(EncodersByName, AddsAFolderInPlaceOfAFile) {
  write_file(folder_ / "one.onnx", colour_encoder(8, stated_side(8)));
  add_encoder("test-mine", folder_ / "one.onnx", AddedTwice::kRefuse);
  write_file(folder_ / "cloned/encoder.onnx", colour_encoder(8, stated_side(8)));
  write_file(folder_ / "cloned/README.md", "of it");
  write_file(folder_ / "cloned/.git/objects", "all of it again");
  for (int time = 0; time < 2; ++time) {
    add_encoder("test-mine", folder_ / "cloned", AddedTwice::kReplace);
    EXPECT_TRUE(fs::exists(users_ / "test-mine/README.md"));
    EXPECT_FALSE(fs::exists(users_ / "test-mine/.git"));
    EXPECT_EQ(std::distance(fs::directory_iterator(users_), fs::directory_iterator()), 1) << "and nothing beside it";
  }
  EXPECT_EQ(open_encoder("test-mine", {})->dim(), 3);
}

TEST_F(EncodersByName, AddsNothingThatCannotBeOpened) {
  write_file(folder_ / "damaged.onnx", "PK nothing");
  EXPECT_THAT(message_of([&] { add_encoder("test-mine", folder_ / "damaged.onnx", AddedTwice::kRefuse); }),
              HasSubstr("damaged.onnx"));
  EXPECT_THAT(names(), ElementsAre());
  write_file(folder_ / "one.onnx", colour_encoder(8, stated_side(8)));
  for (const char* name : {"../up", "a/b", ".hidden", "-option", "one.onnx", " ", "a.tmp-b"})
    EXPECT_THAT(usage_message_of([&] { add_encoder(name, folder_ / "one.onnx", AddedTwice::kRefuse); }),
                Not(HasSubstr("(no ")))
        << name;
  EXPECT_FALSE(fs::exists(users_));
}

}  // namespace
}  // namespace protocom::testing
