#include "datasets/image_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "datasets/standard_split.h"
#include "io/files.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

/// Listing looks at names only, so a test image is a file with any content.
void touch(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << 'x';
}

std::string list_error(const fs::path& root, const ImageDatasetOptions& options = {}) {
  return message_of([&] { list_images(root, options); });
}

ImageDatasetOptions with_split(const fs::path& split) {
  ImageDatasetOptions options;
  options.split = split;
  return options;
}

std::vector<std::string> ids(const ImageDataset& dataset) {
  std::vector<std::string> result;
  for (const ImageItem& item : dataset.items) result.push_back(item.id);
  return result;
}

std::vector<int64_t> labels(const ImageDataset& dataset) {
  std::vector<int64_t> result;
  for (const ImageItem& item : dataset.items) result.push_back(item.label);
  return result;
}

// Reported in public: pytorch/vision issue 109.
TEST(FolderLayout, IsSortedByClassThenIdAndIgnoresOtherFiles) {
  const testing::TempDir root;
  for (const char* file : {"dog/b.PNG", "dog/a.jpg", "cat/deep/er/c.webp", "cat/z.bmp", "cat/notes.txt", "cat/._z.bmp",
                           "cat/.cache/y.jpg"}) {
    touch(root / file);
  }
  write_file(root / "split.csv", "class,split\ncat,novel\ndog,base\n");
  const ImageDataset dataset = list_images(root.path(), with_split(root / "split.csv"));
  EXPECT_THAT(dataset.class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(dataset.class_split, ElementsAre(Split::kNovel, Split::kBase));
  EXPECT_THAT(ids(dataset), ElementsAre("cat/deep/er/c.webp", "cat/z.bmp", "dog/a.jpg", "dog/b.PNG"));
  EXPECT_THAT(labels(dataset), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(dataset.items[0].path, root / "cat/deep/er/c.webp");
}

TEST(FolderLayout, LeavesOutClassesThatTheSplitDoesNotNameEvenEmptyOnes) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  touch(root / "dog/a.jpg");
  fs::create_directories(root / "empty");
  write_file(root / "split.csv", "class,split\ncat,base\n");
  EXPECT_THAT(list_images(root.path(), with_split(root / "split.csv")).class_names, ElementsAre("cat"));
}

TEST(FolderLayout, TakesTheSplitFromSplitFolders) {
  const testing::TempDir root;
  for (const char* file : {"train/cat/a.jpg", "val/owl/a.jpg", "test/ant/a.jpg", "test/bee/a.jpg"}) touch(root / file);
  const ImageDataset dataset = list_images(root.path(), {});
  EXPECT_THAT(dataset.class_names, ElementsAre("ant", "bee", "cat", "owl"));
  EXPECT_THAT(dataset.class_split, ElementsAre(Split::kNovel, Split::kNovel, Split::kBase, Split::kVal));
  EXPECT_THAT(ids(dataset), ElementsAre("test/ant/a.jpg", "test/bee/a.jpg", "train/cat/a.jpg", "val/owl/a.jpg"));
}

TEST(FolderLayout, TakesTheSplitFromASplitFileInTheFolder) {
  const testing::TempDir root;
  for (const char* file : {"cat/a.jpg", "owl/a.jpg"}) touch(root / file);
  write_file(root / "split.csv", "class,split\ncat,base\nowl,novel\n");
  EXPECT_THAT(list_images(root.path(), {}).class_split, ElementsAre(Split::kBase, Split::kNovel));
  write_file(root / "split.csv", "class,split\ncat,base\neel,novel\n");
  EXPECT_THAT(list_images(root.path(), {}).class_split, ElementsAre(Split::kBase));
  ImageDatasetOptions strict;
  strict.strict = true;
  EXPECT_THAT(list_error(root.path(), strict), AllOf(HasSubstr("split.csv names 1 of 2 classes"), HasSubstr("eel")));
}

TEST(FolderLayout, RefusesAClassInTwoSplitFolders) {
  const testing::TempDir root;
  touch(root / "base/cat/a.jpg");
  touch(root / "novel/cat/b.jpg");
  EXPECT_THAT(
      list_error(root.path()),
      AllOf(HasSubstr("'cat' is in two splits"), HasSubstr("base/cat"), HasSubstr("novel/cat"),
            HasSubstr("give one of the two (" + (root / "base").string() + " or " + (root / "novel").string() + ")")));
}

TEST(FolderLayout, NeedsASplitUnlessTheCallerTakesAllAsBase) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  EXPECT_THAT(list_error(root.path()), AllOf(HasSubstr(root.path().string()), HasSubstr("--split")));
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  EXPECT_THAT(list_images(root.path(), options).class_split, ElementsAre(Split::kBase));
}

