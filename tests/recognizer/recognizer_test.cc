#include "recognizer/recognizer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recognizer/enrol_sources.h"
#include "recognizer/recognizer_support.h"
#include "recognizer/test_recognizer.h"
#include "support/environment.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(SmallRecognizer, EnrolsAndAnswersInAFewLines) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 30)}), request("bright", {photo("3.png", 240)})});
  const Answer answer = pets.classify(photo("4.png", 20));
  ASSERT_THAT(answer.ranking, SizeIs(2));
  EXPECT_NEAR(answer.ranking[0].probability + answer.ranking[1].probability, 1, 1e-6);
  EXPECT_FALSE(answer.none_of_these) << "nothing is said of that without a calibration";
  ASSERT_THAT(answer.nearest, SizeIs(3));
  EXPECT_EQ(answer.nearest[0].class_name, "dark");
  EXPECT_EQ(answer.nearest_note, "") << "it is the answer's class";
  EXPECT_GE(answer.nearest[0].similarity, answer.nearest[1].similarity);
}

TEST_F(SmallRecognizer, SaysOnceThatItsHeadWasFittedForAnotherNumberOfImagesAClass) {
  const std::shared_ptr<Method> head = make_method("meta-baseline:shots=2");
  head->load({{{"log_scale", array_of(at::ones({}))}}});
  write_fitted_method(folder_ / "head.npz", {head, Recognizer::open(path_).file().settings().feature_dim}, {}, {});
  RecognizerParts with_head = parts();
  with_head.model.clear();
  with_head.fitted = folder_ / "head.npz";
  create_recognizer(folder_ / "head.pcm", with_head, {});
  Recognizer pets = Recognizer::open(folder_ / "head.pcm");
  const Logged logged;
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 30)}), request("bright", {photo("3.png", 240)})});
  pets.classify(photo("4.png", 20));
  pets.classify(photo("5.png", 20));
  const std::string text = logged.text();
  const size_t first = text.find("fitted for 2 labelled images per class, found 1 to 2");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("was fitted for", first), std::string::npos) << text;
}

TEST_F(SmallRecognizer, AnswersAreThoseOfTheScorerOnTheSameFeatures) {
  Recognizer pets = Recognizer::open(path_, {"mean-fusion:gamma=3"});
  pets.enrol({request("dark", {photo("1.png", 10)}), request("bright", {photo("2.png", 240)})});
  const Array features = array_of(at::randn({4, pets.file().settings().feature_dim}));
  const StoreModel model = read_store_model(folder_ / "model.npz");
  const EnrolledClasses enrolled = pets.file().snapshot().enrolled;
  const FloatMatrix expected = probabilities(ClassScorer(enrolled, model, {"mean-fusion:gamma=3"}), features);
  const std::vector<Answer> answers = pets.classify_features(features);
  ASSERT_THAT(answers, SizeIs(4));
  for (int64_t i = 0; i < 4; ++i) {
    const Answer& answer = answers[static_cast<size_t>(i)];
    int64_t best = 0;
    const float highest = expected.row(i).maxCoeff(&best);
    EXPECT_EQ(answer.ranking[0].name, best == 0 ? "dark" : "bright");
    EXPECT_NEAR(answer.ranking[0].probability, highest, 1e-6);
  }
}

TEST_F(SmallRecognizer, AnImageInMemoryIsAnsweredAsItsFile) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10)}), request("bright", {photo("2.png", 240)})});
  const std::string file = photo("3.png", 100);
  const Image square = resize_and_crop(read_image(file), pets.file().settings().preprocessing);
  EXPECT_EQ(pets.classify(file).ranking[0].probability,
            pets.classify_features(pets.features_of({square}))[0].ranking[0].probability);
}

TEST_F(SmallRecognizer, WhatAnotherProcessEnrolsCountsFromTheNextCallOn) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10)})});
  EXPECT_THAT(pets.classify(photo("2.png", 20)).ranking, SizeIs(1));
  Recognizer::open(path_).enrol({request("bright", {photo("3.png", 240)})});
  EXPECT_THAT(pets.classify(photo("2.png", 20)).ranking, SizeIs(2));
}

