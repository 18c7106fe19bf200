#include "recognizer/create_recognizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/progress.h"
#include "recognizer/recognizer_folder.h"
#include "recognizer/recognizer_support.h"
#include "recognizer/renew_recognizer.h"
#include "support/labelled.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Parts of a recognizer with a method that was fitted on knowledge of embeddings of 8 numbers, "toy.npz".
class RecognizerToMake : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    ToyWorldOptions options;
    options.base = 30;
    options.dim = RecognizerFile(path_).settings().feature_dim;
    const ToyWorld world = toy_world(options);
    knowledge_ = world.knowledge;
    write("toy.npz", knowledge_);
    FitInputs inputs;
    inputs.knowledge_use = KnowledgeUse::kAlways;
    const at::Tensor labels = at::tensor(world.features.labels, at::kLong);
    const at::Tensor base = labels.lt(options.base).nonzero().flatten();
    inputs.base = labelled(tensor_of(world.features.features).index_select(0, base), labels.index_select(0, base));
    inputs.knowledge = &world.knowledge;
    inputs.class_names = &world.features.class_names;
    fitted_ = {make_method("sem-align:semantics=words:steps=2"), options.dim, {}};
    fitted_.method->fit(inputs);
    write_fitted(hash_file(folder_ / "toy.npz"));
  }

  void write(const std::string& name, const Knowledge& knowledge) const {
    write_knowledge(folder_ / name, knowledge, {}, nlohmann::json::object());
  }

  /// Writes "fitted.npz" for knowledge of that hash; of unknown knowledge for an empty hash.
  void write_fitted(const std::string& hash) const {
    write_fitted_method(folder_ / "fitted.npz", fitted_, of(hash), {});
  }

  static Provenance of(const std::string& hash) {
    Provenance provenance;
    if (!hash.empty()) provenance.inputs["knowledge"] = hash;
    return provenance;
  }

  RecognizerParts fitted_parts(const std::string& knowledge) const {
    RecognizerParts made = parts();
    made.model.clear();
    made.fitted = folder_ / "fitted.npz";
    made.knowledge = folder_ / knowledge;
    return made;
  }

  /// Returns what is logged while one is made.
  std::string logged_of(const RecognizerParts& made) const {
    const Logged logged;
    create_recognizer(folder_ / "new.pcm", made, {});
    fs::remove(folder_ / "new.pcm");
    return logged.text();
  }

  Knowledge knowledge_;
  FittedMethod fitted_;
};

TEST_F(RecognizerToMake, IsRefusedWhereAMethodWasFittedOnDescriptionsOfAnotherSize) {
  knowledge_.class_embedding = array_of(tensor_of(knowledge_.class_embedding).slice(1, 0, 4).contiguous());
  knowledge_.attribute_embedding = array_of(tensor_of(knowledge_.attribute_embedding).slice(1, 0, 4).contiguous());
  write("narrow.npz", knowledge_);
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", fitted_parts("narrow.npz"), {}); }),
              AllOf(HasSubstr("narrow.npz does not fit "), HasSubstr("fitted.npz: "),
                    HasSubstr("fitted on descriptions of 8 dimensions"), HasSubstr("found 4")));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

TEST_F(RecognizerToMake, WarnsWhereAMethodWasFittedWithAnotherKnowledgeOfTheSameSize) {
  EXPECT_THAT(logged_of(fitted_parts("toy.npz")), Not(HasSubstr("another knowledge")));
  knowledge_.attributes.front() = "renamed";
  write("renamed.npz", knowledge_);
  EXPECT_THAT(logged_of(fitted_parts("renamed.npz")),
              AllOf(HasSubstr("fitted.npz was fitted with another knowledge than "),
                    HasSubstr("renamed.npz (hash " + hash_file(folder_ / "toy.npz") + " there, " +
                              hash_file(folder_ / "renamed.npz") + " here)"),
                    HasSubstr("fit again, or give the file that it was fitted with")));
  write_fitted("");
  EXPECT_THAT(logged_of(fitted_parts("renamed.npz")), Not(HasSubstr("another knowledge")))
      << "nobody knows what it was fitted with";
}

