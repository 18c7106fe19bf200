#include "store/recognizer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "base/error.h"
#include "store/database_error.h"
#include "store/recognizer_file_support.h"
#include "support/file_limit.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RecognizerFileTest : public ::testing::Test {
 protected:
  TempDir folder_;
  fs::path path_ = make_file(folder_);
};

TEST_F(RecognizerFileTest, HoldsWhatItWasMadeWith) {
  const RecognizerFile file(path_);
  EXPECT_EQ(file.settings().feature_dim, 2);
  EXPECT_EQ(file.settings().preprocessing.image_size, 16);
  EXPECT_THAT(file.settings().attributes, ElementsAre("tail", "wing"));
  EXPECT_EQ(file.header().kind, "recognizer");
  std::string backbone;
  file.read_artefact("backbone", [&](const fs::path& path) { backbone = read_file(path); });
  EXPECT_EQ(backbone, "the backbone");
  file.read_artefact("model", [&](const fs::path& path) { EXPECT_EQ(read_file(path), std::string(10'000'000, 'm')); });
  EXPECT_THAT(message_of([&] { file.read_artefact("fitted", [](const fs::path&) {}); }), HasSubstr("has no fitted"));
}

TEST(ExamplesInParts, SayNothingOfImagesOfWhichTheirPartSaysNothing) {
  ExamplesInParts parts;
  parts.add({Array::of<float>({1, 2}).reshaped({1, 2}), {"a"}, {"a.jpg"}});
  parts.add({});
  parts.add({Array::of<float>({3, 4, 5, 6}).reshaped({2, 2}), {"b", "c"}, {}, {"JPEG b", "JPEG c"}});
  const NewExamples all = std::move(parts).joined();
  EXPECT_TRUE(at::equal(tensor_of(all.features), at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({3, 2})));
  EXPECT_THAT(all.hashes, ElementsAre("a", "b", "c"));
  EXPECT_THAT(all.sources, ElementsAre("a.jpg", "", ""));
  EXPECT_THAT(all.thumbnails, ElementsAre("", "JPEG b", "JPEG c"));
  EXPECT_THAT(all.taken, Each(std::nullopt));
  EXPECT_FALSE(ExamplesInParts().joined().features.defined());
}

TEST_F(RecognizerFileTest, IsMadeOfFilesWhoseNamesAreNoUtf8) {
  write_file(folder_ / "net\xe9.npz", "the backbone");
  Provenance provenance;
  provenance.command = "recognizer create";
  provenance.options = {{"backbone", "net\xe9.npz"}};
  RecognizerFile::create(folder_ / "b.pcm", small_settings(), {{"backbone", folder_ / "net\xe9.npz"}}, provenance);
  const RecognizerFile file(folder_ / "b.pcm");
  EXPECT_EQ(file.header().provenance.options.at("backbone"), "net\xef\xbf\xbd.npz");
  std::string backbone;
  file.read_artefact("backbone", [&](const fs::path& path) { backbone = read_file(path); });
  EXPECT_EQ(backbone, "the backbone");
  EXPECT_THAT(message_of([&] { file.list_examples("caf\xe9"); }), HasSubstr("no class 'caf\\xe9'"));
}

TEST_F(RecognizerFileTest, NamesItselfWhereAnArtefactIsRefused) {
  const RecognizerFile file(path_);
  const std::string stated = message_of(
      [&] { file.read_artefact("backbone", [](const fs::path& path) { fail("{} is no backbone", path.string()); }); });
  EXPECT_EQ(stated, path_.string() + ", its backbone is no backbone");
}

