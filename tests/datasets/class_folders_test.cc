#include "datasets/class_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "datasets/image_dataset.h"
#include "images/image_files.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::SizeIs;

void make_photo(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << 'x';
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& one : folders_in(folder)) names.push_back(one.filename().string());
  return names;
}

ImageDatasetOptions any_split() {
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  return options;
}

/// Returns the error about a folder whose folders are to be classes.
std::string refusal_of(const fs::path& folder) {
  return message_of([&] { refuse_photo_library(folder); });
}

// A Mac's library: originals/ has a folder for each first digit of its files' identifiers.
TEST(ClassFolders, OfAPhotoLibraryAreNoClasses) {
  const testing::TempDir root;
  for (const char* library : {"My.photoslibrary", "copied"}) {
    make_photo(root / library / "originals/0/0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9.heic");
    make_photo(root / library / "originals/0/0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9_3.mov");  // its film
    make_photo(root / library / "originals/F/F0000000-4E5F-6071-8293-A4B5C6D7E8F9_1_105_c.jpeg");
    fs::create_directories(root / library / "database");
    EXPECT_THAT(refusal_of(root / library / "originals"),
                HasSubstr("library of Apple's Photos are no classes: export"));
    EXPECT_THAT(refusal_of(root / library), HasSubstr(library));
  }
  EXPECT_THAT(refusal_of(root / "My.photoslibrary/originals/F"), HasSubstr("My.photoslibrary: the folders"));
  EXPECT_THAT(refusal_of(root.path()), HasSubstr("copied: the folders")) << "one without its suffix, in the folder";
  EXPECT_THAT(message_of([&] { list_images(root / "copied/originals", any_split()); }), HasSubstr("are no classes"));
}

TEST(ClassFolders, ThatAreDigitsAreClasses) {
  const testing::TempDir root;
  for (const char* file : {"0/a.png", "1/0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9.png", "A/12.png"})
    make_photo(root / file);
  refuse_photo_library(root.path());
  make_photo(root / "My.photoslibrary/originals/0/0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9.heic");
  refuse_photo_library(root.path());
  EXPECT_THAT(names_in(root.path()), ElementsAre("0", "1", "A")) << "a library beside them is left out";
}

TEST(ClassFolders, ThatStorageBoxesAndArchiversKeepForThemselvesAreNone) {
  const testing::TempDir root;
  for (const char* folder : {"@eaDir", "#recycle", "__MACOSX", "lost+found", ".thumbnails", ".ipynb_checkpoints",
                             "$RECYCLE.BIN", "#snapshot", "System Volume Information", "cat"})
    make_photo(root / folder / "1.jpg");
  EXPECT_THAT(names_in(root.path()), ElementsAre("cat"));
  const ImageDataset dataset = list_images(root.path(), any_split());
  EXPECT_THAT(dataset.class_names, ElementsAre("cat"));
  EXPECT_THAT(dataset.items, SizeIs(1));
  EXPECT_EQ(dataset.skipped.counts.at("in @eaDir"), 1);
}

// Notebooks leave hidden folders, which become classes (tensorflow/tensorflow issue 46595).
// Reported in public: open-mmlab/mmpretrain issue 507, pytorch/vision issue 2831.
TEST(ClassFolders, HoldNoThumbnailsOfAStorageBox) {
  const testing::TempDir root;
  make_photo(root / "cat" / "1.jpg");
  make_photo(root / "cat" / "@eaDir" / "1.jpg" /
             "SYNOPHOTO_THUMB_M.jpg");  // as Synology's storage devices lay them out
  make_photo(root / "cat" / "__MACOSX" / "2.jpg");
  const FoundImages found = find_images({(root / "cat").string()});
  EXPECT_THAT(found.paths, ElementsAre(root / "cat" / "1.jpg"));
  EXPECT_EQ(found.skipped.describe(), "2 files are ignored: 1 in @eaDir, 1 in __MACOSX");
  EXPECT_THAT(list_images(root.path(), any_split()).items, SizeIs(1));
}