TEST_F(RecognizerToMake, KeepsWhatPeopleCallAttributes) {
  const std::vector<std::string> names = knowledge_.attributes;
  knowledge_.titles = {{names[0], "wing"}, {names[1], "tail, tail end"}, {names[2], "tail, dock"}, {"toy0", "a toy"}};
  write("titled.npz", knowledge_);
  create_recognizer(folder_ / "new.pcm", fitted_parts("titled.npz"), {});
  const RecognizerFile file(folder_ / "new.pcm");
  const RecognizerSettings& settings = file.settings();
  EXPECT_EQ(settings.word_for(names[0]), "wing");
  EXPECT_EQ(settings.word_for(names[1]), "tail (" + names[1] + ")") << "another is a tail, too";
  EXPECT_EQ(settings.word_for(names[2]), "tail (" + names[2] + ")");
  EXPECT_EQ(settings.word_for(names[3]), names[3]);
  EXPECT_EQ(settings.words.size(), 3U);
}

/// Returns vectors of "cat", "dog" and "owl" as from a text encoder in the space of the backbone.
Knowledge texts_of(int64_t dim) {
  Knowledge texts;
  texts.classes = {"cat", "dog", "owl"};
  texts.association = array_of(at::zeros({3, 0}));
  texts.class_embedding = array_of(at::randn({3, dim}));
  texts.attribute_embedding = array_of(at::zeros({0, dim}));
  return texts;
}

TEST_F(RecognizerToMake, TellsClassesApartByTextsOfItsBackbonesOwnTextEncoder) {
  write("texts.npz", texts_of(fitted_.feature_dim));
  RecognizerParts made = parts();
  made.model.clear();
  made.knowledge = folder_ / "texts.npz";
  create_recognizer(folder_ / "new.pcm", made, {});
  const std::string asked = photo("asked.png", 90);
  Recognizer pets = Recognizer::open(folder_ / "new.pcm");
  const Logged logged;
  pets.enrol({request("cat", {}), request("owl", {})});
  EXPECT_EQ(pets.classify(asked).ranking.size(), 2U) << "without a photo";
  pets.enrol({request("cat", {photo("1.png", 10), photo("2.png", 30)}), request("dog", {photo("3.png", 200)})});
  const Answer answer = pets.classify(asked);
  ASSERT_EQ(answer.ranking.size(), 3U) << "one of them without a photo";
  for (const auto& candidate : answer.ranking) EXPECT_TRUE(std::isfinite(candidate.probability)) << candidate.name;
  EXPECT_THAT(logged.text(), Not(HasSubstr("attribute")));
  pets.enrol({request("yak", {photo("4.png", 120)})});
  EXPECT_THAT(logged.text(), HasSubstr("class 'yak' has no vector in the knowledge"));
}

TEST_F(RecognizerToMake, RefusesTextsOfAnotherEncoder) {
  write("texts.npz", texts_of(fitted_.feature_dim + 1));
  RecognizerParts made = parts();
  made.model.clear();
  made.knowledge = folder_ / "texts.npz";
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", made, {}); }),
              AllOf(HasSubstr("by the backbone's own text encoder"), HasSubstr("texts.npz has ")));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

TEST_F(RecognizerToMake, LearnsFromUnlabelledPhotosToo) {
  RecognizerParts made = parts();
  made.model.clear();
  made.knowledge.clear();
  const std::string asked = photo("asked.png", 90);
  const auto familiarity = [&] {
    create_recognizer(folder_ / "new.pcm", made, {});
    Recognizer pets = Recognizer::open(folder_ / "new.pcm");
    pets.enrol({request("cat", {photo("1.png", 10), photo("2.png", 30)}), request("dog", {photo("3.png", 200)})});
    const double found = pets.classify(asked).familiarity;
    fs::remove(folder_ / "new.pcm");
    return found;
  };
  const double alone = familiarity();
  for (int i = 0; i < 8; ++i) made.unlabelled.emplace_back(photo(fmt::format("u{}.png", i), 20 + 25 * i));
  EXPECT_NE(familiarity(), alone);
  std::ofstream(folder_ / "broken.png") << "no image";
  made.unlabelled = {(folder_ / "broken.png").string()};
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", made, {}); }),
              HasSubstr("none of the unlabelled images"));
}