TEST_F(RecognizerFileTest, HoldsWhatWasEnrolledInItsOrder) {
  RecognizerFile(path_).enrol(
      {enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}, 0.25F), enrolment("cat", {{5, 6}}, {"c"})});
  RecognizerFile(path_).enrol({enrolment("dog", {{7, 8}}, {"d"})});
  const EnrolledClasses enrolled = RecognizerFile(path_).snapshot().enrolled;
  ASSERT_THAT(enrolled.classes, SizeIs(2));
  EXPECT_EQ(enrolled.classes[0].name, "dog");
  EXPECT_EQ(enrolled.classes[1].name, "cat");
  EXPECT_EQ(enrolled.classes[0].count, 3);
  EXPECT_TRUE(
      tensor_of(enrolled.classes[0].features).equal(at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 7.0F, 8.0F}).view({3, 2})));
  EXPECT_TRUE(tensor_of(enrolled.classes[0].description.association).equal(at::tensor({0.25F, 0.5F})))
      << "a class that is there keeps its description";
  EXPECT_EQ(enrolled.classes[1].description.title, "a cat");
  EXPECT_EQ(enrolled.classes[1].description.embedding_source, "attributes");
}

TEST_F(RecognizerFileTest, CountsAnImageOnceInItsClass) {
  RecognizerFile file(path_);
  EXPECT_EQ(file.enrol({enrolment("dog", {{1, 2}, {1, 2}}, {"a", "a"})})[0].added, 1);
  const EnrolledClass again = file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"})})[0];
  EXPECT_EQ(again.added, 1);
  EXPECT_EQ(again.held, 1);
  EXPECT_EQ(again.now.images, 2);
  EXPECT_FALSE(again.is_new);
  const int64_t revision = file.revision();
  EXPECT_EQ(file.enrol({enrolment("dog", {{1, 2}}, {"a"})})[0].added, 0);
  EXPECT_EQ(file.revision(), revision) << "nothing was changed";
  EXPECT_THAT(file.changes(), SizeIs(2));
}

TEST_F(RecognizerFileTest, KeepsFeaturesAsFloat16WhereAskedTo) {
  RecognizerSettings settings = small_settings();
  settings.feature_type = FeatureType::kFloat16;
  const TempDir folder;
  RecognizerFile file(make_file(folder, settings));
  file.enrol({enrolment("dog", {{1.0F / 3, 2}}, {"a"})});
  const at::Tensor expected = at::tensor({1.0F / 3, 2.0F}).to(at::kHalf).to(at::kFloat);
  EXPECT_TRUE(tensor_of(file.snapshot().enrolled.classes[0].features)[0].equal(expected));
  EXPECT_THAT(message_of([&] { file.enrol({enrolment("dog", {{1e6F, 2}}, {"b"})}); }), HasSubstr("too large"));
}

TEST_F(RecognizerFileTest, EnrolsAllOrNothing) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  const std::string before = all_of(file);
  ClassEnrolment nobody = enrolment("cat", {{1, 2}}, {"c"});
  nobody.description.reset();
  EXPECT_THAT(message_of([&] {
                file.enrol({enrolment("dog", {{3, 4}}, {"b"}), nobody});
              }),
              HasSubstr("no class 'cat'"));
  EXPECT_THAT(message_of([&] { file.enrol({enrolment("", {{3, 4}}, {"b"})}); }), HasSubstr("needs a name"));
  EXPECT_THAT(message_of([&] { file.enrol({enrolment("cat", {{3, 4, 5}}, {"b"})}); }), HasSubstr("shape [1, 2]"));
  EXPECT_THAT(message_of([&] { file.enrol({enrolment("cat", {{3, NAN}}, {"b"})}); }), HasSubstr("NaN or infinity"));
  ClassEnrolment other = enrolment("cat", {{3, 4}}, {"b"});
  other.description->association = array_of(at::ones({3}));
  EXPECT_THAT(message_of([&] { file.enrol({other}); }), HasSubstr("association of 2 numbers"));
  EXPECT_EQ(all_of(file), before);
}

TEST_F(RecognizerFileTest, RefusesFeaturesThatOverflowWhenSquared) {
  RecognizerFile file(path_);
  EXPECT_THAT(message_of([&] {
                file.enrol({enrolment("cat", {{3, 9e18F}}, {"b"})});
              }),
              HasSubstr("class 'cat': features hold a number of size 9e+18, more than 1e+08"));
  EXPECT_THAT(file.snapshot().enrolled.classes, IsEmpty());
}