TEST(ListImages, NamesWhatIsWrongWithTheFolder) {
  const testing::TempDir root;
  EXPECT_THAT(list_error(root / "nowhere"), AllOf(HasSubstr("nowhere"), HasSubstr("no such folder")));
  write_file(root / "data.tgz", "x");
  EXPECT_THAT(list_error(root / "data.tgz"), HasSubstr("unpack"));
  EXPECT_THAT(list_error(root.path()), HasSubstr("no class folders"));
  fs::create_directories(root / "cat");
  EXPECT_THAT(list_error(root.path()), AllOf(HasSubstr("no class with images"), HasSubstr((root / "cat").string())));
}

// Reported in public: pytorch/vision issue 4925.
TEST(ListImages, LeavesOutAClassWithoutImagesAndCountsOtherFiles) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  touch(root / "cat/notes.txt");
  touch(root / "dog/readme.md");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  const ImageDataset dataset = list_images(root.path(), options);
  EXPECT_THAT(dataset.class_names, ElementsAre("cat"));
  EXPECT_THAT(dataset.empty_classes, ElementsAre("dog"));
  EXPECT_EQ(dataset.skipped.describe(), "2 files are ignored: 1 .md, 1 .txt");
}

TEST(ListImages, CountsImagesBesideTheClassFoldersAndFilesInHiddenOnes) {
  const testing::TempDir root;
  for (const char* file :
       {"cat/a.jpg", "forgotten.jpg", "notes.txt", ".cache/b.jpg", "cat/.old/c.jpg", "cat/.old/d/e.txt"})
    touch(root / file);
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  for (const fs::path& same : {root.path(), root.path() / ""}) {
    EXPECT_EQ(list_images(same, options).skipped.describe(),
              "5 files are ignored: 3 in a hidden folder, 1 .txt beside the class folders, 1 beside the class folders");
  }
  touch(root / "parted/base/cat/a.jpg");
  touch(root / "parted/novel/dog/a.jpg");
  touch(root / "parted/novel/b.jpg");
  EXPECT_EQ(list_images(root / "parted", {}).skipped.describe(), "1 file is ignored: 1 beside the class folders");
}

TEST(ListImages, CountsOtherFilesBesideTheClassFoldersButNotWhatItReadsThere) {
  const testing::TempDir root;
  for (const char* file : {"cat/a.jpg", "README.txt", "notes.TXT", "LICENSE", ".DS_Store", "attributes.csv",
                           "wnids.txt", "words.txt", "train.csv", "classes.txt"})
    touch(root / file);
  const std::string stated =
      "3 files are ignored: 2 .txt beside the class folders, 1 without a suffix beside the class folders";
  write_file(root / "split.csv", "class,split\ncat,base\n");
  EXPECT_EQ(list_images(root.path(), {}).skipped.describe(), stated);
  write_file(root / "mine.csv", "class,split\ncat,base\n");
  EXPECT_EQ(list_images(root.path(), with_split(root / "mine.csv")).skipped.describe(), stated);
  fs::remove(root / "mine.csv");
  write_file(root / "mine-base.txt", "cat\n");
  EXPECT_EQ(list_images(root.path(), with_split(root / "mine")).skipped.describe(), stated);
  EXPECT_EQ(list_images(root.path(), {}).skipped.counts.at(".txt beside the class folders"), 3);
}

TEST(ListImages, CountsALinkToItselfAsBroken) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  fs::create_symlink("self", root / "self");
  fs::create_symlink("b.jpg", root / "cat/b.jpg");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  EXPECT_EQ(list_images(root.path(), options).skipped.describe(),
            "2 files are ignored: 1 broken link, 1 broken link beside the class folders");
}