TEST_F(RecognizerToMake, RefusesUnlabelledPhotosWhereTheSpaceDoesNotFollowPhotos) {
  RecognizerParts made = fitted_parts("toy.npz");
  made.unlabelled = {photo("1.png", 10)};
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", made, {}); }),
              HasSubstr("no effect on the fixed space of a fitted method"));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

TEST_F(RecognizerToMake, SaysTheSameOfACompletionModel) {
  RecognizerParts made = parts();
  EXPECT_THAT(logged_of(made), Not(HasSubstr("another knowledge")));
  write_completion_model(made.model, *read_store_model(made.model).completion, of("another"), {});
  EXPECT_THAT(logged_of(made), AllOf(HasSubstr("model.npz was trained with another knowledge than "),
                                     HasSubstr("knowledge.npz (hash another there, "), HasSubstr("train again")));
  made.knowledge = folder_ / "toy.npz";
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", made, {}); }),
              AllOf(HasSubstr("toy.npz: embeddings of 8 dimensions, "), HasSubstr("model.npz expects 2")));
}

TEST_F(RecognizerToMake, NamesTheFilesWhereTheBackboneIsAnother) {
  fitted_.feature_dim += 1;
  write_fitted("");
  EXPECT_THAT(message_of([&] { create_recognizer(folder_ / "new.pcm", fitted_parts("toy.npz"), {}); }),
              AllOf(HasSubstr("backbone.npz: features of "), HasSubstr("fitted.npz expects ")));
}

TEST_F(RecognizerToMake, SaysNoneOfTheseFromTheFirstAndIsUndoneWithIt) {
  for (const char* name : {"dark", "bright", "None"}) fs::create_directories(folder_ / "photos" / name);
  for (int i = 0; i < 5; ++i) {
    photo(fmt::format("photos/dark/{}.png", i), static_cast<uint8_t>(7 * i));
    photo(fmt::format("photos/bright/{}.png", i), static_cast<uint8_t>(220 + 7 * i));
    photo(fmt::format("photos/None/{}.png", i), static_cast<uint8_t>(110 + 7 * i));
  }
  RecognizerParts made;
  made.backbone = folder_ / "backbone.npz";
  made.images = folder_ / "photos";
  const Logged logged;
  create_recognizer(folder_ / "with.pcm", made, {});
  EXPECT_THAT(logged.text(), HasSubstr("the folder 'None' is not a class: its 5 photos set the threshold"));
  Recognizer with = Recognizer::open(folder_ / "with.pcm");
  EXPECT_EQ(with.class_names().size(), 2U);
  ASSERT_TRUE(with.calibration());
  EXPECT_TRUE(with.calibration()->balanced);
  EXPECT_EQ(with.calibration()->unknown, 5);

  fs::remove_all(folder_ / "photos/None");
  create_recognizer(folder_ / "new.pcm", made, {});
  Recognizer alone = Recognizer::open(folder_ / "new.pcm");
  ASSERT_TRUE(alone.calibration());
  EXPECT_FALSE(alone.calibration()->similar);
  EXPECT_EQ(alone.calibration()->factor, 1) << "probabilities stay as they were";
  EXPECT_TRUE(alone.classify(folder_ / "photos/dark/0.png").none_of_these);
  EXPECT_EQ(alone.file().changes(9).size(), 1U);
  alone.file().undo();
  EXPECT_FALSE(alone.file().calibration());
  EXPECT_TRUE(alone.file().list_classes().empty());
  alone.file().redo();
  EXPECT_TRUE(alone.file().calibration());
}

TEST_F(RecognizerToMake, GivesEveryPhotoOneOfTheClassesWhereTheyAreTooFew) {
  for (const char* name : {"dark", "bright"}) fs::create_directories(folder_ / "photos" / name);
  photo("photos/dark/1.png", 10);
  photo("photos/bright/1.png", 240);
  RecognizerParts made;
  made.backbone = folder_ / "backbone.npz";
  made.images = folder_ / "photos";
  create_recognizer(folder_ / "new.pcm", made, {});
  EXPECT_FALSE(Recognizer::open(folder_ / "new.pcm").calibration());
}