TEST_F(RecognizerFileTest, AClassCanBeDescribedAgain) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"}, 0)});
  ClassEnrolment again = enrolment("dog", {}, {}, 1);
  again.describe = Describe::kAnyClass;
  file.enrol({again});
  EXPECT_EQ(file.find_class("dog")->attributes, weights(1, 0.5));
  EXPECT_EQ(file.find_class("dog")->images, 1);
  file.undo();
  EXPECT_EQ(file.find_class("dog")->attributes, weights(0, 0.5));
}

TEST_F(RecognizerFileTest, TellsTheDescriptionThatANewOneTakesThePlaceOf) {
  RecognizerFile file(path_);
  EXPECT_FALSE(file.enrol({enrolment("dog", {{1, 2}}, {"a"}, 0)})[0].replaced) << "the class is new";
  EXPECT_FALSE(file.enrol({enrolment("dog", {{3, 4}}, {"b"}, 1)})[0].replaced) << "it keeps its own";
  ClassEnrolment again = enrolment("dog", {}, {}, 1);
  again.describe = Describe::kAnyClass;
  const EnrolledClass done = file.enrol({again})[0];
  ASSERT_TRUE(done.replaced);
  EXPECT_EQ(*done.replaced, weights(0, 0.5));
  EXPECT_EQ(done.now.attributes, weights(1, 0.5));
}

TEST_F(RecognizerFileTest, AChangeIsCalledByWhatIsNewInIt) {
  RecognizerFile file(path_);
  const auto called = [&](ClassEnrolment one, Describe describe) {
    one.describe = describe;
    file.enrol({std::move(one)});
    EXPECT_EQ(file.changes(1).front().what, file.last_made()->what);
    return file.last_made()->what;
  };
  EXPECT_EQ(called(enrolment("cat", {}, {}), Describe::kNewClass), "enrol 'cat', described by 2 attributes");
  EXPECT_EQ(called(enrolment("dog", {{1, 2}}, {"a"}), Describe::kNewClass), "enrol 1 image of 'dog'");
  EXPECT_EQ(called(enrolment("dog", {{1, 2}, {3, 4}, {5, 6}}, {"a", "b", "c"}), Describe::kNewClass),
            "enrol 2 images of 'dog' (1 more was there already)");
  EXPECT_EQ(called(enrolment("dog", {}, {}, 0), Describe::kAnyClass), "describe 'dog' by 1 attribute");
  EXPECT_EQ(called(enrolment("dog", {{1, 2}}, {"a"}), Describe::kAnyClass), "describe 'dog' by 2 attributes");
  EXPECT_EQ(called(enrolment("dog", {{1, 2}, {3, 4}, {7, 8}}, {"a", "b", "d"}), Describe::kAnyClass),
            "enrol 1 image of 'dog' and describe it by 2 attributes (2 more were there already)");
  EXPECT_EQ(file.undo().what, "enrol 1 image of 'dog' and describe it by 2 attributes (2 more were there already)");
}

TEST_F(RecognizerFileTest, RenamesAClassWithItsImages) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"}), enrolment("cat", {}, {})});
  file.rename_class("dog", "wolf");
  EXPECT_EQ(file.snapshot().enrolled.classes[0].name, "wolf");
  EXPECT_EQ(file.find_class("wolf")->images, 1);
  EXPECT_FALSE(file.find_class("dog"));
  EXPECT_THAT(message_of([&] { file.rename_class("wolf", "cat"); }), HasSubstr("already has a class 'cat'"));
  EXPECT_THAT(message_of([&] { file.rename_class("wolff", "x"); }),
              HasSubstr("no class 'wolff'; did you mean 'wolf'?"));
  EXPECT_THAT(message_of([&] { file.rename_class("wolf", ""); }), HasSubstr("needs a name"));
  EXPECT_TRUE(file.find_class("wolf"));
}

