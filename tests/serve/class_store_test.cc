#include "protocom/serve/class_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "serve/store_support.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ClassStore, SumsWhatIsEnrolledOneByOneOrTogether) {
  ClassStore store = small_store();
  add_class(store, "cat", description(1));
  EXPECT_EQ(add_images(store, "cat", images({{1, 2}}, {"h1"})), 1);
  EXPECT_EQ(add_images(store, "cat", images({{3, -4}, {0.5, 1}}, {"h2", "h3"})), 2);
  const StoredClass& cat = *store.find("cat");
  EXPECT_EQ(cat.count, 3);
  EXPECT_TRUE(at::equal(cat.sum, at::tensor({4.5, -1.0}, at::kDouble)));            // 1+3+.5, 2-4+1
  EXPECT_TRUE(at::equal(cat.sum_squares, at::tensor({10.25, 21.0}, at::kDouble)));  // 1+9+.25, 4+16+1
}

TEST(ClassStore, CountsAnImageOnce) {
  ClassStore store = small_store();
  add_class(store, "cat", description(1));
  EXPECT_EQ(add_images(store, "cat", images({{1, 2}, {1, 2}}, {"h1", "h1"})), 1);
  EXPECT_EQ(add_images(store, "cat", images({{1, 2}}, {"h1"})), 0);
  EXPECT_EQ(store.find("cat")->count, 1);
}