TEST_F(RecognizerToMake, TakesTheSpaceThatLiesInTheFolderOfItsEncoder) {
  fs::create_directory(folder_ / "encoder");
  fs::copy(folder_ / "backbone.npz", folder_ / "encoder/backbone.npz");
  FittedMethod space = {make_method("plda"), fitted_.feature_dim, {}};
  at::manual_seed(1);
  const at::Tensor labels = at::arange(5).repeat_interleave(8);
  FitInputs inputs;
  const at::Tensor means = at::randn({5, space.feature_dim}).index_select(0, labels);
  inputs.base = labelled(means + 0.3 * at::randn({40, space.feature_dim}), labels);
  space.method->fit(inputs);
  write_fitted_method(folder_ / "encoder/space.npz", space, {}, {});
  RecognizerParts made;
  made.backbone = folder_ / "encoder";
  EXPECT_THAT(logged_of(made), AllOf(HasSubstr("using "), HasSubstr("space.npz")));

  const auto scores = [&](const RecognizerParts& parts) {
    create_recognizer(folder_ / "new.pcm", parts, {});
    Recognizer pets = Recognizer::open(folder_ / "new.pcm");
    pets.enrol({request("cat", {photo("1.png", 10), photo("2.png", 30)}), request("dog", {photo("3.png", 200)})});
    const double probability = pets.classify(photo("asked.png", 90)).ranking.front().probability;
    fs::remove(folder_ / "new.pcm");
    return probability;
  };
  RecognizerParts apart;
  apart.backbone = folder_ / "backbone.npz";
  const double without = scores(apart);
  apart.space = folder_ / "encoder/space.npz";
  EXPECT_EQ(scores(made), scores(apart));
  EXPECT_NE(scores(made), without);
}

TEST_F(SmallRecognizer, AnEncoderOfSeveralFilesMayStayOutsideAsOneBesideTheRecognizer) {
  const at::Tensor weights = at::arange(6 * 3, at::kFloat).cos().view({6, 3, 1, 1});
  write_file(folder_ / "encoder/weights.bin",
             std::string_view(static_cast<const char*>(weights.data_ptr()), weights.nbytes()));
  OnnxWriter encoder;
  encoder.input("images", {-1, 3, kSide, kSide});
  encoder.outside("weights", weights, {{"location", "weights.bin"}});
  encoder.node("Conv", {"images", "weights"}, {"maps"});
  encoder.output("maps", {-1, 6, kSide, kSide});
  write_file(folder_ / "encoder/model.onnx", encoder.bytes());
  RecognizerParts parts;
  parts.backbone = folder_ / "encoder/model.onnx";
  parts.preprocessing = "plain:size=16";
  parts.backbone_inside = false;
  const fs::path mine = folder_ / "mine.pcm", beside = folder_ / "mine.pcm.backbone.onnx";
  write_file(beside, "precious");
  EXPECT_THAT(message_of([&] { create_recognizer(mine, parts, {}); }), HasSubstr("is already there"));
  EXPECT_FALSE(fs::exists(mine));
  fs::remove(beside);
  create_recognizer(mine, parts, {});
  fs::remove_all(folder_ / "encoder");
  Recognizer recognizer = Recognizer::open(mine);
  EXPECT_FALSE(recognizer.file().artefact("backbone")->embedded);
  EXPECT_EQ(
      recognizer.enrol({request("cat", {photo("1.png", 10)}), request("dog", {photo("2.png", 200)})}).classes.size(),
      2U);
  fs::remove(mine);
  fs::remove(beside);
  parts.images = folder_ / "no such folder";
  EXPECT_THROW(create_recognizer(mine, parts, {}), Error);
  EXPECT_FALSE(fs::exists(beside));
}