TEST_F(SmallRecognizer, NeedsNothingButItsFile) {
  Recognizer::open(path_).enrol({request("cat", {photo("1.png", 10)}), request("dog", {photo("2.png", 240)})});
  for (const char* file : {"backbone.npz", "model.npz", "knowledge.npz"}) fs::remove(folder_ / file);
  const TempDir elsewhere;
  fs::rename(path_, elsewhere / "moved.pcm");
  Recognizer moved = Recognizer::open(elsewhere / "moved.pcm");
  EXPECT_THAT(moved.classify(photo("3.png", 20)).ranking, SizeIs(2));
  EnrolRequest described = request("mouse", {photo("4.png", 100)});
  described.attributes = {"tail"};
  EXPECT_EQ(moved.enrol({described}).classes[0].now.attributes.at(0).weight, 1);
}

TEST_F(SmallRecognizer, DescribesAClassByTheKnowledgeOrByWhatIsSaid) {
  Recognizer pets = Recognizer::open(path_);
  const Enrolment done = pets.enrol({request("cat", {photo("1.png", 10)})});
  EXPECT_EQ(done.classes[0].now.attributes.at(0).weight, 1);
  EXPECT_EQ(done.classes[0].now.embedding_source, "knowledge");
  EnrolRequest typo = request("mouse", {photo("2.png", 10)});
  typo.attributes = {"tial"};
  EXPECT_THAT(message_of([&] { pets.enrol({typo}); }), HasSubstr("did you mean 'tail'"));
  EXPECT_FALSE(pets.file().find_class("mouse"));
}

TEST_F(SmallRecognizer, AClassMayBeKnownByItsDescriptionAlone) {
  Recognizer pets = Recognizer::open(path_);
  EnrolRequest described = request("mouse", {});
  described.attributes = {"tail"};
  EXPECT_TRUE(pets.enrol({described}).classes[0].is_new);
  EXPECT_THAT(message_of([&] { pets.classify(photo("1.png", 10)); }), HasSubstr("class 'mouse' has no image"))
      << "mean-fusion needs one";
}

TEST_F(SmallRecognizer, AnImageThatCannotBeReadDoesNotStopTheOthers) {
  write_file(folder_ / "broken.png", "no image");
  Recognizer pets = Recognizer::open(path_);
  const Enrolment done = pets.enrol(
      {request("cat", {(folder_ / "gone.png").string(), photo("1.png", 10), (folder_ / "broken.png").string()}),
       request("dog", {photo("2.png", 200), photo("3.png", 210)}),
       request("bad", {(folder_ / "broken.png").string()})});
  EXPECT_EQ(done.given, 3);
  EXPECT_THAT(done.unreadable, SizeIs(3));
  ASSERT_THAT(done.classes, SizeIs(2)) << "a class without one image that can be read is left out";
  EXPECT_EQ(done.classes[0].added, 1);
  EXPECT_EQ(done.classes[1].added, 2);
  const std::vector<ExampleInfo> dogs = pets.file().list_examples("dog");
  EXPECT_EQ(dogs[0].source, (folder_ / "2.png").string());
  EXPECT_EQ(dogs[0].hash, hash_file(folder_ / "2.png")) << "each image goes to its own class";
  std::vector<size_t> answered;
  const auto unreadable = pets.classify({folder_ / "broken.png", folder_ / "1.png", folder_ / "2.png"},
                                        [&](size_t number, const Answer&) { answered.push_back(number); });
  EXPECT_THAT(answered, ElementsAre(1U, 2U));
  EXPECT_THAT(unreadable, SizeIs(1));
}

TEST_F(SmallRecognizer, LeavesTheFileAsItWasWhenNoImageCanBeRead) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("cat", {photo("1.png", 10)})});
  const std::string before = read_file(path_);
  write_file(folder_ / "broken.png", "no image");
  EXPECT_THAT(message_of([&] { pets.enrol({request("cat", {(folder_ / "broken.png").string()})}); }),
              HasSubstr("nothing was enrolled"));
  EXPECT_EQ(read_file(path_), before);
}

TEST_F(SmallRecognizer, KeepsAThumbnailUnlessItIsSwitchedOff) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("cat", {photo("1.png", 10)})});
  const Image kept = decode_image(pets.file().thumbnail(pets.file().list_examples("")[0].id));
  EXPECT_EQ(kept.height, kSide);
  EXPECT_NEAR(kept.rgb[0], 10, 3);
  RecognizerParts without = parts();
  without.thumbnail_side = 0;
  create_recognizer(folder_ / "private.pcm", without, {});
  Recognizer other = Recognizer::open(folder_ / "private.pcm");
  other.enrol({request("cat", {photo("1.png", 10)})});
  EXPECT_THAT(other.file().thumbnail(other.file().list_examples("")[0].id), IsEmpty());
}

