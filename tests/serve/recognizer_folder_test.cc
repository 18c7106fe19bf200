#include "protocom/serve/recognizer_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocom/core/error.h"
#include "protocom/serve/class_store.h"
#include "serve/recognizer_file_support.h"
#include "serve/recognizer_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RecognizerFolder, ComesBackAsItWas) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol(
      {enrolee("dog", {{1, 2}, {3, 4}}, {"a", "b"}), enrolee("cat", {{5, 6}}, {"c"}, 0), enrolee("owl", {}, {})});
  file.set_calibration({{"factor", 2}});
  export_recognizer(file, folder / "out");
  import_recognizer(folder / "out", folder / "b.pcm", {});
  const RecognizerFile back(folder / "b.pcm");
  EXPECT_EQ(all_of(back), all_of(file));
  EXPECT_THAT(back.changes(), IsEmpty());
  EXPECT_EQ(back.list_examples("")[0].time, file.list_examples("")[0].time);
  std::string backbone;
  back.read_artefact("backbone", [&](const fs::path& path) { backbone = read_file(path); });
  EXPECT_EQ(backbone, "the backbone");
}

TEST(RecognizerFolder, OfMomentsComesBackToo) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolee("dog", {{1, 2}}, {"a"})});
  StoredClass moments;
  moments.name = "dog";
  moments.count = 1;
  moments.sum = at::ones({2}, at::kDouble);
  moments.sum_squares = at::ones({2}, at::kDouble);
  moments.image_hashes = {"old"};
  file.add_moments(moments);
  export_recognizer(file, folder / "out");
  import_recognizer(folder / "out", folder / "b.pcm", {});
  const StoredClass dog = RecognizerFile(folder / "b.pcm").snapshot().enrolled.classes[0];
  EXPECT_EQ(dog.count, 2);
  EXPECT_TRUE(dog.sum.equal(at::tensor({2.0, 3.0}, at::kDouble)));
}

TEST(RecognizerFolder, WhatIsMissingOrChangedIsNamedAndNothingIsMade) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolee("dog", {{1, 2}}, {"a"})});
  export_recognizer(file, folder / "out");
  EXPECT_THAT(message_of([&] { export_recognizer(file, folder / "out"); }), HasSubstr("already there"));
  const auto said = [&] { return message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }); };
  const std::string document = read_file(folder / "out/recognizer.json");
  const auto with = [&](const std::string& what, const std::string& other) {
    std::string changed = document;
    changed.replace(changed.find(what), what.size(), other);
    write_file(folder / "out/recognizer.json", changed);
    return said();
  };
  EXPECT_THAT(with("\"dog\"", "7"), HasSubstr("recognizer.json"));
  EXPECT_THAT(with("\"backbone.npz\"", "\"../a.pcm\""), HasSubstr("outside the folder"));
  EXPECT_THAT(with("\"examples\"", "\"exhibits\""), HasSubstr("examples"));
  write_file(folder / "out/recognizer.json", document);
  write_file(folder / "out/backbone.npz", "another");
  EXPECT_THAT(said(), HasSubstr("another file than was exported"));
  EXPECT_FALSE(fs::exists(folder / "b.pcm"));
}

TEST_F(SmallRecognizer, IsMadeOfAClassStoreOfACompletionModel) {
  ClassStore store;
  store.backbone = FileReference::to(folder_ / "backbone.npz");
  store.model = FileReference::to(folder_ / "model.npz");
  store.knowledge = FileReference::to(folder_ / "knowledge.npz");
  store.preprocessing.image_size = kSide;
  store.feature_dim = Recognizer::open(path_).file().settings().feature_dim;
  store.attributes = {"tail"};
  for (const char* name : {"right", "left"}) {
    add_class(store, name, description(1));
    add_images(store, name, {at::randn({2, store.feature_dim}), {std::string(name) + "1", std::string(name) + "2"}});
  }
  write_class_store(folder_ / "old.store", store, {});
  import_class_store(folder_ / "old.store", folder_ / "new.pcm", {}, {});
  Recognizer imported = Recognizer::open(folder_ / "new.pcm");
  const StoreModel model = read_store_model(folder_ / "model.npz");
  const at::Tensor features = at::randn({5, store.feature_dim});
  const at::Tensor expected = ClassScorer(store, model).probabilities(features);
  const std::vector<Answer> answers = imported.classify_features(features);
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_NEAR(answers[static_cast<size_t>(i)].ranking[0].probability, expected[i].max().item<double>(), 1e-6);
  EXPECT_EQ(imported.file().find_class("left")->images, 2);
  EXPECT_THAT(answers[0].nearest, IsEmpty()) << "no feature was kept";
  EXPECT_THAT(imported.enrol({request("left", {photo("1.png", 10)})}).classes, SizeIs(1)) << "it goes on";
  EXPECT_EQ(imported.file().find_class("left")->images, 3);
}

TEST_F(SmallRecognizer, OfAClassStoreWhoseFilesAreGoneIsNotMade) {
  ClassStore store = small_store();
  store.backbone.path = "/nowhere/gone.npz";
  add_class(store, "cat", description(1));
  write_class_store(folder_ / "old.store", store, {});
  EXPECT_THAT(message_of([&] { import_class_store(folder_ / "old.store", folder_ / "new.pcm", {}, {}); }),
              HasSubstr("its backbone /nowhere/gone.npz is not there"));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

}  // namespace
}  // namespace protocom::testing
