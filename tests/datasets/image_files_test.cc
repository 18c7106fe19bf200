#include "images/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "datasets/image_finder.h"
#include "datasets/image_source.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Writes a PNG of one grey value, side x side.
void paint(const fs::path& path, uint8_t grey, int64_t side = 8) {
  fs::create_directories(path.parent_path());
  write_file(path, encode_png({side, side, std::vector<uint8_t>(static_cast<size_t>(side * side * 3), grey)}));
}

TEST(FindImages, WalksFoldersInOrderAndTakesFilesAsTheyAre) {
  const TempDir folder;
  for (const char* name : {"b/2.PNG", "b/a/1.jpg", "b/.hidden.png", "b/notes.txt", "list.dat"}) {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, "x");
  }
  EXPECT_THAT(find_images({(folder / "list.dat").string(), (folder / "b").string()}).paths,
              ElementsAre(folder / "list.dat", folder / "b/2.PNG", folder / "b/a/1.jpg"));
}

// An export of a photo library has IMG.heic.supplemental-metadata.json and IMG.MP4 beside IMG.heic (simulot/immich-go
// issue 1298).
TEST(FindImages, CountsWhatItLeavesOutByKind) {
  const TempDir folder;
  for (const char* name : {"1.jpg", "a.txt", "b.TXT", "c.mp4", ".hidden.png", "README"}) write_file(folder / name, "x");
  fs::create_symlink(folder / "nowhere.jpg", folder / "link.jpg");
  const FoundImages found = find_images({folder.path().string()});
  EXPECT_EQ(found.skipped.total(), 6);
  EXPECT_EQ(found.skipped.describe(),
            "6 files are ignored: 2 .txt, 1 .mp4, 1 broken link, 1 hidden, 1 without a suffix; make photos of the film "
            "and give these: mkdir frames; ffmpeg -i 'FILM' -vf fps=1 -q:v 2 frames/%06d.jpg");
  EXPECT_EQ(SkippedFiles().describe(), "");
  SkippedFiles beside;
  beside.add_beside_classes(folder / "a.txt");
  EXPECT_EQ(beside.describe(), "1 file is ignored: 1 .txt beside the class folders");
  beside.add_beside_classes(folder / "c.mp4");
  EXPECT_THAT(beside.describe(), HasSubstr("ffmpeg -i"));
}

TEST(FindImages, SaysWhatAFolderHoldsInPlaceOfImages) {
  const TempDir folder;
  const auto error = [&](const fs::path& under) {
    return message_of([&] { find_images({(folder / under).string()}); });
  };
  for (const char* name : {"films/a.MOV", "deep/in/b.mp4", "packed/c.zip", "notes/d.txt"}) {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, "x");
  }
  EXPECT_THAT(error("films"),
              HasSubstr("films/a.MOV: make photos of the film and give these: mkdir frames; ffmpeg -i '" +
                        (folder / "films/a.MOV").string() + "' -vf"));
  EXPECT_THAT(error("deep"), HasSubstr("1 file is ignored: 1 .mp4; make photos of the film"));
  EXPECT_THAT(error("packed"), HasSubstr("c.zip: unpack it"));
  EXPECT_THAT(error("notes"), HasSubstr("or BMP): 1 file is ignored: 1 .txt"));
}

TEST(FindImages, VisitsEachFolderOnceAndTakesALinkThatIsGiven) {
  const TempDir folder;
  fs::create_directories(folder / "b/a");
  for (const char* name : {"b/1.jpg", "b/a/2.jpg"}) write_file(folder / name, "x");
  fs::create_directory_symlink("..", folder / "b/loop");
  fs::create_directory_symlink("a", folder / "b/again");
  const FoundImages found = find_images({(folder / "b").string()});
  EXPECT_THAT(found.paths, ElementsAre(folder / "b/1.jpg", folder / "b/a/2.jpg"));
  EXPECT_EQ(found.skipped.describe(),
            "2 files are ignored: 1 linking to a folder above, 1 linking to a folder counted already");
  EXPECT_THAT(find_images({(folder / "b/loop").string()}).paths,
              ElementsAre(folder / "b/loop/b/1.jpg", folder / "b/loop/b/a/2.jpg"));
}

