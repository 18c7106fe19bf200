#include "protocom/serve/recognizer_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "protocom/core/error.h"
#include "protocom/core/npz.h"
#include "protocom/serve/calibration.h"
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
  Calibration calibration;
  calibration.method = "mean";
  calibration.factor = 2;
  file.set_calibration(to_json(calibration));
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

TEST(RecognizerFolder, AClassOfMomentsLeavesTheOthersTheirImages) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolee("dog", {{1, 2}}, {"a"}), enrolee("old", {}, {}), enrolee("cat", {{3, 4}, {5, 6}}, {"b", "c"})});
  StoredClass moments;
  moments.name = "old";
  moments.count = 3;
  moments.sum = at::ones({2}, at::kDouble);
  moments.sum_squares = at::ones({2}, at::kDouble);
  moments.image_hashes = {"x", "y", "z"};
  file.add_moments(moments);
  file.enrol({enrolee("old", {{7, 8}}, {"d"})});
  export_recognizer(file, folder / "out");
  import_recognizer(folder / "out", folder / "b.pcm", {});
  const RecognizerContents was = file.contents(), is = RecognizerFile(folder / "b.pcm").contents();
  EXPECT_TRUE(is.features.equal(at::tensor({1.0F, 2.0F, 7.0F, 8.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({4, 2})));
  std::map<std::string, std::string> shown;
  for (size_t i = 0; i < is.examples.size(); ++i)
    shown[is.examples[i].hash] = is.examples[i].source + " " + is.thumbnails[i];
  EXPECT_THAT(shown, SizeIs(7));
  EXPECT_EQ(shown["c"], "photos/c.jpg JPEG of c");
  EXPECT_EQ(is.classes[1].count, 3);
  EXPECT_TRUE(is.classes[1].sum.equal(was.classes[1].sum));
  EXPECT_EQ(is.classes[0].count + is.classes[2].count, 0) << "those have features instead";
}

TEST(RecognizerFolder, WhatIsEnrolledMeanwhileIsExportedAsAWholeOrNotAtAll) {
  const TempDir folder;
  const fs::path path = make_file(folder);
  RecognizerFile(path).enrol({enrolee("first", {}, {}), enrolee("second", {{-1, -1}}, {"-1"})});
  std::atomic<bool> ended{false};
  std::thread writing([&] {
    RecognizerFile writer(path);
    for (int n = 1; !ended && n < 200; ++n) {
      const auto number = static_cast<float>(n);
      writer.enrol({enrolee("first", {{number, number}}, {std::to_string(n)})});
    }
  });
  const RecognizerFile file(path);
  int64_t wrong = 0;
  for (int round = 0; round < 3; ++round) {
    const fs::path out = folder / ("out" + std::to_string(round));
    export_recognizer(file, out);
    const auto document = nlohmann::json::parse(read_file(out / "recognizer.json"));
    const at::Tensor features = NpzReader(out / "examples.npz").tensor("features");
    const auto& examples = document.at("examples");
    if (features.size(0) != static_cast<int64_t>(examples.size())) {
      ++wrong;
      continue;
    }
    for (size_t i = 0; i < examples.size(); ++i) {
      const std::string hash = examples[i].at("hash");
      wrong += features[static_cast<int64_t>(i)][0].item<float>() == std::stof(hash) ? 0 : 1;
      wrong += read_file(out / "thumbnails" / (std::to_string(i) + ".jpg")) == "JPEG of " + hash ? 0 : 1;
    }
  }
  ended = true;
  writing.join();
  EXPECT_EQ(wrong, 0) << "a feature or a thumbnail is another image's";
}

TEST(RecognizerFolder, ItsContentsAreOfOneMomentWhateverComesAndGoes) {
  const TempDir folder;
  const fs::path path = make_file(folder);
  RecognizerFile(path).enrol({enrolee("dog", {{-1, -1}}, {"-1"})});
  std::atomic<bool> ended{false};
  std::thread writing([&] {
    RecognizerFile writer(path);
    for (int n = 0; n < 120; ++n) {
      const auto number = static_cast<float>(n);
      writer.enrol({enrolee("dog", {{number, number}}, {std::to_string(n)})});
      writer.remove_examples({writer.list_examples("dog").back().id});
    }
    ended = true;
  });
  const RecognizerFile file(path);
  int64_t wrong = 0;
  while (!ended) {
    const RecognizerContents read = file.contents();
    int64_t row = 0;
    for (size_t i = 0; i < read.examples.size(); ++i) {
      const bool whole = read.has_feature[i] && read.thumbnails[i] == "JPEG of " + read.examples[i].hash;
      wrong += whole && read.features[row][0].item<float>() == std::stof(read.examples[i].hash) ? 0 : 1;
      row += read.has_feature[i] ? 1 : 0;
    }
  }
  writing.join();
  EXPECT_EQ(wrong, 0);
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

std::vector<std::string> names_below(const TempDir& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / ".")) names.push_back(entry.path().filename());
  return names;
}

TEST(RecognizerFolder, AnExportThatFailsLeavesNothingAndCanBeRepeated) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolee("dog", {{1, 2}}, {"a"}), enrolee("c\xff", {{3, 4}}, {"b"})});
  fs::create_directory(folder / "out");
  const auto before = names_below(folder);
  EXPECT_THAT(message_of([&] { export_recognizer(file, folder / "out"); }), HasSubstr("not UTF-8"));
  EXPECT_THAT(names_below(folder), ::testing::UnorderedElementsAreArray(before));
  EXPECT_TRUE(fs::is_empty(folder / "out"));
  file.remove_class("c\xff");
  export_recognizer(file, (folder / "out").string() + "/");
  EXPECT_TRUE(fs::exists(folder / "out/recognizer.json"));
}

TEST(RecognizerFolder, ACalibrationThatIsNoneIsRefusedAndNothingIsMade) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  export_recognizer(file, folder / "out");
  const std::string document = read_file(folder / "out/recognizer.json");
  const size_t at = document.find("\"calibration\": null");
  ASSERT_NE(at, std::string::npos);
  for (const std::string wrong : {"[]", "7", "{}", "{\"method\": \"mean\"}"}) {
    std::string changed = document;
    write_file(folder / "out/recognizer.json", changed.replace(at + 15, 4, wrong));
    EXPECT_THAT(message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }),
                HasSubstr("recognizer.json: the calibration is damaged"))
        << wrong;
    EXPECT_FALSE(fs::exists(folder / "b.pcm")) << wrong;
  }
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