TEST(ClassFolders, OfSplitsAreKnownInAnyCapitals) {
  EXPECT_EQ(split_named("photos/Train"), Split::kBase);
  EXPECT_EQ(split_named("training"), Split::kBase);
  EXPECT_EQ(split_named("dev"), Split::kVal);
  EXPECT_EQ(split_named("TEST"), Split::kNovel);
  EXPECT_EQ(split_named("trains"), std::nullopt);
  EXPECT_EQ(part_named("Support"), FolderPart::kImages);
  EXPECT_EQ(split_named("support"), std::nullopt);
}

TEST(ClassFolders, OfADatasetDividedInAnyCapitalsGiveItsSplits) {
  const testing::TempDir root;
  for (const char* file : {"Train/cat/1.jpg", "Train/dog/1.jpg", "Dev/owl/1.jpg", "Test/yak/1.jpg"})
    make_photo(root / file);
  const ImageDataset dataset = list_images(root.path(), {});
  EXPECT_THAT(dataset.class_names, ElementsAre("cat", "dog", "owl", "yak"));
  EXPECT_THAT(dataset.class_split, ElementsAre(Split::kBase, Split::kBase, Split::kVal, Split::kNovel));
}

TEST(ClassFolders, ThatAreSupportsAndQueriesAreNoClasses) {
  const testing::TempDir root;
  for (const char* file : {"support/cat/1.jpg", "support/dog/1.jpg", "query/cat/2.jpg", "query/dog/2.jpg"})
    make_photo(root / file);
  EXPECT_THAT(message_of([&] { list_images(root.path(), any_split()); }),
              AllOf(HasSubstr("are splits, not classes (query, support)"), HasSubstr((root / "query").string())));
}

TEST(ClassFolders, BesideSplitsDoNotMakeClassesOfThem) {
  const testing::TempDir root;
  for (const char* file : {"train/cat/1.jpg", "test/dog/1.jpg", "annotations/1.png"}) make_photo(root / file);
  EXPECT_THAT(message_of([&] { list_images(root.path(), any_split()); }), HasSubstr("splits, not classes"));
}

TEST(ClassFolders, OneThatIsCalledLikeASplitAmongOthersIsAClass) {
  const testing::TempDir root;
  for (const char* file : {"train/1.jpg", "test/1.jpg", "car/1.jpg"}) make_photo(root / file);
  EXPECT_THAT(list_images(root.path(), any_split()).class_names, ElementsAre("car", "test", "train"));
}

TEST(ClassFolders, ThatHoldFoldersOfImagesAloneAreNamed) {
  const testing::TempDir root;
  for (const char* file : {"felidae/lion/1.jpg", "felidae/lynx/1.jpg", "canidae/1.jpg", "canidae/more/2.jpg"})
    make_photo(root / file);
  const testing::Logged logged;
  list_images(root.path(), any_split());
  EXPECT_THAT(logged.text(), HasSubstr("each read as one class, 1 of 2: felidae (lion, lynx)"));
}

TEST(ClassFolders, OfAllPhotosOfADetectionDatasetWithoutItsBoxesAreNamed) {
  const testing::TempDir root;
  for (const char* file :
       {"coco/images/1.jpg", "voc/JPEGImages/1.jpg", "voc/cat/1.jpg", "birds/images/owl/1.jpg", "birds/cat/1.jpg"})
    make_photo(root / file);
  const auto logged = [&](const char* name) {
    const testing::Logged log;
    list_images(root / name, any_split());
    return log.text();
  };
  EXPECT_THAT(logged("coco"), AllOf(HasSubstr("coco/images: all its photos are one class, 'images'"),
                                    HasSubstr("labels/*.txt"), HasSubstr("a folder of its own")));
  EXPECT_THAT(logged("voc"), HasSubstr("voc/JPEGImages: all its photos are one class, 'JPEGImages'"));
  EXPECT_THAT(logged("birds"), ::testing::Not(HasSubstr("are one class, 'images'")));
}

}  // namespace
}  // namespace protocom