/// Six photos of each of two classes, and a table of their visits.
class MomentsOfATable : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    for (int i = 0; i < 6; ++i) {
      for (const auto& [name, grey] : {std::pair("dark", 10), {"bright", 240}}) {
        fs::create_directories(folder_ / "photos" / name);
        photo(fmt::format("photos/{}/{}.png", name, i), static_cast<uint8_t>(grey == 10 ? 10 + 15 * i : 240 - 15 * i));
      }
    }
    table("visit", "");
  }

  /// Writes two photos of each class per visit; `last`: the visit of the last photo.
  void table(const std::string& column, const std::string& last) const {
    std::string rows = "image,class," + column + "\n";
    for (const char* name : {"dark", "bright"}) {
      for (int i = 0; i < 6; ++i)
        rows += fmt::format("{0}/{1}.png,{0},{2}\n", name, i, i == 5 && !last.empty() ? last : std::to_string(i / 2));
    }
    write_file(folder_ / "visits.csv", rows);
  }

  RecognizerParts by(const std::string& moments) const {
    RecognizerParts made;
    made.backbone = folder_ / "backbone.npz";
    made.images = folder_ / "photos";
    made.moments = moments;
    return made;
  }

  int64_t moments_of(const RecognizerParts& parts) const {
    fs::remove(folder_ / "new.pcm");
    create_recognizer(folder_ / "new.pcm", parts, {});
    return moments_in("new.pcm");
  }
  int64_t moments_in(const char* name) const { return Recognizer::open(folder_ / name).expected_accuracy().moments; }
};

TEST_F(MomentsOfATable, AreThoseOfItsColumn) {
  const std::string column = (folder_ / "visits.csv").string() + ":visit";
  EXPECT_EQ(moments_of(by("off")), 12);
  EXPECT_EQ(moments_of(by(column)), 6);
  export_recognizer(RecognizerFile(folder_ / "new.pcm"), folder_ / "moved");
  import_recognizer(folder_ / "moved", folder_ / "moved.pcm", {});
  EXPECT_EQ(moments_in("moved.pcm"), 6);
  RenewalParts same;
  same.parts.backbone = folder_ / "backbone.npz";
  renew_recognizer(folder_ / "new.pcm", folder_ / "renewed.pcm", same, {});
  EXPECT_EQ(moments_in("renewed.pcm"), 6);
  Recognizer grown = Recognizer::open(folder_ / "new.pcm");
  EXPECT_EQ(grown.expected_accuracy().moments, 6);
  grown.enrol({request("dark", {photo("later.png", 130)})});
  EXPECT_EQ(grown.expected_accuracy().moments, 7);
  grown.file().undo();
  EXPECT_EQ(grown.expected_accuracy().moments, 6);
  RecognizerParts fitted = parts();
  fitted.images = folder_ / "photos";
  fitted.moments = column;
  EXPECT_EQ(moments_of(fitted), 6) << "a method that does not follow its photos";
}

TEST_F(MomentsOfATable, AreInTheTableOfTheImagesToo) {
  std::string rows = "file_name,label,visit\n";
  for (const char* name : {"dark", "bright"}) {
    for (int i = 0; i < 6; ++i) {
      fs::rename(folder_ / fmt::format("photos/{}/{}.png", name, i), folder_ / fmt::format("photos/{}{}.png", name, i));
      rows += fmt::format("{0}{1}.png,{0},{2}\n", name, i, i / 2);
    }
    fs::remove(folder_ / "photos" / name);
  }
  write_file(folder_ / "photos/metadata.csv", rows);
  EXPECT_EQ(moments_of(by("visit")), 6);
}

TEST_F(MomentsOfATable, AreFoundWhereItSaysNothing) {
  const std::string column = (folder_ / "visits.csv").string() + ":visit";
  table("visit", " ");
  const Logged logged;
  EXPECT_EQ(moments_of(by(column)), 8) << "of each class three visits and one photo";
  EXPECT_THAT(logged.text(),
              HasSubstr("visits.csv: 2 of 12 photos have no 'visit': their moments are found by similarity"));
}