TEST_F(RecognizerFileTest, FindsAClassHoweverItsNameIsWritten) {
  const std::string composed = "caf\xc3\xa9", decomposed = "cafe\xcc\x81";
  RecognizerFile file(path_);
  file.enrol({enrolment(decomposed, {{1, 2}}, {"a"}), enrolment(" polar  bear", {{3, 4}}, {"b"}),
              enrolment("\xe2\x84\xaa", {{5, 6}}, {"c"})});
  ASSERT_TRUE(file.find_class(decomposed));
  EXPECT_EQ(file.find_class(decomposed)->name, composed);
  EXPECT_TRUE(file.has_class(composed + " "));
  EXPECT_FALSE(file.enrol({enrolment(composed + "\xc2\xa0", {{7, 8}}, {"d"})})[0].is_new);
  EXPECT_THAT(file.list_examples(decomposed), SizeIs(2));
  EXPECT_THAT(message_of([&] { file.rename_class("K", decomposed); }), HasSubstr("already has a class"));
  EXPECT_EQ(file.merge_class("\xe2\x84\xaa", decomposed), 1);
  file.rename_class(
      "polar\xc2\xa0"
      "bear",
      "ours ");
  EXPECT_TRUE(file.has_class("ours"));
  file.remove_class(decomposed);
  EXPECT_THAT(file.list_classes(), SizeIs(1));
}

TEST_F(RecognizerFileTest, RefusesABlankNameWhereverOneIsGiven) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  for (const std::string blank : {" ", "\xc2\xa0", "\xe3\x80\x80"}) {
    EXPECT_THROW(file.enrol({enrolment(blank, {{3, 4}}, {"b"})}), UsageError) << blank;
    EXPECT_THROW(file.rename_class("dog", blank), UsageError) << blank;
    EXPECT_THROW(file.merge_class("dog", blank), UsageError) << blank;
    EXPECT_THROW(file.remove_class(blank), UsageError) << blank;
    EXPECT_THROW(file.find_class(blank), UsageError) << blank;
    EXPECT_THROW(file.list_examples(blank), UsageError) << blank;
  }
  EXPECT_THAT(file.changes(), SizeIs(1));
}

TEST_F(RecognizerFileTest, MergesAClassIntoAnotherAsOneChange) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}, 0), enrolment("cat", {{5, 6}}, {"c"}),
              enrolment("hound", {{7, 8}, {3, 4}}, {"d", "b"}, 1)});
  const std::string before = all_of(file);
  EXPECT_EQ(file.merge_class("hound", "dog"), 1) << "the other one was there";
  EXPECT_EQ(file.last_made()->what, "merge class 'hound' into 'dog'");
  EXPECT_FALSE(file.has_class("hound"));
  EXPECT_THAT(file.list_classes(), SizeIs(2));
  const StoredClass dog = file.snapshot().enrolled.classes[0];
  EXPECT_TRUE(tensor_of(dog.features).equal(at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 7.0F, 8.0F}).view({3, 2})));
  EXPECT_TRUE(tensor_of(dog.description.association).equal(at::tensor({0.0F, 0.5F}))) << "it keeps its own description";
  const ExampleInfo moved = file.list_examples("dog").back();
  EXPECT_EQ(moved.source, "photos/d.jpg");
  EXPECT_EQ(file.thumbnail(moved.id), "JPEG of d");
  const std::string after = all_of(file);
  file.undo();
  EXPECT_EQ(all_of(file), before);
  file.redo();
  EXPECT_EQ(all_of(file), after);
  EXPECT_THAT(file.check(), IsEmpty());
  EXPECT_THAT(message_of([&] { file.merge_class("dog", "dog"); }), HasSubstr("merged into itself"));
  EXPECT_THAT(message_of([&] { file.merge_class("dog", "cot"); }), HasSubstr("did you mean 'cat'"));
  EXPECT_EQ(all_of(file), after);
}

