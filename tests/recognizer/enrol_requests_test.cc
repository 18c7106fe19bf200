#include "recognizer/enrol_requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "datasets/xmp_keywords.h"
#include "images/image_files.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

fs::path put(const fs::path& path, const std::string& text = "x") {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path;
}

std::vector<std::string> names_of(const std::vector<EnrolRequest>& requests) {
  std::vector<std::string> names;
  for (const EnrolRequest& one : requests) names.push_back(one.name);
  return names;
}

TEST(EnrolRequests, OfAFolderOfSplitsAreRefusedWithOneOfThem) {
  for (const char* splits : {"train val test", "Train Test", "support query", "training dev"}) {
    const TempDir root;
    std::istringstream words(splits);
    for (std::string word; words >> word;) put(root / word / "cat" / "1.jpg");
    EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }),
                AllOf(HasSubstr("are splits, not classes"), HasSubstr("give one of them (" + root.path().string())))
        << splits;
  }
}

TEST(EnrolRequests, OfAFolderWhoseListCannotBeReadAreToldWhy) {
  const TempDir root;
  put(root / "1.jpg");
  for (const auto& [text, words] : {std::pair("image,class\n", "labels.csv names no class"),
                                    {"1.jpg,cat\n", "labels.csv:1: the columns are 1.jpg, cat"},
                                    {"\xff\xfei", "UTF-16"}}) {
    put(root / "labels.csv", text);
    EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }),
                AllOf(HasSubstr("expected a subfolder of images for each class"), HasSubstr(words)));
  }
}

/// Returns the images of all requests of a folder, relative to it.
std::vector<std::string> images_for(SplitPurpose purpose, const fs::path& root) {
  std::vector<std::string> images;
  for (const EnrolRequest& request : requests_of_boxed_folder(root, {}, {}, purpose)) {
    for (const fs::path& image : find_images(request.images).paths)
      images.push_back(request.name + "=" + image.lexically_relative(root).string());
  }
  return images;
}

// The names train/ and test/ as used by ImageFolder, Kaggle and the imagefolder of Hugging Face.
TEST(EnrolRequests, OfSplitsOfTheSameClassesAreTheTrainingSplitAndTestsTheOther) {
  const TempDir root;
  for (const char* split : {"train", "validation", "test"}) put(root / split / "cat" / "1.jpg");
  for (const char* more : {"train/dog/2.jpg", "test/cat/3.jpg"}) put(root / more);
  const Logged log;
  EXPECT_THAT(images_for(SplitPurpose::kTraining, root.path()),
              ElementsAre("cat=train/cat/1.jpg", "dog=train/dog/2.jpg"));
  EXPECT_THAT(log.text(), HasSubstr("using train, leaving out test (2 images), validation (1 images); protocom test"));
  EXPECT_THAT(images_for(SplitPurpose::kTesting, root.path()), ElementsAre("cat=test/cat/1.jpg", "cat=test/cat/3.jpg"));
  fs::remove_all(root / "test");
  EXPECT_THAT(images_for(SplitPurpose::kTesting, root.path()), ElementsAre("cat=validation/cat/1.jpg"));
}

TEST(EnrolRequests, OfFlatSplitsOfTheSameClassesAreReadEachByItsTable) {
  const TempDir root;
  put(root / "train" / "metadata.csv", "file_name,label\n1.jpg,cat\n2.jpg,dog\n");
  put(root / "test" / "metadata.csv", "file_name,label\n1.jpg,dog\n");
  for (const char* file : {"train/1.jpg", "train/2.jpg", "test/1.jpg"}) put(root / file);
  EXPECT_THAT(images_for(SplitPurpose::kTraining, root.path()), ElementsAre("cat=train/1.jpg", "dog=train/2.jpg"));
  EXPECT_THAT(images_for(SplitPurpose::kTesting, root.path()), ElementsAre("dog=test/1.jpg"));
}