TEST_F(SmallRecognizer, LooksForMomentsUnlessItIsSwitchedOff) {
  EXPECT_TRUE(RecognizerFile(path_).settings().moments);
  RecognizerParts each = parts();
  each.moments = "off";
  create_recognizer(folder_ / "each.pcm", each, {});
  EXPECT_FALSE(RecognizerFile(folder_ / "each.pcm").settings().moments);
}

TEST_F(SmallRecognizer, BatchesUseTheTransductiveMethod) {
  Recognizer::open(path_).enrol({request("dark", {photo("1.png", 10)}), request("bright", {photo("2.png", 240)})});
  RecognizerOptions options;
  options.together = true;
  Recognizer pets = Recognizer::open(path_, options);
  EXPECT_EQ(pets.method().label(), "gauss-fusion");
  int64_t answers = 0;
  pets.classify({photo("3.png", 20), photo("4.png", 230)}, [&](size_t, const Answer&) { ++answers; });
  EXPECT_EQ(answers, 2);
}

TEST_F(SmallRecognizer, RefusesAMethodBeforeItReadsImages) {
  EXPECT_THAT(usage_message_of([&] { Recognizer::open(path_, {"no-such-method"}); }), HasSubstr("no-such-method"));
  EXPECT_THAT(message_of([&] { Recognizer::open(path_).classify(photo("1.png", 1)); }),
              HasSubstr("no class is enrolled"));
}

TEST_F(SmallRecognizer, NamesThePartThatANewRecognizerLacks) {
  const auto stated = [&](const RecognizerParts& parts) {
    return usage_message_of([&] { create_recognizer(folder_ / "new.pcm", parts, {}); });
  };
  RecognizerParts incomplete = parts();
  incomplete.backbone.clear();
  const testing::Environment none("PROTOCOM_ENCODER", "nobodys-encoder");
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", incomplete, {}); }), HasSubstr("--backbone"));
  incomplete = parts();
  incomplete.model.clear();
  EXPECT_THAT(stated(incomplete), HasSubstr("a fitted method or completion model"));
  incomplete = parts();
  incomplete.knowledge.clear();
  EXPECT_THAT(stated(incomplete), HasSubstr("needs the knowledge that it was trained with"));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

TEST_F(SmallRecognizer, LeavesOutWhatATableSaysBeyondTheKnowledge) {
  fs::create_directories(folder_.path() / "photos" / "mouse");
  photo("photos/mouse/1.png", 9);
  write_file(folder_ / "attributes.csv", "class,attribute\nmouse,whiskers\nmouse,tail\nmouse,tial\n");
  std::vector<EnrolRequest> requests = requests_of_folder(folder_ / "photos");
  add_attributes_of_table(folder_ / "attributes.csv", requests);
  EXPECT_THAT(usage_message_of([&] { add_attributes_of_table(folder_ / "attributes.csv", requests); }),
              HasSubstr("class 'mouse' has attributes already"));
  Recognizer pets = Recognizer::open(path_);
  const Logged logged;
  pets.enrol(requests);
  EXPECT_THAT(logged.text(), HasSubstr("ignoring unknown attribute 'tial'; did you mean 'tail'?"));
  EXPECT_THAT(logged.text(), HasSubstr("ignoring unknown attributes (1): 'whiskers'"));
  EXPECT_EQ(pets.file().find_class("mouse")->attributes.at(0).weight, 1);
  requests.front().unknown = UnknownAttribute::kRefuse;
  EXPECT_THAT(message_of([&] { pets.enrol(requests); }), HasSubstr("unknown attribute 'whiskers'"));
}

TEST_F(SmallRecognizer, EnrolsFeaturesAsTheImagesThatTheyAreOf) {
  Recognizer pets = Recognizer::open(path_);
  FeatureSet set;
  set.features = pets.features_of(
      {read_image(photo("1.png", 10)), read_image(photo("2.png", 240)), read_image(photo("3.png", 30))});
  set.labels = {0, 2, 0};
  set.class_names = {"dark", "empty", "bright"};
  set.image_ids = {"1", "2", "3"};
  const Enrolment done = pets.enrol(requests_of_features(set, ""));
  EXPECT_EQ(done.given, 3);
  ASSERT_THAT(done.classes, SizeIs(2)) << "a class without an image is none";
  EXPECT_EQ(pets.file().list_examples("dark")[1].source, "3");
  EXPECT_EQ(pets.file().list_examples("dark")[1].hash, hash_of_feature(set.features.row(2)));
  EXPECT_EQ(hash_of_feature(pets.file().snapshot().enrolled.classes[0].features.row(1)),
            hash_of_feature(set.features.row(2)));
  EXPECT_EQ(pets.classify(photo("4.png", 235)).ranking[0].name, "bright");
  EXPECT_EQ(pets.enrol(requests_of_features(set, "dark")).classes[0].added, 1) << "two of the three are there";
  EnrolRequest wrong;
  wrong.name = "dark";
  wrong.examples = examples_of_features(array_of(at::ones({1, 3})));
  EXPECT_THAT(message_of([&] { pets.enrol({wrong}); }), HasSubstr("expected features of the shape"));
}

TEST_F(SmallRecognizer, SaysOnceThatItsCalibrationWasMadeWithOtherClasses) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 20), photo("3.png", 30)}),
              request("bright", {photo("4.png", 230), photo("5.png", 240), photo("6.png", 250)})});
  CalibrationOptions options;
  options.false_accept = 0.4;
  pets.calibrate({}, options);
  const Logged logged;
  pets.classify(photo("7.png", 15));
  EXPECT_THAT(logged.text(), IsEmpty());
  pets.file().rename_class("dark", "night");
  pets.classify(photo("7.png", 15));
  EXPECT_THAT(logged.text(), IsEmpty()) << "the same class under another name";
  pets.file().remove_class("night");
  pets.enrol({request("grey", {photo("8.png", 120), photo("9.png", 130)})});
  for (int i = 0; i < 2; ++i) pets.classify(photo("7.png", 15));
  const std::string text = logged.text();
  const size_t first = text.find("was made with 2 classes, different from the 2");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("was made with", first + 1), std::string::npos) << text;
}