TEST(ListImages, VisitsEachFolderOnceWhateverLinksLeadToIt) {
  const testing::TempDir root;
  for (const char* file : {"Blue Jay/a.jpg", "Blue Jay/wild/b.jpg", "Mallard/a.jpg"}) touch(root / file);
  fs::create_directory_symlink("..", root / "Blue Jay/loop");
  fs::create_directory_symlink("../Mallard", root / "Blue Jay/ducks");
  fs::create_directory_symlink("wild", root / "Blue Jay/before wild");
  fs::create_directory_symlink(".", root / "All");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  const ImageDataset dataset = list_images(root.path(), options);
  EXPECT_THAT(ids(dataset), ElementsAre("Blue Jay/a.jpg", "Blue Jay/wild/b.jpg", "Mallard/a.jpg"));
  EXPECT_EQ(dataset.skipped.describe(),
            "4 files are ignored: 2 linking to a folder above, 2 linking to a folder counted already");
  EXPECT_THAT(dataset.empty_classes, ElementsAre("All"));
}

TEST(ListImages, FollowsLinksToFoldersAndFilesElsewhere) {
  const testing::TempDir root, pool;
  for (const char* file : {"jay/1.jpg", "jay/old/2.jpg", "ducks/3.jpg", "4.jpg"}) touch(pool / file);
  fs::create_directories(root / "photos/Mallard");
  fs::create_directory_symlink(pool / "jay", root / "photos/Blue Jay");
  fs::create_directory_symlink(pool / "ducks", root / "photos/Mallard/more");
  fs::create_symlink(pool / "4.jpg", root / "photos/Mallard/4.jpg");
  fs::create_directory_symlink("photos", root / "link");
  fs::create_directory_symlink(root / "photos", pool / "jay/back");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  for (const fs::path& same : {root / "photos", root / "link"}) {
    const ImageDataset dataset = list_images(same, options);
    EXPECT_THAT(ids(dataset),
                ElementsAre("Blue Jay/1.jpg", "Blue Jay/old/2.jpg", "Mallard/4.jpg", "Mallard/more/3.jpg"));
    EXPECT_EQ(dataset.items[3].path, same / "Mallard/more/3.jpg");
    EXPECT_EQ(dataset.skipped.describe(), "1 file is ignored: 1 linking to a folder above");
  }
}

TEST(ListImages, AClassKeepsItsFolderWhereALinkOfAnotherOneHoldsIt) {
  const testing::TempDir root, pool;
  for (const char* file : {"1.jpg", "cats/2.jpg", "owls/3.jpg"}) touch(pool / file);
  touch(root / "birds/4.jpg");
  fs::create_directory_symlink(pool.path(), root / "animals");
  fs::create_directory_symlink(pool / "cats", root / "cats");
  fs::create_directory_symlink(pool / "owls", root / "birds/owls");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  const ImageDataset dataset = list_images(root.path(), options);
  EXPECT_THAT(ids(dataset), ElementsAre("animals/1.jpg", "animals/owls/3.jpg", "birds/4.jpg", "cats/2.jpg"));
  EXPECT_EQ(dataset.skipped.describe(), "2 files are ignored: 2 linking to a folder counted already");
}

TEST(ListImages, SaysWhatNamesThatDoNotFitWereMeantToBe) {
  const testing::TempDir root;
  for (const char* file : {"Blue Jay/a.jpg", "Mallard/a.jpg", "okapi/a.jpg"}) touch(root / file);
  write_file(root / "split.csv", "class,split\nblue jay,base\nMallard ,base\nwalrus,val\n");
  const testing::Logged heard;
  EXPECT_THAT(list_images(root.path(), {}).class_names, ElementsAre("Mallard"));
  EXPECT_THAT(heard.text(), AllOf(HasSubstr("ignoring them: blue jay, walrus ('blue jay'; did you mean 'Blue Jay'?)\n"),
                                  HasSubstr("2 of them: Blue Jay, okapi ('Blue Jay'; did you mean 'blue jay'?)\n")));
  write_file(root / "split.csv", "class,split\nmallard,base\n");
  EXPECT_THAT(list_error(root.path()), HasSubstr("1 of 1 classes that are not in"));
  EXPECT_THAT(list_error(root.path()), HasSubstr(": mallard ('mallard'; did you mean 'Mallard'?)"));
}