TEST(FindImages, NamesWhatIsMissing) {
  const TempDir folder;
  fs::create_directories(folder / "empty");
  EXPECT_THAT(message_of([&] { find_images({(folder / "gone").string()}); }),
              HasSubstr("gone: no such file or folder"));
  write_file(folder / "one.jpg", "x");
  const FoundImages found =
      find_images({(folder / "gone").string(), (folder / "one.jpg").string(), (folder / "empty").string()});
  EXPECT_THAT(found.paths, ElementsAre(folder / "one.jpg")) << "one bad argument stops no other";
  ASSERT_EQ(found.unreadable.size(), 2u);
  EXPECT_THAT(found.unreadable[1].reason, HasSubstr("no image in this folder"));
  EXPECT_THAT(message_of([&] { find_images({(folder / "empty").string()}); }), HasSubstr("no image in this folder"));
}

TEST(ImageFinder, FindsAnImageOfAFolderByTheEndOfItsPath) {
  const TempDir folder;
  paint(folder / "train/cat/1.png", 10);
  paint(folder / "train/dog/1.png", 20);
  paint(folder / "train/dog/2.png", 30);
  write_file(folder / "train/dog/broken.png", "x");
  const ImageFinder finder(folder.path());
  const auto dog = finder.find("dog/1.png", 4);
  ASSERT_TRUE(dog.has_value());
  EXPECT_EQ(dog->width, 4);
  EXPECT_EQ(dog->rgb.front(), 20);
  EXPECT_EQ(finder.find("2.png", 4)->rgb.front(), 30);
  EXPECT_FALSE(finder.find("1.png", 4).has_value()) << "it fits two";
  EXPECT_FALSE(finder.find("dog/broken.png", 4).has_value());
  EXPECT_FALSE(ImageFinder({}).find("1.png", 4).has_value());
}

/// Packs a folder dataset of two classes.
fs::path packed(const TempDir& folder) {
  paint(folder / "photos/base/cat/1.png", 10);
  paint(folder / "photos/novel/dog/1.png", 20);
  PackOptions options;
  options.image_size = 8;
  write_pack(folder / "images.pack", pack_images(list_images(folder / "photos", {}), options, Progress::none()), {});
  return folder / "images.pack";
}

TEST(ImageFinder, FindsAnImageOfAPackByItsId) {
  const TempDir folder;
  const fs::path pack = packed(folder);
  const PackedImages images = read_pack(pack);
  const ImageFinder finder(pack);
  for (size_t i = 0; i < images.image_ids.size(); ++i) {
    const auto found = finder.find(images.image_ids[i], 8);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->rgb.front(), images.labels[i] == 0 ? 10 : 20);
  }
  EXPECT_FALSE(finder.find("nothing", 8).has_value());
}

TEST(LoadImages, PacksAFolderAtTheSizeAskedFor) {
  const TempDir folder;
  packed(folder);
  EXPECT_EQ(load_images({folder / "photos", {}, {6}}, Progress::none()).image_size(), 6);
  EXPECT_EQ(load_images({folder / "photos", {}, {0}}, Progress::none()).image_size(), PackOptions{}.image_size);
}

TEST(LoadImages, APackKeepsItsSizeAndSplit) {
  const TempDir folder;
  const fs::path pack = packed(folder);
  EXPECT_EQ(load_images({pack, {}, {0}}, Progress::none()).image_size(), 8);
  EXPECT_EQ(load_images({pack, {}, {8}}, Progress::none()).size(), 2);
  EXPECT_THAT(message_of([&] {
                load_images({pack, {}, {6}}, Progress::none());
              }),
              HasSubstr("8x8 pixels, expected 6x6"));
  ImageDatasetOptions other;
  other.standard_split = "cub";
  EXPECT_THAT(message_of([&] { load_images({pack, other, {0}}, Progress::none()); }), HasSubstr("its own split"));
}

}  // namespace
}  // namespace protocom
