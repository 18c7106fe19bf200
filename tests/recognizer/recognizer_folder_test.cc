#include "recognizer/recognizer_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "io/npz.h"
#include "recognizer/calibration.h"
#include "recognizer/recognizer_support.h"
#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RecognizerFolder, ComesBackAsItWas) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  ClassEnrolment dogs = enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"});
  dogs.examples.taken = {1.5e9 + 0.25, std::nullopt};
  file.enrol({dogs, enrolment("cat", {{5, 6}}, {"c"}, 0), enrolment("owl", {}, {})});
  file.confirm_examples({file.list_examples("dog")[1].id});
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
  EXPECT_EQ(back.list_examples("")[0].taken, 1.5e9 + 0.25);
  EXPECT_EQ(back.list_examples("")[1].taken, std::nullopt);
  std::string backbone;
  back.read_artefact("backbone", [&](const fs::path& path) { backbone = read_file(path); });
  EXPECT_EQ(backbone, "the backbone");
}

TEST(RecognizerFolder, WhatIsEnrolledMeanwhileIsExportedAsAWholeOrNotAtAll) {
  const TempDir folder;
  const fs::path path = make_file(folder);
  RecognizerFile(path).enrol({enrolment("first", {}, {}), enrolment("second", {{-1, -1}}, {"-1"})});
  std::atomic<bool> ended{false};
  std::thread writing([&] {
    RecognizerFile writer(path);
    for (int n = 1; !ended && n < 200; ++n) {
      const auto number = static_cast<float>(n);
      writer.enrol({enrolment("first", {{number, number}}, {std::to_string(n)})});
    }
  });
  const RecognizerFile file(path);
  int64_t wrong = 0;
  for (int round = 0; round < 3; ++round) {
    const fs::path out = folder / ("out" + std::to_string(round));
    export_recognizer(file, out);
    const auto document = nlohmann::json::parse(read_file(out / "recognizer.json"));
    const at::Tensor features = tensor_of(NpzReader(out / "examples.npz").array("features"));
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
  RecognizerFile(path).enrol({enrolment("dog", {{-1, -1}}, {"-1"})});
  std::atomic<bool> ended{false};
  std::thread writing([&] {
    RecognizerFile writer(path);
    for (int n = 0; n < 120; ++n) {
      const auto number = static_cast<float>(n);
      writer.enrol({enrolment("dog", {{number, number}}, {std::to_string(n)})});
      writer.remove_examples({writer.list_examples("dog").back().id});
    }
    ended = true;
  });
  const RecognizerFile file(path);
  int64_t wrong = 0;
  while (!ended) {
    const RecognizerContents read = file.contents();
    for (size_t i = 0; i < read.examples.size(); ++i) {
      const float feature = read.features.row(static_cast<int64_t>(i)).data<float>()[0];
      const std::string& hash = read.examples[i].hash;
      wrong += read.thumbnails[i] == "JPEG of " + hash && feature == std::stof(hash) ? 0 : 1;
    }
  }
  writing.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RecognizerFolder, WhatIsMissingOrChangedIsNamedAndNothingIsMade) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  export_recognizer(file, folder / "out");
  EXPECT_THAT(message_of([&] { export_recognizer(file, folder / "out"); }), HasSubstr("already there"));
  const auto stated = [&] { return message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }); };
  const std::string document = read_file(folder / "out/recognizer.json");
  const auto with = [&](const std::string& what, const std::string& other) {
    std::string changed = document;
    changed.replace(changed.find(what), what.size(), other);
    write_file(folder / "out/recognizer.json", changed);
    return stated();
  };
  EXPECT_THAT(with("\"dog\"", "7"), HasSubstr("recognizer.json"));
  EXPECT_THAT(with("\"backbone.npz\"", "\"../a.pcm\""), HasSubstr("outside the folder"));
  EXPECT_THAT(with("\"examples\"", "\"exhibits\""), HasSubstr("examples"));
  EXPECT_THAT(with("\"confirmed\": false", "\"confirmed\": 7"), HasSubstr("recognizer.json"));
  write_file(folder / "out/recognizer.json", document);
  write_file(folder / "out/backbone.npz", "another");
  EXPECT_THAT(stated(), HasSubstr("differs from the file that was exported"));
  EXPECT_FALSE(fs::exists(folder / "b.pcm"));
}

TEST(RecognizerFolder, OfTwoClassesThatWouldBeOneIsRefused) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolment("dog", {{1, 2}}, {"a"}), enrolment("cat", {{3, 4}}, {"b"})});
  export_recognizer(file, folder / "out");
  std::string document = read_file(folder / "out/recognizer.json");
  for (size_t at = document.find("\"cat\""); at != std::string::npos; at = document.find("\"cat\""))
    document.replace(at, 5, "\"dog \"");
  write_file(folder / "out/recognizer.json", document);
  EXPECT_THAT(message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }),
              HasSubstr("the classes 'dog' and 'dog ' have the same name"));
  EXPECT_FALSE(fs::exists(folder / "b.pcm"));
}

// The target of a link would be passed on with the recognizer.
TEST(RecognizerFolder, OfLinksIsRefused) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolment("dog", {{1, 2}}, {"a"})});
  export_recognizer(file, folder / "out");
  write_file(folder / "secret", "the secret");
  for (const char* name : {"thumbnails/0.jpg", "examples.npz", "classes.npz", "backbone.npz", "recognizer.json"}) {
    const fs::path path = folder / "out" / name, kept = folder / "kept";
    fs::rename(path, kept);
    fs::create_symlink(folder / "secret", path);
    EXPECT_THAT(message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }),
                HasSubstr(path.filename().string() + " is a symbolic link"));
    EXPECT_FALSE(fs::exists(folder / "b.pcm")) << name;
    fs::remove(path);
    fs::rename(kept, path);
  }
  fs::resize_file(folder / "out/thumbnails/0.jpg", uintmax_t{1} << 40);
  EXPECT_THAT(message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }),
              HasSubstr("0.jpg has 1048576 MiB"));
}

TEST(RecognizerFolder, OfFewerOrMoreImagesThanItListsIsRefused) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolment("dog", {{1, 2}, {3, 4}}, {"a", "b"})});
  export_recognizer(file, folder / "out");
  const auto error = [&] { return message_of([&] { import_recognizer(folder / "out", folder / "b.pcm", {}); }); };
  const std::string document = read_file(folder / "out/recognizer.json");
  nlohmann::json fewer = nlohmann::json::parse(document);
  fewer["examples"].erase(1);
  write_file(folder / "out/recognizer.json", fewer.dump());
  EXPECT_THAT(error(), HasSubstr("lists 1 images, but examples.npz has 2 rows"));
  write_file(folder / "out/recognizer.json", document);
  fs::remove(folder / "out/examples.npz");
  EXPECT_THAT(error(), HasSubstr("lists 2 images, but examples.npz is missing"));
}

std::vector<std::string> names_below(const TempDir& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / ".")) names.push_back(entry.path().filename());
  return names;
}

TEST(RecognizerFolder, AnExportThatFailsLeavesNothingAndCanBeRepeated) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  file.enrol({enrolment("dog", {{1, 2}}, {"a"}), enrolment("c\xff", {{3, 4}}, {"b"})});
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

}  // namespace
}  // namespace protocom::testing