TEST(ListImages, SaysWhatWasMeantOfTheNamesThatItShowsOnly) {
  const testing::TempDir root;
  for (const char* file : {"cat/a.jpg", "zebra/a.jpg"}) touch(root / file);
  std::string split = "class,split\ncat,base\n";
  for (int i = 10; i < 20; ++i) split += std::to_string(i) + ",novel\n";
  write_file(root / "split.csv", split + "zebras,novel\n");
  const testing::Logged heard;
  list_images(root.path(), {});
  EXPECT_THAT(heard.text(), AllOf(HasSubstr("names 11 of 12 classes"), HasSubstr("18, 19, ...\n"),
                                  HasSubstr("1 of them: zebra ('zebra'; did you mean 'zebras'?)\n")));
}

TEST(ListImages, LeavesOutClassesOfASplitThatAreNotThereAndNamesUpToTen) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  std::string split = "class,split\ncat,base\n";
  for (int i = 10; i < 22; ++i) split += "class" + std::to_string(i) + ",novel\n";
  write_file(root / "split.csv", split);
  ImageDatasetOptions options = with_split(root / "split.csv");
  const auto stated = AllOf(HasSubstr("split.csv names 12 of 13 classes that are not in"),
                            HasSubstr("class10, class11"), HasSubstr("class19, ..."), Not(HasSubstr("class20")));
  const testing::Logged heard;
  const ImageDataset dataset = list_images(root.path(), options);
  EXPECT_THAT(dataset.class_names, ElementsAre("cat"));
  EXPECT_EQ(dataset.empty_classes.size(), 12U);
  EXPECT_THAT(heard.text(), stated);
  options.strict = true;
  EXPECT_THAT(list_error(root.path(), options), stated);
  write_file(root / "other.csv", "class,split\nunicorn,base\n");
  EXPECT_THAT(list_error(root.path(), with_split(root / "other.csv")), HasSubstr("1 of 1 classes"));
}

TEST(ListImages, RefusesAnEmptyClassWhereItIsStrict) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  fs::create_directories(root / "dog");
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  options.strict = true;
  EXPECT_THAT(list_error(root.path(), options), HasSubstr("1 of 2 classes have no images: dog"));
}

TEST(ListImages, RefusesTwoKindsOfSplitAtOnce) {
  const testing::TempDir root;
  touch(root / "cat/a.jpg");
  ImageDatasetOptions options = with_split(root / "split.csv");
  options.standard_split = "mini-imagenet";
  EXPECT_THROW(list_images(root.path(), options), UsageError);
  options.split.reset();
  options.standard_split = "cub";
  EXPECT_THROW(list_images(root.path(), options), UsageError);
}

TEST(TinyImageNetLayout, ReadsWnidsAndWords) {
  const testing::TempDir root;
  for (const char* file : {"train/n02/images/n02_1.JPEG", "train/n02/images/n02_0.JPEG", "train/n01/images/n01_0.JPEG",
                           "val/images/val_0.JPEG"}) {
    touch(root / file);
  }
  write_file(root / "train/n01/n01_boxes.txt", "n01_0.JPEG\t0\t0\t1\t1\n");
  write_file(root / "wnids.txt", "n02\nn01\n");
  write_file(root / "words.txt", "n01\tgoose, bird\nn02\tfrog\nn03\tnot here\n");
  write_file(root / "lists-base.txt", "n01\tgoose\n");
  write_file(root / "lists-val.txt", "");
  write_file(root / "lists-novel.txt", "n02\tfrog\n");
  write_file(root / "split.csv", "class,split\nn01,base\nn02,novel\n");
  EXPECT_EQ(detect_layout(root.path()), Layout::kTinyImageNet);
  const ImageDataset dataset = list_images(root.path(), with_split(root / "split.csv"));
  EXPECT_THAT(dataset.class_names, ElementsAre("n01", "n02"));
  EXPECT_EQ(dataset.class_title.at("n01"), "goose, bird");
  EXPECT_EQ(dataset.class_title.size(), 2u);
  EXPECT_THAT(ids(dataset),
              ElementsAre("train/n01/images/n01_0.JPEG", "train/n02/images/n02_0.JPEG", "train/n02/images/n02_1.JPEG"));
}

TEST(TinyImageNetLayout, NamesTheLineOfAClassWithoutAFolder) {
  const testing::TempDir root;
  touch(root / "train/n01/images/a.JPEG");
  write_file(root / "wnids.txt", "n01\nn02\n");
  EXPECT_THAT(list_error(root.path()), HasSubstr("wnids.txt:2: no such folder"));
}