TEST_F(RecognizerFileTest, MovesExamplesToAnotherClassAsOneChange) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}), enrolment("cat", {{5, 6}, {1, 2}}, {"c", "a"})});
  const std::string before = all_of(file);
  const std::vector<ExampleInfo> dogs = file.list_examples("dog");
  EXPECT_EQ(file.move_examples({dogs[0].id, dogs[1].id}, "cat"), 1) << "the cats have the first already";
  EXPECT_EQ(file.last_made()->what, "move 2 images to 'cat'");
  EXPECT_THAT(file.list_examples("dog"), IsEmpty());
  const ExampleInfo moved = file.list_examples("cat").back();
  EXPECT_EQ(moved.source, "photos/b.jpg");
  EXPECT_EQ(file.thumbnail(moved.id), "JPEG of b");
  EXPECT_THAT(file.check(), IsEmpty());
  const std::string after = all_of(file);
  EXPECT_THAT(message_of([&] { file.move_examples({moved.id}, "cat"); }), HasSubstr("already in class 'cat'"));
  EXPECT_THAT(message_of([&] { file.move_examples({moved.id, dogs[0].id}, "dog"); }), HasSubstr("has no example"));
  EXPECT_THAT(message_of([&] { file.move_examples({moved.id}, "cot"); }), HasSubstr("did you mean 'cat'"));
  EXPECT_EQ(all_of(file), after) << "all or nothing";
  file.undo();
  EXPECT_EQ(all_of(file), before);
  file.redo();
  EXPECT_EQ(all_of(file), after);
}

TEST_F(RecognizerFileTest, ConfirmsExamplesUntilTheyLeaveTheirClass) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}), enrolment("cat", {{5, 6}}, {"c"})});
  const int64_t dog = file.list_examples("dog")[1].id, cat = file.list_examples("cat")[0].id;
  EXPECT_EQ(file.confirm_examples({cat, dog}), 2);
  EXPECT_EQ(file.last_made()->what, "confirm 2 images");
  EXPECT_THAT(file.confirmed_examples(), ElementsAre(dog, cat));
  EXPECT_TRUE(file.example(dog).confirmed);
  EXPECT_FALSE(file.list_examples("dog")[0].confirmed);
  EXPECT_EQ(file.confirm_examples({dog}), 0);
  EXPECT_FALSE(file.last_made()) << "it is confirmed already";
  EXPECT_THAT(message_of([&] {
                file.confirm_examples({file.list_examples("dog")[0].id, 999});
              }),
              HasSubstr("no example 999"));
  EXPECT_THAT(file.confirmed_examples(), SizeIs(2)) << "all or nothing";
  file.move_examples({dog}, "cat");
  EXPECT_THAT(file.confirmed_examples(), ElementsAre(cat)) << "that it is a cat nobody has said";
  file.remove_class("cat");
  EXPECT_THAT(file.confirmed_examples(), IsEmpty());
  EXPECT_THAT(file.check(), IsEmpty());
  file.undo();
  file.undo();
  EXPECT_THAT(file.confirmed_examples(), ElementsAre(dog, cat));
  file.undo();
  EXPECT_THAT(file.confirmed_examples(), IsEmpty());
  file.redo();
  EXPECT_THAT(file.confirmed_examples(), ElementsAre(dog, cat));
  file.compact();
  EXPECT_THAT(RecognizerFile(path_).confirmed_examples(), ElementsAre(dog, cat));
  SqliteFile(path_).run("UPDATE confirmations SET example = 77 WHERE removed_by IS NULL AND example = 2");
  EXPECT_THAT(file.check(), ElementsAre(HasSubstr("1 confirmations of missing examples")));
}

TEST_F(RecognizerFileTest, KnowsWhenPhotosWereTakenThroughMovesAndUndo) {
  RecognizerFile file(path_);
  ClassEnrolment dogs = enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"});
  dogs.examples.taken = {std::nullopt, 1.5e9};
  file.enrol({dogs, enrolment("cat", {{5, 6}}, {"c"})});
  const auto times = [&](size_t k) { return file.snapshot().enrolled.classes[k].taken; };
  EXPECT_THAT(times(0), ElementsAre(std::nullopt, 1.5e9));
  EXPECT_THAT(times(1), IsEmpty()) << "of none it is known";
  const std::vector<ExampleInfo> listed = file.list_examples("dog");
  EXPECT_EQ(listed[1].taken, 1.5e9);
  RecognizerSnapshot followed = file.snapshot();
  file.move_examples({listed[1].id}, "cat");
  EXPECT_THAT(times(1), ElementsAre(std::nullopt, 1.5e9));
  file.refresh(followed);
  EXPECT_EQ(followed.enrolled.classes[1].taken, times(1));
  file.undo();
  EXPECT_THAT(times(0), ElementsAre(std::nullopt, 1.5e9));
  SqliteFile(path_).run("UPDATE examples SET taken = CASE id WHEN 1 THEN 'noon' ELSE 9e999 END");
  EXPECT_THAT(times(0), IsEmpty()) << "texts and infinity are unknown times";
  dogs.examples.taken = {1.0};
  EXPECT_THAT(message_of([&] { file.enrol({dogs}); }), HasSubstr("class 'dog': 1 capture times for 2 images"));
}