TEST(EnrolRequests, OfATestSplitWithoutLabelsAreTheTrainingSplit) {
  const TempDir root;
  put(root / "train" / "metadata.csv", "file_name,label\n1.jpg,cat\n");
  for (const char* file : {"train/1.jpg", "test/1.jpg"}) put(root / file);
  EXPECT_THAT(images_for(SplitPurpose::kTraining, root.path()), ElementsAre("cat=train/1.jpg"));
  EXPECT_THAT(message_of([&] { images_for(SplitPurpose::kTesting, root.path()); }),
              HasSubstr("are splits, not classes"));
  fs::remove(root / "train" / "metadata.csv");
  EXPECT_THAT(message_of([&] { images_for(SplitPurpose::kTraining, root.path()); }),
              HasSubstr("are splits, not classes"))
      << "without any labels";
}

// kaggle.com/c/dog-breed-identification
TEST(EnrolRequests, OfSplitsWithAListBesideThemAreThoseOfTheList) {
  const TempDir root;
  put(root / "labels.csv", "id,breed\n1,cat\n2,dog\n");
  for (const char* file : {"train/1.jpg", "test/2.jpg"}) put(root / file);
  EXPECT_THAT(images_for(SplitPurpose::kTraining, root.path()), ElementsAre("cat=train/1.jpg", "dog=test/2.jpg"));
}

TEST(EnrolRequests, OfSplitsOfOtherClassesAreRefusedSinceNoneIsMeant) {
  const TempDir root;
  for (const char* file : {"train/cat/1.jpg", "test/eel/1.jpg"}) put(root / file);
  EXPECT_THAT(message_of([&] { images_for(SplitPurpose::kTraining, root.path()); }),
              HasSubstr("are splits, not classes"));
}

// Reported in public: immich-app/immich issue 30690, LibrePhotos/librephotos issue 64, photoprism/photoprism issue
// 555.
TEST(EnrolRequests, OfAFolderLeaveOutWhatIsNobodysClass) {
  const TempDir root;
  for (const char* folder : {"cat", "@eaDir", "#recycle", "lost+found", ".thumbnails"}) put(root / folder / "1.jpg");
  const std::vector<EnrolRequest> requests = requests_of_folder(root.path());
  EXPECT_THAT(names_of(requests), ElementsAre("cat"));
  EXPECT_EQ(requests.front().skipped.total(), 4);
}

// A Mac writes an accent as a separate character.
TEST(EnrolRequests, OfTwoFoldersWhoseNamesLookAlikeAreRefused) {
  const TempDir root;
  for (const char* folder : {"caf\xc3\xa9", "cafe\xcc\x81"}) put(root / folder / "1.jpg");
  EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }), HasSubstr("are both named 'caf\xc3\xa9'"));
}

TEST(EnrolRequests, TakeFromATableOnlyTheAttributesThatItsValueSays) {
  const TempDir root;
  for (const char* name : {"horse", "zebra"}) put(root / name / "1.jpg");
  std::vector<EnrolRequest> requests = requests_of_folder(root.path());
  add_attributes_of_table(
      put(root / "t.csv", "class,attribute,value\nhorse,stripes,0\nhorse,hoof,1\nzebra,stripes,1\n"), requests);
  EXPECT_THAT(requests[0].attributes, ElementsAre("hoof"));
  EXPECT_THAT(requests[1].attributes, ElementsAre("stripes"));
}

// Spreadsheets strip leading zeros from numbers that are names (usds/justice40-tool issue 953).
TEST(EnrolRequests, OfClassesThatATableDoesNotNameAreListedWithWhatWasMeant) {
  const TempDir root;
  for (const char* name : {"horse", "zebra", "001"}) put(root / name / "1.jpg");
  std::vector<EnrolRequest> requests = requests_of_folder(root.path());
  const Logged logged;
  add_attributes_of_table(put(root / "t.csv", "class,attribute\nhorse,hoof\nzebar,stripes\n1,tail\ncow,hoof\n"),
                          requests);
  EXPECT_THAT(logged.text(), HasSubstr("no row for 2 of the 3 classes to enrol"));
  EXPECT_THAT(logged.text(), HasSubstr("'001'; did you mean '1'?"));
  EXPECT_THAT(logged.text(), HasSubstr("'zebra'; did you mean 'zebar'?"));
}