TEST_F(SmallRecognizer, CalibratesOnTheOthersThatCanBeRead) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 20)}),
              request("bright", {photo("4.png", 230), photo("5.png", 240)})});
  write_file(folder_ / "broken.png", "no image");
  std::vector<fs::path> others = {folder_ / "broken.png"};
  for (int i = 0; i < 3; ++i) others.emplace_back(photo(std::to_string(i) + "o.png", static_cast<uint8_t>(100 + i)));
  CalibrationOptions options;
  options.false_accept = 0.3;
  EXPECT_THAT(message_of([&] { pets.calibrate(others, options); }), HasSubstr("broken.png"));
  std::vector<UnreadableFile> unreadable;
  EXPECT_EQ(pets.calibrate(others, options, Progress::none(), &unreadable).unknown, 3);
  EXPECT_THAT(unreadable, SizeIs(1));
}

TEST_F(SmallRecognizer, ChecksItsCalibrationAsClassifyReadsIt) {
  RecognizerFile file(path_);
  file.set_calibration({{"method", "mean-fusion"}, {"factor", -1}});
  EXPECT_THAT(file.check(), ElementsAre(HasSubstr("the calibration is damaged")));
}

TEST_F(SmallRecognizer, WarnsWhereTheImagesOfABatchAreNearlyAllOfOneClass) {
  Recognizer::open(path_).enrol({request("dark", {photo("1.png", 10)}), request("bright", {photo("2.png", 240)})});
  RecognizerOptions options;
  options.together = true;
  Recognizer pets = Recognizer::open(path_, options);
  ASSERT_EQ(pets.method().label(), "gauss-fusion");
  std::vector<fs::path> dark, both;
  for (uint8_t i = 0; i < 6; ++i) dark.emplace_back(photo(std::to_string(i) + "d.png", static_cast<uint8_t>(5 + i)));
  both.assign(dark.begin(), dark.begin() + 3);
  for (uint8_t i = 0; i < 3; ++i) both.emplace_back(photo(std::to_string(i) + "b.png", static_cast<uint8_t>(235 + i)));
  const auto nothing = [](size_t, const Answer&) {};
  {
    const Logged logged;
    pets.classify(both, nothing);
    EXPECT_THAT(logged.text(), IsEmpty());
  }
  const Logged logged;
  pets.classify(dark, nothing);
  EXPECT_THAT(logged.text(),
              HasSubstr("classified independently, 100 % of the 6 images are 'dark', but gauss-fusion assumes "
                        "about 50 % of each class"));
}