TEST_F(RecognizerFileTest, ACalibrationAfterCompactingIsAChangeOfItsOwn) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  file.set_calibration_with_last_change({{"factor", 1}});
  EXPECT_THAT(file.changes(), ::testing::SizeIs(1));
  file.compact();
  file.set_calibration_with_last_change({{"factor", 2}});
  EXPECT_EQ(file.calibration()->at("factor"), 2);
  EXPECT_EQ(file.last_made()->what, "calibrate");
}

TEST_F(RecognizerFileTest, ACalibrationOfNoChangeOutlivesUndo) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  file.rename_class("dog", "hound");
  file.set_calibration_for_good({{"factor", 3}});
  file.undo();
  ASSERT_TRUE(file.calibration());
  EXPECT_EQ(file.calibration()->at("factor"), 3);
}

TEST_F(RecognizerFileTest, PlacesExamplesAndUnlabelledImagesAsOneChange) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}), enrolment("cat", {{5, 6}}, {"c"})});
  file.add_unlabelled(enrolment("", {{7, 8}, {5, 6}}, {"d", "c"}).examples);
  const std::string before = all_of(file);
  const int64_t dog = file.list_examples("dog").front().id;
  const std::vector<ExampleInfo> loose = file.list_unlabelled();
  const EnrolledClass placed = file.place({{dog}, {loose[0].id, loose[1].id}}, {"cat"});
  EXPECT_EQ(placed.added, 2);
  EXPECT_EQ(placed.held, 1) << "the cats have c already";
  EXPECT_EQ(placed.now.images, 3);
  EXPECT_THAT(file.list_unlabelled(), IsEmpty());
  EXPECT_EQ(file.thumbnail(file.list_examples("cat").back().id), "JPEG of d");
  EXPECT_THAT(file.check(), IsEmpty());
  EXPECT_THAT(message_of([&] { file.place({{}, {loose[0].id}}, {"dog"}); }), HasSubstr("has no unlabelled image"));
  EXPECT_THAT(message_of([&] { file.place({{dog}, {}}, {"emu"}); }), HasSubstr("needs a description"));
  file.undo();
  EXPECT_EQ(all_of(file), before);
  EXPECT_THAT(file.list_unlabelled(), SizeIs(2));
  file.remove({{dog}, {loose[0].id}});
  EXPECT_EQ(file.last_made()->what, "remove 2 images");
  EXPECT_THAT(file.list_unlabelled(), SizeIs(1));
  file.undo();
  EXPECT_EQ(all_of(file), before);
}

TEST_F(RecognizerFileTest, WhatIsRemovedNoLongerCounts) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"}), enrolment("cat", {{5, 6}}, {"c"})});
  file.remove_examples({file.list_examples("dog").front().id});
  EXPECT_TRUE(tensor_of(file.snapshot().enrolled.classes[0].features).equal(at::tensor({3.0F, 4.0F}).view({1, 2})));
  file.remove_class("cat");
  EXPECT_THAT(file.list_examples(""), SizeIs(1));
  EXPECT_THAT(message_of([&] { file.remove_examples({2, 999}); }), HasSubstr("no example 999"));
  EXPECT_THAT(file.list_examples(""), SizeIs(1)) << "all or nothing";
  EXPECT_EQ(file.enrol({enrolment("cat", {{5, 6}}, {"c"})})[0].now.images, 1) << "a class of that name can come back";
}