/// Makes six classes, of which the last has no images.
void make_cub(const fs::path& folder) {
  std::string classes;
  std::string images;
  std::string image_labels;
  for (int c = 1; c <= 6; ++c) {
    const std::string name = "00" + std::to_string(c) + ".Some_Bird";
    classes += std::to_string(c) + " " + name + "\n";
    if (c == 6) continue;
    const std::string file = name + "/bird_" + std::to_string(c) + ".jpg";
    images += std::to_string(c) + " " + file + "\n";
    image_labels += std::to_string(c) + " " + std::to_string(c) + "\n";
    touch(folder / "images" / file);
  }
  write_file(folder / "classes.txt", classes);
  write_file(folder / "images.txt", images);
  write_file(folder / "image_class_labels.txt", image_labels);
}

TEST(CubLayout, DividesByClassIndexAndLeavesOutClassesWithoutImages) {
  const testing::TempDir root;
  make_cub(root / "CUB_200_2011");
  for (const fs::path& given : {root.path(), root / "CUB_200_2011"}) {
    EXPECT_EQ(detect_layout(given), Layout::kCub);
    const ImageDataset dataset = list_images(given, {});
    ASSERT_EQ(dataset.class_names.size(), 5u);
    EXPECT_THAT(dataset.class_split, ElementsAre(Split::kBase, Split::kVal, Split::kBase, Split::kNovel, Split::kBase));
    EXPECT_EQ(dataset.items[0].id, "001.Some_Bird/bird_1.jpg");
    EXPECT_EQ(dataset.class_title.at("003.Some_Bird"), "Some Bird");
  }
}

TEST(CubLayout, TakesASplitFileInstead) {
  const testing::TempDir root;
  make_cub(root.path());
  write_file(root / "split.csv", "class,split\n002.Some_Bird,base\n001.Some_Bird,novel\n");
  const ImageDataset dataset = list_images(root.path(), with_split(root / "split.csv"));
  EXPECT_THAT(dataset.class_names, ElementsAre("001.Some_Bird", "002.Some_Bird"));
  EXPECT_THAT(dataset.class_split, ElementsAre(Split::kNovel, Split::kBase));
}

TEST(CubLayout, NamesFileAndLineOfBadInput) {
  const testing::TempDir root;
  make_cub(root.path());
  fs::remove(root / "images/002.Some_Bird/bird_2.jpg");
  EXPECT_THAT(list_error(root.path()), AllOf(HasSubstr("images.txt:2"), HasSubstr("bird_2.jpg")));
  make_cub(root.path());
  write_file(root / "image_class_labels.txt", "1 1\n2 77\n");
  EXPECT_THAT(list_error(root.path()),
              AllOf(HasSubstr("image_class_labels.txt:2"), HasSubstr("'77'"), HasSubstr("1..6")));
  write_file(root / "image_class_labels.txt", "1 1\n99 1\n");
  EXPECT_THAT(list_error(root.path()), HasSubstr("image_class_labels.txt:2: image 99 is not in images.txt"));
  write_file(root / "classes.txt", "1 a\nb\n");
  EXPECT_THAT(list_error(root.path()), HasSubstr("classes.txt:2"));
}

void make_mini_imagenet(const fs::path& root) {
  for (const char* file : {"a0.jpg", "a1.jpg", "b0.jpg", "c0.jpg"}) touch(root / "images" / file);
  write_file(root / "train.csv", "filename,label\na1.jpg,n01\na0.jpg,n01\n");
  write_file(root / "val.csv", "filename,label\nb0.jpg,n02\n");
  write_file(root / "test.csv", "filename,label\nc0.jpg,n03\n");
}

TEST(MiniImageNetLayout, ReadsTheThreeLists) {
  const testing::TempDir root;
  make_mini_imagenet(root.path());
  EXPECT_EQ(detect_layout(root.path()), Layout::kMiniImageNet);
  const ImageDataset dataset = list_images(root.path(), {});
  EXPECT_THAT(dataset.class_names, ElementsAre("n01", "n02", "n03"));
  EXPECT_THAT(dataset.class_split, ElementsAre(Split::kBase, Split::kVal, Split::kNovel));
  EXPECT_THAT(ids(dataset), ElementsAre("a0.jpg", "a1.jpg", "b0.jpg", "c0.jpg"));
}