TEST(EnrolRequests, OfARowThatIsOfNoClassAreListedWithWhatWasMeant) {
  const TempDir root;
  std::vector<EnrolRequest> requests(1);
  requests.front().name = "zebra";
  const Logged log;
  add_attributes_of_table(put(root / "t.csv", "class,attribute\nzebra,stripes\nzbra,hooves\n"), requests);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("ignoring 1 classes that are not enrolled here"), HasSubstr("'zbra'")));
}

TEST(EnrolRequests, OfAFolderWithAListAreItsClassesWithTheImagesThatItNames) {
  const TempDir root;
  for (const char* file : {"train/1.jpg", "train/2.jpg", "train/3.jpg"}) put(root / file);
  put(root / "labels.csv", "Id,Breed\n1,pug\n3,dingo\n2,pug\n");
  const std::vector<EnrolRequest> requests = requests_of_folder(root.path());
  EXPECT_THAT(names_of(requests), ElementsAre("pug", "dingo"));
  EXPECT_THAT(requests[0].images, ElementsAre((root / "train/1.jpg").string(), (root / "train/2.jpg").string()));
}

TEST(EnrolRequests, OfACsvMayBeInOtherWordsAndKeepWhatIsNotThere) {
  const TempDir root;
  put(root / "a.jpg");
  const auto requests = requests_of_csv(put(root / "list.csv", "File Name,Species\na.jpg,cat\nnone.jpg,cat\n,ant\n"));
  EXPECT_THAT(names_of(requests), ElementsAre("cat", "ant"));
  EXPECT_THAT(requests[0].images, ElementsAre((root / "a.jpg").string(), (root / "none.jpg").string()));
  EXPECT_TRUE(requests[1].images.empty());
}

TEST(EnrolRequests, OfAListOfWhichNoFileIsThereAreRefusedWithOneOfThem) {
  const TempDir root;
  const fs::path list = put(root / "list.csv", "image,class\nIMG_1.JPG,cat\nIMG_2.JPG,cat\nIMG_3.JPG,dog\n");
  EXPECT_THAT(message_of([&] { requests_of_csv(list); }), HasSubstr("3 rows, 0 files found, such as IMG_1.JPG"));
  put(root / "photos/img_2.jpg");
  EXPECT_EQ(requests_of_csv(list).front().images[1], (root / "photos/img_2.jpg").string());
  const fs::path addresses = put(root / "web/list.csv", "image,class\nhttps://host/1.jpg,cat\n");
  EXPECT_THAT(message_of([&] { requests_of_csv(addresses); }), HasSubstr("addresses are not supported"));
}

// Takeout/Google Photos as packed by Google: a folder for each album and each year, a .json beside each photo.
TEST(EnrolRequests, OfGoogleTakeoutAreTheAlbums) {
  const TempDir root;
  for (const char* file : {"Cats/1.jpg", "Cats/1.jpg.json", "Cats/metadata.json", "Dogs/2.jpg",
                           "Photos from 2024/1.jpg", "Photos from 2024/1.jpg.json", "Photos from 2023/2.jpg"})
    put(root / "Takeout/Google Photos" / file, "{}");
  for (const char* folder : {"", "Takeout", "Takeout/Google Photos"})
    EXPECT_THAT(names_of(requests_of_folder(root / folder)), ElementsAre("Cats", "Dogs")) << folder;
  for (const char* year : {"2023", "2024"})
    fs::remove_all(root / "Takeout/Google Photos" / fmt::format("Photos from {}", year));
  for (const char* folder : {"", "Takeout", "Takeout/Google Photos"})
    EXPECT_THAT(names_of(requests_of_folder(root / folder)), ElementsAre("Cats", "Dogs")) << "albums alone, " << folder;
  const TempDir other;
  for (const char* file : {"Cats/1.jpg", "Photos from 2024/1.jpg"}) put(other / file);
  EXPECT_THAT(names_of(requests_of_folder(other.path())), ElementsAre("Cats", "Photos from 2024"))
      << "nobody packed these";
}