TEST_F(SmallRecognizer, EnrolsTheClassesOfAFolderOrATableInOneChange) {
  for (const char* name : {"cat", "dog", "mouse"}) {
    fs::create_directories(folder_.path() / "photos" / name);
    photo(std::string("photos/") + name + "/1.png", static_cast<uint8_t>(name[0]));
  }
  write_file(folder_ / "attributes.csv", "class,attribute,weight\nmouse,tail,0.5\ndog,,\n");
  photo("photos/nobody.png", 9);
  fs::create_directories(folder_.path() / "photos/.thumbnails");
  photo("photos/.thumbnails/1.png", 9);
  std::vector<EnrolRequest> requests = requests_of_folder(folder_ / "photos");
  add_attributes_of_table(folder_ / "attributes.csv", requests);
  Recognizer pets = Recognizer::open(path_);
  EXPECT_EQ(pets.enrol(requests).skipped.describe(),
            "2 files are ignored: 1 beside the class folders, 1 in a hidden folder");
  EXPECT_THAT(pets.file().list_classes(), SizeIs(3));
  EXPECT_EQ(pets.file().find_class("mouse")->attributes.at(0).weight, 0.5);
  EXPECT_THAT(pets.file().changes(), SizeIs(1));
  write_file(folder_ / "images.csv",
             "class,image\nowl,photos/cat/1.png\nowl,photos/dog/1.png\ncat,photos/mouse/1.png\n");
  pets.enrol(requests_of_csv(folder_ / "images.csv"));
  EXPECT_EQ(pets.file().find_class("owl")->images, 2);
  EXPECT_EQ(pets.file().find_class("cat")->images, 2);
  EXPECT_THAT(message_of([&] { requests_of_folder(folder_ / "photos/cat"); }), HasSubstr("a subfolder of images"));
}

TEST_F(SmallRecognizer, CountsFilmsBesideTheClassFolders) {
  fs::create_directories(folder_ / "photos/cat");
  photo("photos/cat/1.png", 9);
  for (const char* name : {"photos/a.mp4", "photos/b.MOV", "photos/cat/c.avi"}) write_file(folder_ / name, "x");
  EXPECT_THAT(Recognizer::open(path_).enrol(requests_of_folder(folder_ / "photos")).skipped.describe(),
              AllOf(HasSubstr("3 files are ignored: 1 .avi, 1 .mov beside the class folders, 1 .mp4 beside"),
                    HasSubstr("ffmpeg -i 'FILM'")));
}

TEST_F(SmallRecognizer, NamesTheRowsOfBoxesOutsideTheirPhotos) {
  fs::create_directories(folder_ / "photos/cat");
  photo("photos/cat/1.png", 9);
  const std::string rows = "image,x,y,width,height\n1.png,0,0,4,4\n1.png,5000,0,9,9\n";
  write_file(folder_ / "boxes.csv", rows);
  EnrolSources sources;
  sources.folder = folder_ / "photos";
  sources.boxes.file = folder_ / "boxes.csv";
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("cat", {photo("2.png", 30)})});
  const auto named = ElementsAre(
      Field(&UnreadableFile::reason, AllOf(HasSubstr("boxes.csv:3: "), HasSubstr("1.png#xywh=5000,0,9,9: a box"))));
  EXPECT_THAT(test_recognizer(pets, labelled_images(sources, pets.file())).unreadable, named);
  EXPECT_THAT(pets.enrol(requests_of_sources(sources, pets)).unreadable, named);
}

TEST_F(SmallRecognizer, FeaturesInTheFileThatAreTooLargeAreAnErrorAndNoAnswer) {
  Recognizer recognizer = Recognizer::open(path_);
  recognizer.enrol({request("dark", {photo("1.png", 10), photo("2.png", 20)})});
  std::string huge;  // 3e38 each
  for (int64_t i = 0; i < recognizer.file().settings().feature_dim; ++i) huge += "99766f7f";
  SqliteFile(path_).run("UPDATE examples SET feature = x'" + huge + "'");
  EXPECT_THAT(message_of([&] { Recognizer::open(path_).classify(photo("3.png", 15)); }),
              AllOf(HasSubstr("pets.pcm"), HasSubstr("class 'dark' is damaged"), HasSubstr("more than 1e+08")));
}

}  // namespace
}  // namespace protocom::testing