TEST_F(MomentsOfATable, AreFoldersOfSequencesToo) {
  const auto move = [&](const std::string& from, const std::string& to) {
    fs::create_directories((folder_ / "photos" / to).parent_path());
    fs::rename(folder_ / "photos" / from, folder_ / "photos" / to);
  };
  const Logged logged;
  move("dark/0.png", "dark/visit1/0.png"), move("dark/1.png", "dark/visit1/1.png");
  EXPECT_EQ(moments_of(by("auto")), 12) << "a single one";
  EXPECT_THAT(message_of([&] { moments_of(by("visit")); }), HasSubstr("unknown --moments"));
  move("dark/2.png", "dark/Visit_2/2.png"), move("dark/3.png", "dark/Visit_2/3.png");
  EXPECT_EQ(moments_of(by("auto")), 10) << "others in the class are their own";
  EXPECT_THAT(logged.text(), HasSubstr("each folder of a sequence counts as one moment, 2 in all, such as"));
  move("bright/0.png", "bright/male/0.png"), move("bright/1.png", "bright/male/1.png");
  move("bright/2.png", "bright/2024/2.png"), move("bright/3.png", "bright/2024/3.png");
  EXPECT_EQ(moments_of(by("auto")), 10) << "not named as a sequence";
  EXPECT_EQ(moments_of(by("folder")), 8);
  EXPECT_EQ(moments_of(by("off")), 12);
}

TEST_F(MomentsOfATable, AreDoubtedWhereThePhotosOfEachClassAreNearlyTheSame) {
  const auto doubted = [&](const std::string& moments) {
    moments_of(by(moments));
    return Recognizer::open(folder_ / "new.pcm").expected_accuracy().nearly_same;
  };
  for (int i = 0; i < 6; ++i) {
    photo(fmt::format("photos/dark/{}.png", i), static_cast<uint8_t>(10 + i));
    photo(fmt::format("photos/bright/{}.png", i), static_cast<uint8_t>(240 - i));
  }
  EXPECT_EQ(doubted("auto"), 2);
  EXPECT_EQ(doubted("off"), 0);
  EXPECT_EQ(doubted((folder_ / "visits.csv").string() + ":visit"), 0);
}

TEST_F(MomentsOfATable, NeedAColumnThatIsThere) {
  const std::string file = (folder_ / "visits.csv").string();
  const auto refused = [&](const std::string& moments) { return message_of([&] { moments_of(by(moments)); }); };
  EXPECT_THAT(refused(file + ":day"), AllOf(HasSubstr("visits.csv"), HasSubstr("day")));
  EXPECT_THAT(refused("visit"),
              HasSubstr("unknown --moments 'visit': expected auto, off, folder, TABLE.csv:COLUMN or a column of"));
  EXPECT_THAT(refused("gone.csv:visit"), HasSubstr("gone.csv"));
  EXPECT_THAT(refused("folder"), HasSubstr("expected a subfolder of each class for each moment"));
  write_file(folder_ / "visits.csv", "image,visit\nother.png,1\n");
  EXPECT_THAT(refused(file + ":visit"),
              HasSubstr("expected the moments of 12 photos in the column 'visit', found none"));
  RecognizerParts without = by(file + ":visit");
  without.images.clear();
  EXPECT_THAT(message_of([&] { moments_of(without); }), HasSubstr("give --images"));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
}

/// Looks at the recognizer's place, and makes another one there, while the photos are encoded.
class SecondMaker : public Progress {
 public:
  SecondMaker(fs::path path, RecognizerParts parts) : path_(std::move(path)), parts_(std::move(parts)) {}
  void advance(int64_t /*done*/, std::string_view /*detail*/) override {
    was_there_ = was_there_ || fs::exists(path_);
    refusal_ = message_of([&] { create_recognizer(path_, parts_, {}); });
  }

  bool was_there_ = false;
  std::string refusal_;

 private:
  fs::path path_;
  RecognizerParts parts_;
};

TEST_F(RecognizerToMake, IsAtItsPlaceOnceItHasItsPhotos) {
  RecognizerParts made = parts();
  made.images = folder_ / "photos";
  for (const char* name : {"cat", "dog"}) {
    fs::create_directories(made.images / name);
    photo(std::string("photos/") + name + "/1.png", name[0]);
  }
  SecondMaker second(folder_ / "new.pcm", parts());
  const auto enrolled = create_recognizer(folder_ / "new.pcm", made, {}, second);
  ASSERT_TRUE(enrolled);
  EXPECT_FALSE(second.was_there_) << "a killed process would leave it without photos";
  EXPECT_THAT(second.refusal_, HasSubstr("another protocom process is writing"));
  EXPECT_EQ(RecognizerFile(folder_ / "new.pcm").list_classes().size(), 2U);
}

}  // namespace
}  // namespace protocom::testing