TEST(EnrolRequests, OfAFolderMayBeTheKeywordsOfItsPhotos) {
  const TempDir root;
  for (const auto& [photo, keyword] :
       std::map<std::string, std::string>{{"1.jpg", "cat"}, {"day/2.jpg", "dog"}, {"day/3.jpg", "cat"}}) {
    put(root / photo, "a photo");
    put(root / (photo + ".xmp"), with_keywords("", {{keyword}, {}}, photo));
  }
  const std::vector<EnrolRequest> requests = requests_of_folder(root.path(), {"", "", "keywords"});
  EXPECT_THAT(names_of(requests), ElementsAre("cat", "dog"));
  EXPECT_THAT(requests[0].images, ElementsAre((root / "1.jpg").string(), (root / "day/3.jpg").string()));
}

TEST(EnrolRequests, OfAnArchiveAreRefusedWithWhatToDo) {
  EXPECT_THAT(message_of([&] { requests_of_folder("photos.zip"); }), HasSubstr("photos.zip: unpack it"));
  EXPECT_THAT(message_of([&] { requests_of_folder("x.npy"); }), HasSubstr("x.npy: features, not photos"));
  const TempDir root;
  put(root / "notes.txt");
  put(root / "photos.zip");
  EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }),
              AllOf(HasSubstr("found "), HasSubstr("photos.zip: unpack it")));
}

TEST(EnrolRequests, OfAFolderWithAListOfOtherImagesAreRefusedWithOneOfThem) {
  const TempDir root;
  put(root / "a.jpg");
  put(root / "labels.csv", "image,class\nIMG_1.JPG,cat\nIMG_2.JPG,dog\n");
  EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }),
              HasSubstr("labels.csv: 2 rows, 0 files found, such as IMG_1.JPG"));
}

// https://github.com/webdataset/webdataset: files of one name before the first dot are one sample.
TEST(EnrolRequests, OfUnpackedShardsAreTheLabelsBesideTheImages) {
  const TempDir root;
  for (const auto& [name, label] : std::map<std::string, std::string>{{"a/000.cls", "7\n"},
                                                                      {"a/001.cls", "3"},
                                                                      {"b/002.json", R"({"label": "cat"})"},
                                                                      {"b/003.json", R"({"label": 7})"},
                                                                      {"b/004.json", "[1, "}}) {
    put(root / name, label);
    put((root / name).replace_extension(".jpg"));
  }
  const Logged logged;
  const std::vector<EnrolRequest> requests = requests_of_folder(root.path());
  EXPECT_THAT(names_of(requests), ElementsAre("7", "3", "cat"));
  EXPECT_THAT(requests[0].images, ElementsAre((root / "a/000.jpg").string(), (root / "b/003.jpg").string()));
  EXPECT_THAT(logged.text(), HasSubstr("ignoring images without a label beside them: 1 of 5"));
}

TEST(EnrolRequests, OfAFolderWithoutClassesAreRefusedWithBothThatAreRead) {
  const TempDir root;
  put(root / "a.jpg");
  EXPECT_THAT(message_of([&] { requests_of_folder(root.path()); }),
              AllOf(HasSubstr("a subfolder of images for each class"), HasSubstr("a CSV image,class")));
}

}  // namespace
}  // namespace protocom::testing