TEST_F(RecognizerFileTest, CompactingForgetsWhatWasRemoved) {
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"secret", "b"})});
  file.remove_examples({file.list_examples("").front().id});
  EXPECT_THAT(read_file(path_), HasSubstr("JPEG of secret")) << "it can be undone until then";
  const std::string before = all_of(file);
  file.compact();
  EXPECT_EQ(all_of(file), before);
  EXPECT_THAT(read_file(path_), Not(HasSubstr("secret")));
  EXPECT_THAT(message_of([&] { file.undo(); }), HasSubstr("nothing to undo"));
}

/// Returns the number of pages of 4096 bytes that differ.
int64_t pages_changed(const std::string& before, const std::string& after) {
  constexpr size_t kPage = 4096;
  int64_t changed = 0;
  for (size_t at = 0; at < after.size(); at += kPage)
    changed += at >= before.size() || before.compare(at, kPage, after, at, kPage) != 0 ? 1 : 0;
  return changed;
}

TEST_F(RecognizerFileTest, AnEnrolmentWritesAsMuchAsItAddsHoweverMuchIsThere) {
  RecognizerFile file(path_);
  std::vector<int64_t> written;
  for (const int64_t images : {10, 20'000}) {
    std::vector<std::string> hashes;
    for (int64_t i = 0; i < images; ++i) hashes.push_back(fmt::format("{}-{}", images, i));
    ClassEnrolment many = enrolment(fmt::format("many {}", images), {}, hashes);
    many.examples.features = array_of(at::ones({images, 2}));
    file.enrol({many});
    const std::string before = read_file(path_);
    file.enrol({enrolment("dog", {{1, 2}}, {fmt::format("{} one more", images)})});
    written.push_back(pages_changed(before, read_file(path_)));
  }
  EXPECT_LE(written[1], 2 * written[0]);
  EXPECT_LE(written[1], 40);
}

TEST_F(RecognizerFileTest, WritersAtOnceLoseNothing) {
  constexpr int64_t kWriters = 8, kWrites = 6;
  std::vector<std::thread> writers;
  for (int64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      RecognizerFile file(path_);
      for (int64_t i = 0; i < kWrites; ++i)
        file.enrol({enrolment("dog", {{static_cast<float>(w), static_cast<float>(i)}}, {fmt::format("{}-{}", w, i)})});
    });
  }
  for (std::thread& one : writers) one.join();
  const RecognizerFile file(path_);
  EXPECT_EQ(file.find_class("dog")->images, kWriters * kWrites);
  EXPECT_THAT(file.list_classes(), SizeIs(1));
  EXPECT_THAT(file.changes(), SizeIs(kWriters * kWrites));
  EXPECT_THAT(file.check(), IsEmpty());
}

TEST_F(RecognizerFileTest, AnOpenFileSeesWhatOthersChange) {
  const RecognizerFile reader(path_);
  const int64_t before = reader.revision();
  RecognizerFile(path_).enrol({enrolment("dog", {{1, 2}}, {"a"})});
  EXPECT_NE(reader.revision(), before);
  EXPECT_THAT(reader.list_classes(), SizeIs(1));
}

TEST_F(RecognizerFileTest, IsOneFileAtRest) {
  RecognizerFile(path_).enrol({enrolment("dog", {{1, 2}}, {"a"})});
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_.path())) files.push_back(entry.path().filename().string());
  EXPECT_THAT(files, ::testing::UnorderedElementsAre("a.pcm", "backbone.npz", "model.npz"));
}

TEST_F(RecognizerFileTest, ABackboneOutsideIsFoundByItsContent) {
  write_file(folder_ / "was/net.pt", "net");
  RecognizerArtefact outside{"backbone", folder_ / "was/net.pt"};
  outside.embedded = false;
  RecognizerFile::create(folder_ / "b.pcm", small_settings(), {outside}, {});
  const RecognizerFile file(folder_ / "b.pcm");
  const auto read = [&] {
    std::string text;
    file.read_artefact("backbone", [&](const fs::path& path) { text = read_file(path); });
    return text;
  };
  EXPECT_EQ(read(), "net");
  fs::rename(folder_ / "was/net.pt", folder_ / "net.pt");
  EXPECT_EQ(read(), "net") << "beside the recognizer";
  write_file(folder_ / "net.pt", "another");
  EXPECT_THAT(message_of(read), HasSubstr("its content differs"));
  fs::remove(folder_ / "net.pt");
  EXPECT_THAT(message_of(read), HasSubstr("put it beside the recognizer"));
}

