#include "protocom/serve/enrol.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/image.h"
#include "serve/store_support.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int64_t kSide = 16;

/// A folder with a backbone, a completion model and knowledge of the class "cat", and grey photos.
class Enrol : public ::testing::Test {
 protected:
  void SetUp() override {
    at::manual_seed(3);
    BackboneOptions options;
    options.architecture = "conv4";
    options.image_size = kSide;
    const auto backbone = make_backbone(options);
    write_backbone(folder_ / "backbone.npz", *backbone, options, {});
    write_completion_model(folder_ / "model.npz",
                           constant_model(std::vector<float>(static_cast<size_t>(backbone->dim()))), {}, {});
    Knowledge known;
    known.classes = {"cat"};
    known.attributes = {"tail"};
    known.association = at::ones({1, 1});
    known.class_embedding = at::tensor({1.0F, 2.0F}).view({1, 2});
    known.attribute_embedding = at::tensor({5.0F, 6.0F}).view({1, 2});
    write_knowledge(folder_ / "knowledge.npz", known, {}, nlohmann::json::object());
  }

  std::string photo(const std::string& name, uint8_t grey) const {
    write_file(folder_ / name, encode_png({kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, grey)}));
    return (folder_ / name).string();
  }

  EnrolRequest request(const std::string& name, std::vector<std::string> images) const {
    EnrolRequest made;
    made.description.name = name;
    made.images = std::move(images);
    made.files = {folder_ / "backbone.npz", folder_ / "model.npz", "", folder_ / "knowledge.npz"};
    made.extract.device = "cpu";
    return made;
  }

  Enrolment run(const EnrolRequest& request) const { return enrol(store_, request, {}, Progress::none()); }

  TempDir folder_;
  fs::path store_ = folder_ / "pets.store";
};

TEST_F(Enrol, MakesAStoreThatKnowsItsFilesAndSizes) {
  const Enrolment done = run(request("cat", {photo("1.png", 10), photo("2.png", 200)}));
  EXPECT_EQ(done.given, 2);
  EXPECT_EQ(done.added, 2);
  const ClassStore store = read_class_store(store_);
  EXPECT_EQ(store.preprocessing.image_size, kSide);
  EXPECT_EQ(store.attributes, std::vector<std::string>{"tail"});
  ASSERT_NE(store.find("cat"), nullptr);
  EXPECT_EQ(store.find("cat")->count, 2);
  EXPECT_TRUE(store.find("cat")->description.association.equal(at::ones({1})));
  EXPECT_EQ(store.backbone.hash, hash_file(folder_ / "backbone.npz"));
}

TEST_F(Enrol, AddsImagesToAClassWithoutCountingOneTwice) {
  const std::string first = photo("1.png", 10);
  run(request("cat", {first}));
  EnrolRequest more = request("cat", {first, photo("2.png", 200)});
  more.files = {};  // the store knows its own
  const Enrolment done = run(more);
  EXPECT_EQ(done.given, 2);
  EXPECT_EQ(done.added, 1);
  EXPECT_EQ(done.store.find("cat")->count, 2);
}

TEST_F(Enrol, AnImageThatCannotBeReadDoesNotStopTheOthers) {
  write_file(folder_ / "broken.png", "no image");
  const Enrolment done =
      run(request("cat", {(folder_ / "gone.png").string(), photo("1.png", 10), (folder_ / "broken.png").string()}));
  EXPECT_EQ(done.added, 1);
  ASSERT_EQ(done.unreadable.size(), 2u);
  EXPECT_THAT(done.unreadable[0].reason, HasSubstr("gone.png: no such file"));
  EXPECT_THAT(done.unreadable[1].reason, HasSubstr("broken.png"));
  EXPECT_EQ(read_class_store(store_).find("cat")->count, 1);
}

TEST_F(Enrol, LeavesTheStoreAsItWasWhenNoImageCanBeRead) {
  run(request("cat", {photo("1.png", 10)}));
  const std::string before = read_file(store_);
  write_file(folder_ / "broken.png", "no image");
  EXPECT_THAT(message_of([&] { run(request("cat", {(folder_ / "broken.png").string()})); }),
              HasSubstr("nothing was enrolled"));
  EXPECT_EQ(read_file(store_), before);
}

TEST_F(Enrol, RefusesToDescribeAClassAnew) {
  run(request("cat", {photo("1.png", 10)}));
  EnrolRequest described = request("cat", {photo("2.png", 20)});
  described.description.attributes = {"tail"};
  EXPECT_THAT(message_of([&] { run(described); }), HasSubstr("already has a class 'cat'"));
}

TEST_F(Enrol, NamesTheFileThatANewStoreLacks) {
  EnrolRequest incomplete = request("cat", {photo("1.png", 10)});
  incomplete.files.model.clear();
  EXPECT_THAT(usage_message_of([&] { run(incomplete); }), HasSubstr("--fitted or --model is missing"));
  EXPECT_FALSE(fs::exists(store_));
}

}  // namespace
}  // namespace protocom::testing