TEST(MiniImageNetLayout, NamesFileAndLineOfBadInput) {
  const testing::TempDir root;
  make_mini_imagenet(root.path());
  write_file(root / "val.csv", "file,label\nb0.jpg,n02\n");
  EXPECT_THAT(list_error(root.path()),
              AllOf(HasSubstr("val.csv:1"), HasSubstr("'filename'"), HasSubstr("file, label")));
  write_file(root / "val.csv", "filename,label\nb0.jpg,n02\nb1.jpg,n02\n");
  EXPECT_THAT(list_error(root.path()), AllOf(HasSubstr("val.csv:3"), HasSubstr("missing image"), HasSubstr("b1.jpg")));
  write_file(root / "val.csv", "filename,label\nb0.jpg,n01\n");
  EXPECT_THAT(list_error(root.path()),
              AllOf(HasSubstr("val.csv:2"), HasSubstr("'n01' is in two splits"), HasSubstr("train.csv:2")));
  write_file(root / "val.csv", "filename,label\nb0.jpg,n02\na0.jpg,n02\n");
  EXPECT_THAT(list_error(root.path()),
              AllOf(HasSubstr("val.csv:3"), HasSubstr("duplicate image a0.jpg (first at"), HasSubstr("train.csv:3")));
  fs::remove(root / "val.csv");
  EXPECT_THAT(list_error(root.path()), HasSubstr("val.csv"));
}

TEST(IlsvrcLayout, TakesTheClassesOfAStandardSplit) {
  const testing::TempDir root;
  for (const auto& entry : standard_split("mini-imagenet"))
    touch(root / "train" / entry.first / (entry.first + "_1.JPEG"));
  touch(root / "train/n00000001/n00000001_1.JPEG");
  EXPECT_EQ(detect_layout(root.path()), Layout::kIlsvrc);
  ImageDatasetOptions options;
  options.standard_split = "mini-imagenet";
  EXPECT_EQ(list_images(root.path(), options).class_names.size(), 100u);
  EXPECT_EQ(list_images(root / "train", options).class_names.size(), 100u);
  fs::remove_all(root / "train/n01532829");
  EXPECT_THAT(list_error(root.path(), options),
              AllOf(HasSubstr("mini-imagenet names 1 of 100 classes"), HasSubstr("n01532829")));
}

TEST(StandardSplit, HasThePublishedNumbersOfClasses) {
  const auto count = [](const SplitTable& table) {
    std::map<Split, int> counts;
    for (const auto& entry : table) ++counts[entry.second];
    return std::vector<int>{counts[Split::kBase], counts[Split::kVal], counts[Split::kNovel]};
  };
  EXPECT_THAT(count(standard_split("mini-imagenet")), ElementsAre(64, 16, 20));
  EXPECT_THAT(count(standard_split("tiered-imagenet")), ElementsAre(351, 97, 160));
  EXPECT_EQ(standard_split("mini-imagenet").at("n01532829"), Split::kBase);  // house finch
  EXPECT_THAT(message_of([] { standard_split("mini-imagnet"); }), HasSubstr("did you mean 'mini-imagenet'"));
}

TEST(SplitUse, ADivisionCanBeIgnoredWhereverItIsWritten) {
  const testing::TempDir file, folders, cub, mini;
  for (const char* name : {"cat/a.jpg", "eel/b.jpg"}) touch(file / name);
  write_file(file / "split.csv", "class,split\ncat,novel\n");
  for (const char* name : {"base/cat/a.jpg", "novel/eel/b.jpg"}) touch(folders / name);
  make_cub(cub.path());
  make_mini_imagenet(mini.path());
  ImageDatasetOptions options;
  options.split_use = SplitUse::kIgnored;
  for (const auto& [root, classes] : std::vector<std::pair<fs::path, size_t>>{
           {file.path(), 2}, {folders.path(), 2}, {cub.path(), 5}, {mini.path(), 3}}) {
    const ImageDataset all = list_images(root, options);
    EXPECT_EQ(all.class_names.size(), classes) << root;
    EXPECT_EQ(all.class_split, std::vector<Split>(classes, Split::kBase)) << root;
  }
}

TEST(ParseLayout, KnowsItsOwnWordsOnly) {
  for (const char* word : {"auto", "folder", "tiny-imagenet", "cub", "mini-imagenet", "ilsvrc"}) {
    EXPECT_EQ(to_string(parse_layout(word)), word);
  }
  EXPECT_THAT(message_of([] { parse_layout("imagenet"); }), HasSubstr("unknown layout 'imagenet'"));
}

}  // namespace
}  // namespace protocom