TEST_F(RecognizerFileTest, DoesNotReplaceAnother) {
  EXPECT_THAT(message_of([&] { make_file(folder_); }), HasSubstr("already there"));
}

TEST_F(RecognizerFileTest, KnowsItsOwnLastChangeFromThatOfAnother) {
  RecognizerFile own(path_), other(path_);
  EXPECT_FALSE(own.last_made());
  own.enrol({enrolment("cat", {{1, 2}}, {"x"})});
  ASSERT_TRUE(own.last_made());
  EXPECT_EQ(own.last_made()->id, own.changes(1).front().id);
  EXPECT_EQ(own.last_made()->what, own.changes(1).front().what);
  other.rename_class("cat", "dog");
  EXPECT_NE(own.last_made()->id, own.changes(1).front().id);
  EXPECT_EQ(other.last_made()->id, own.changes(1).front().id);
  own.enrol({enrolment("dog", {{1, 2}}, {"x"})});
  EXPECT_FALSE(own.last_made()) << "it was there already";
}

TEST_F(RecognizerFileTest, TellsWhyItCouldNotBeChanged) {
  const auto fault_of = [](const std::function<void()>& change) {
    try {
      change();
    } catch (const DatabaseError& error) {
      return std::make_optional(error.fault());
    }
    return std::optional<DatabaseFault>();
  };
  RecognizerFile file(path_, FileUse::kChange, std::chrono::seconds(0));
  const ClassEnrolment cat = enrolment("cat", {{1, 2}}, {"x"});
  const SqliteFile other(path_);
  other.run("BEGIN IMMEDIATE");
  EXPECT_EQ(fault_of([&] { file.enrol({cat}); }), DatabaseFault::kBusy);
  other.run("ROLLBACK");
  {
    const FileLimit full(fs::file_size(path_));
    ClassEnrolment large = cat;
    large.examples.thumbnails = {std::string(1'000'000, 'x')};
    EXPECT_EQ(fault_of([&] { file.enrol({large}); }), DatabaseFault::kFull);
  }
  EXPECT_FALSE(fault_of([&] { file.enrol({cat}); }));
  write_file(path_, std::string(10'000, 'x'));
  EXPECT_EQ(fault_of([&] { RecognizerFile again(path_); }), DatabaseFault::kDamaged);
}

TEST_F(RecognizerFileTest, ANameThatSteersTerminalsIsRefused) {
  RecognizerFile file(path_);
  for (const std::string name : {"a\x1b[2J", "a\xc2\x9b",
                                 "a\xe2\x80\xae"
                                 "b",
                                 "a\xe2\x81\xa6", "a\nb"})
    EXPECT_THAT(message_of([&] { file.enrol({enrolment(name, {}, {})}); }), HasSubstr("choose another")) << name;
  file.enrol({enrolment("Bl\xc3\xa4ss-\xd7\xa2\xd7\x95\xd7\xa3", {}, {})});
  EXPECT_THAT(message_of([&] { file.rename_class("Bl\xc3\xa4ss-\xd7\xa2\xd7\x95\xd7\xa3", "a\x7f"); }),
              HasSubstr("choose another"));
}

TEST_F(RecognizerFileTest, AnAssociationOutsideItsRangeIsRefused) {
  RecognizerFile file(path_);
  for (const float weight : {-0.5F, 5.0F, 3e38F})
    EXPECT_THAT(message_of([&] { file.enrol({enrolment("dog", {}, {}, weight)}); }), HasSubstr("outside 0 to 1"));
}

}  // namespace
}  // namespace protocom::testing