TEST(ClassStore, RefusesWhatDoesNotFit) {
  ClassStore store = small_store();
  add_class(store, "cat", description(1));
  EXPECT_THAT(message_of([&] { add_class(store, "cat", description(0)); }), HasSubstr("already has a class 'cat'"));
  EXPECT_THAT(message_of([&] {
                add_images(store, "cta", images({{1, 2}}, {"h"}));
              }),
              HasSubstr("no class 'cta'; did you mean 'cat'?"));
  EXPECT_THAT(message_of([&] {
                add_images(store, "cat", images({{1, 2, 3}}, {"h"}));
              }),
              HasSubstr("features of 3 dimensions"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of([&] { add_images(store, "cat", images({{1, nan}}, {"h"})); }), HasSubstr("NaN"));
  EXPECT_THAT(message_of([&] {
                add_images(store, "cat", images({{1, 2}, {3, 4}}, {"h"}));
              }),
              HasSubstr("one row of features for each of 1 images, found the shape [2, 2]"));
  EXPECT_EQ(store.find("cat")->count, 0);
}

TEST(ClassStore, RefusesADescriptionThatDoesNotFit) {
  ClassStore store = small_store();
  const auto refusal = [&](const ClassDescription& wrong) {
    return message_of([&] { add_class(store, "cat", wrong); });
  };
  ClassDescription wrong = description(1);
  wrong.association = at::ones({2});
  EXPECT_EQ(refusal(wrong), "class 'cat': weights of 2 attributes, the store has 1: it was made with another model");
  wrong.association = at::ones({1, 1});
  EXPECT_THAT(refusal(wrong), HasSubstr("an association of one dimension in float32 on the CPU, found Float [1, 1]"));
  wrong.association = at::ones({1}, at::kDouble);
  EXPECT_THAT(refusal(wrong), HasSubstr("found Double [1]"));
  wrong.association = at::Tensor();
  EXPECT_EQ(refusal(wrong), "class 'cat' has no association");
  wrong = description(1);
  wrong.embedding = at::Tensor();
  EXPECT_EQ(refusal(wrong), "class 'cat' has no embedding");
  EXPECT_TRUE(store.classes.empty());
}

TEST(ClassStore, ComesBackFromItsFileAsItWas) {
  const TempDir folder;
  ClassStore store = small_store();
  add_class(store, "cat", description(1));
  add_class(store, "Vögel", description(0.25));
  add_images(store, "Vögel", images({{1, 2}, {3, 4}}, {"h1", "h2"}));
  add_images(store, "cat", images({{5, 6}}, {"h3"}));
  write_class_store(folder / "a.store", store, {});
  const ClassStore read = read_class_store(folder / "a.store");
  EXPECT_EQ(read.backbone.path, store.backbone.path);
  EXPECT_EQ(read.backbone.hash, "b");
  EXPECT_EQ(read.model.hash, "m");
  EXPECT_EQ(read.knowledge.hash, "k");
  EXPECT_TRUE(read.preprocessing == store.preprocessing);
  EXPECT_EQ(read.feature_dim, 2);
  EXPECT_THAT(read.attributes, ElementsAre("tail"));
  ASSERT_EQ(read.classes.size(), 2u);
  EXPECT_EQ(read.classes[1].name, "Vögel");
  EXPECT_EQ(read.classes[1].description.title, "a title");
  EXPECT_EQ(read.classes[1].description.embedding_source, "attributes");
  EXPECT_TRUE(at::equal(read.classes[1].description.association, at::full({1}, 0.25F)));
  EXPECT_TRUE(at::equal(read.classes[1].description.embedding, at::tensor({1.0F, 0.5F})));
  EXPECT_EQ(read.classes[1].count, 2);
  EXPECT_TRUE(at::equal(read.classes[1].sum, at::tensor({4.0, 6.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(read.classes[1].sum_squares, at::tensor({10.0, 20.0}, at::kDouble)));
  EXPECT_THAT(read.classes[1].image_hashes, ElementsAre("h1", "h2"));
  EXPECT_THAT(read.classes[0].image_hashes, ElementsAre("h3"));
}

TEST(ClassStore, RefusesAnotherKindOfFile) {
  const TempDir folder;
  NpzWriter writer(folder / "other.npz");
  add_header(writer, make_header("features", 1, {}));
  writer.close();
  EXPECT_THAT(message_of([&] { read_class_store(folder / "other.npz"); }),
              HasSubstr("'features' file, expected 'class-store'"));
}

TEST(ClassStore, FindsItsFilesWhereTheyWereOrBesideItAndRefusesOthers) {
  const TempDir folder;
  write_file(folder / "was/backbone.npz", "weights");
  const FileReference reference = FileReference::to(folder / "was/backbone.npz");
  const fs::path store = folder / "moved/a.store";
  EXPECT_EQ(locate(reference, "backbone", store, ""), folder / "was/backbone.npz");
  fs::create_directories(folder / "moved");
  fs::rename(folder / "was/backbone.npz", folder / "moved/backbone.npz");
  EXPECT_EQ(locate(reference, "backbone", store, ""), folder / "moved/backbone.npz");
  fs::rename(folder / "moved/backbone.npz", folder / "renamed.npz");
  EXPECT_THAT(message_of([&] { locate(reference, "backbone", store, ""); }), HasSubstr("name it with --backbone"));
  EXPECT_EQ(locate(reference, "backbone", store, folder / "renamed.npz"), folder / "renamed.npz");
  write_file(folder / "renamed.npz", "other weights");
  EXPECT_THAT(message_of([&] { locate(reference, "backbone", store, folder / "renamed.npz"); }),
              HasSubstr("is not the backbone that"));
}

TEST(ClassStoreFile, RefusesWhatNoEnrolmentMakes) {
  const TempDir folder;
  const auto refusal = [&](const std::function<void(ClassStore&)>& change) {
    ClassStore store = small_store();
    add_class(store, "cat", description(1));
    add_images(store, "cat", images({{1, 2}}, {"h1"}));
    change(store);
    write_class_store(folder / "s.npz", store, {});
    return message_of([&] { read_class_store(folder / "s.npz"); });
  };
  EXPECT_EQ(refusal([](ClassStore&) {}), "nothing was thrown");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal([&](ClassStore& s) { s.classes[0].sum[0] = nan; }), HasSubstr("'sum' holds NaN or infinity"));
  EXPECT_THAT(refusal([&](ClassStore& s) { s.classes[0].description.association[0] = nan; }), HasSubstr("NaN"));
  EXPECT_THAT(refusal([](ClassStore& s) { s.feature_dim = -1; }), HasSubstr("features of -1 dimensions"));
  EXPECT_THAT(refusal([](ClassStore& s) { s.preprocessing.image_size = 2000; }), HasSubstr("images of 2000 pixels"));
  EXPECT_THAT(refusal([](ClassStore& s) { s.classes[0].count = -1; }), HasSubstr("with -1 images"));
  EXPECT_THAT(refusal([](ClassStore& s) { s.classes[0].count = 7; }), HasSubstr("counts 7 images and lists 1"));
  EXPECT_THAT(refusal([](ClassStore& s) { s.classes.push_back(s.classes[0]); }), HasSubstr("there twice"));
}

TEST(ClassStore, RefusesAClassOfAnotherModelsAttributes) {
  ClassStore store = small_store();
  ClassDescription two = description(1);
  two.association = at::ones({2});
  EXPECT_THAT(message_of([&] { add_class(store, "cat", two); }), HasSubstr("weights of 2 attributes, the store has 1"));
}

}  // namespace
}  // namespace protocom::testing
