#include "images/other_media.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "images/folder_walk.h"
#include "images/image_files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OtherMedia, IsNamedWithWhatToDoWithIt) {
  for (const char* name : {"photos.zip", "a/photos.TAR", "photos.tar.gz", "photos.7z"})
    EXPECT_EQ(other_media(name), std::string(name) + ": unpack it and give the folder");
  for (const char* name : {"a b/clip.mp4", "CLIP.MOV", "clip.avi"})
    EXPECT_THAT(other_media(name), HasSubstr(std::string("ffmpeg -i '") + name + "' -vf fps=1"));
  for (const char* name : {"https://host/a.jpg", "s3://bucket/a.jpg", "https:/host/a.jpg"})
    EXPECT_THAT(other_media(name), AllOf(HasSubstr(name), HasSubstr("addresses are not supported")));
  EXPECT_THAT(other_media("Photos Library.photoslibrary/"), HasSubstr("export the photos first"));
  EXPECT_THAT(other_media("a/train.PARQUET"), HasSubstr("create(\"mine.pcm\", images=\"a/train.PARQUET\")"));
  EXPECT_THAT(other_media("a';b.parquet"), HasSubstr("images=\"FILE.parquet\""));
  EXPECT_THAT(other_media("seen.npz"), HasSubstr("enrol --features"));
  for (const char* name : {"a.jpg", "zip", "c:/photos/a.jpg", "https/a.jpg", "a.zip.jpg", "."})
    EXPECT_EQ(other_media(name), "") << name;
}

TEST(OtherMedia, IsNoImageWhereImagesAreLookedFor) {
  EXPECT_THAT(message_of([&] { find_images({"photos.zip"}); }), HasSubstr("photos.zip: unpack it"));
  const TempDir folder;
  const auto put = [&](const fs::path& name) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "x";
  };
  for (const char* name : {"a.jpg", "My.photoslibrary/originals/b.jpg"}) put(name);
  const FoundImages found = find_images({folder.path().string()});
  EXPECT_THAT(found.paths, ElementsAre(folder / "a.jpg"));
  EXPECT_THAT(found.skipped.describe(), HasSubstr("1 in My.photoslibrary"));
  EXPECT_THAT(message_of([&] { find_images({(folder / "My.photoslibrary").string()}); }),
              HasSubstr("export the photos"));
}

// Google Takeout packs a .json beside each photo, and a copy if it was edited.
TEST(OtherMedia, EditedCopiesOfGooglePhotosCountOnce) {
  const TempDir folder;
  for (const char* name : {"1.jpg", "1.jpg.json", "1-edited.jpg", "2.jpg", "2.jpg.supplemental-metadata.json",
                           "2-edited.jpg", "3.jpg", "3-edited.jpg", "4-edited.jpg"})
    std::ofstream(folder / name) << "x";
  const FoundImages found = find_images({folder.path().string()});
  EXPECT_THAT(found.paths, ElementsAre(folder / "1.jpg", folder / "2.jpg", folder / "3-edited.jpg", folder / "3.jpg",
                                       folder / "4-edited.jpg"));
  EXPECT_THAT(found.skipped.describe(), HasSubstr("2 edited copy of Google Photos"));
}

}  // namespace
}  // namespace protocom::testing
