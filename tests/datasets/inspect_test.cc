#include "datasets/inspect.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "datasets/contact_sheet.h"
#include "images/image.h"
#include "io/files.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

Image flat(int64_t height, int64_t width, uint8_t value) {
  return {height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3), value)};
}

void put(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  write_file(path, bytes);
}

/// Writes base/cat: 3 images, base/dog: 1, novel/ant: 2; every image is different.
void write_three_classes(const fs::path& root) {
  put(root / "base/cat/a.png", encode_png(flat(10, 20, 1)));
  put(root / "base/cat/b.png", encode_png(flat(12, 30, 2)));
  put(root / "base/cat/c.png", encode_png(flat(14, 40, 3)));
  put(root / "base/dog/a.png", encode_png(flat(16, 50, 4)));
  put(root / "novel/ant/a.png", encode_png(flat(18, 60, 5)));
  put(root / "novel/ant/b.png", encode_png(flat(20, 70, 6)));
}

Inspection inspect(const fs::path& root) { return inspect_images(list_images(root, {}), Progress::none()); }

TEST(Inspect, CountsClassesSplitsAndSizes) {
  const testing::TempDir root;
  write_three_classes(root.path());
  const Inspection found = inspect(root.path());
  EXPECT_EQ(found.images(), 6);
  EXPECT_THAT(found.counts_of(Split::kBase), ElementsAre(3, 1));
  EXPECT_TRUE(found.counts_of(Split::kVal).empty());
  EXPECT_THAT(found.counts_of(Split::kNovel), ElementsAre(2));
  EXPECT_EQ(found.height.min, 10);
  EXPECT_EQ(found.height.median, 14);
  EXPECT_EQ(found.height.max, 20);
  EXPECT_EQ(found.width.min, 20);
  EXPECT_EQ(found.width.max, 70);
  EXPECT_TRUE(found.is_clean());
}

TEST(Inspect, NamesUnreadableImagesWithTheReason) {
  const testing::TempDir root;
  write_three_classes(root.path());
  put(root / "base/cat/empty.jpg", "");
  put(root / "novel/ant/cut.png", encode_png(flat(20, 70, 9)).substr(0, 50));
  const Inspection found = inspect(root.path());
  ASSERT_EQ(found.unreadable.size(), 2u);
  EXPECT_EQ(found.unreadable[0].id, "novel/ant/cut.png");
  EXPECT_EQ(found.unreadable[0].reason, "truncated PNG");
  EXPECT_EQ(found.unreadable[1].id, "base/cat/empty.jpg");
  EXPECT_EQ(found.classes[1].name, "cat");
  EXPECT_EQ(found.classes[1].images, 4);
  EXPECT_EQ(found.classes[1].unreadable, 1);
  EXPECT_FALSE(found.is_clean());
}

// Ten images are in both splits of a data set, some in two classes (pratikkayal/PlantDoc-Dataset issue 4).
TEST(Inspect, FindsTheSamePixelsInAnotherFormatAcrossSplits) {
  const testing::TempDir root;
  write_three_classes(root.path());
  std::string bmp = "BM";  // an image of one pixel, which PNG and BMP both preserve exactly
  bmp += std::string("\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0", 28) +
         std::string(24, '\0') + std::string("\x07\x07\x07\0", 4);
  put(root / "novel/ant/leak.bmp", bmp);
  put(root / "base/dog/leak.png", encode_png(flat(1, 1, 7)));
  put(root / "base/cat/copy.png", encode_png(flat(10, 20, 1)));
  put(root / "base/dog/contradiction.png", encode_png(flat(12, 30, 2)));
  const Inspection found = inspect(root.path());
  ASSERT_EQ(found.duplicates.size(), 3u);
  EXPECT_EQ(found.duplicates[0].kind, DuplicateKind::kAcrossSplits);
  EXPECT_THAT(found.duplicates[0].ids, ElementsAre("novel/ant/leak.bmp", "base/dog/leak.png"));
  EXPECT_EQ(found.duplicates[1].kind, DuplicateKind::kAcrossClasses);
  EXPECT_THAT(found.duplicates[1].ids, ElementsAre("base/cat/b.png", "base/dog/contradiction.png"));
  EXPECT_EQ(found.duplicates[2].kind, DuplicateKind::kWithinClass);
  EXPECT_THAT(found.duplicates[2].ids, ElementsAre("base/cat/a.png", "base/cat/copy.png"));
  EXPECT_EQ(found.duplicates_of(DuplicateKind::kAcrossSplits), 1);
  EXPECT_FALSE(found.is_clean());
}

TEST(Inspect, DoesNotTakeOneShapeForAnother) {
  const testing::TempDir root;
  write_three_classes(root.path());
  put(root / "base/cat/wide.png", encode_png(flat(4, 8, 9)));
  put(root / "novel/ant/high.png", encode_png(flat(8, 4, 9)));
  EXPECT_TRUE(inspect(root.path()).duplicates.empty());
}

TEST(Inspect, HoldsAPackAgainstItsHash) {
  const testing::TempDir root;
  write_three_classes(root.path());
  PackOptions options;
  options.image_size = 8;
  PackedImages images = pack_images(list_images(root.path(), {}), options, Progress::none());
  const Inspection whole = inspect_images(images, Progress::none());
  EXPECT_TRUE(whole.is_clean());
  EXPECT_EQ(whole.images(), 6);
  EXPECT_EQ(whole.width.max, 8);
  tensor_of(images.pixels)[0].copy_(tensor_of(images.pixels)[5]);  // ant/a becomes dog/a: damage, and a leak
  const Inspection damaged = inspect_images(images, Progress::none());
  EXPECT_THAT(damaged.damage, HasSubstr("content hash"));
  EXPECT_EQ(damaged.duplicates_of(DuplicateKind::kAcrossSplits), 1);
}

TEST(Inspect, TellsAllOfItAsJson) {
  const testing::TempDir root;
  write_three_classes(root.path());
  put(root / "base/cat/empty.jpg", "");
  const nlohmann::json told = inspect(root.path()).to_json();
  EXPECT_EQ(told.at("images"), 7);
  EXPECT_EQ(told.at("clean"), false);
  EXPECT_EQ(told.at("classes").size(), 3u);
  EXPECT_EQ(told.at("unreadable")[0].at("reason"), "the file is empty");
  EXPECT_EQ(told.at("height").at("median"), 14);
}

TEST(SpreadOf, TakesTheLowerMiddle) {
  EXPECT_EQ(spread_of({5, 1, 9, 3}).median, 3);
  EXPECT_EQ(spread_of({5, 1, 9}).median, 5);
  EXPECT_EQ(spread_of({}).max, 0);
}

TEST(ContactSheet, PutsTilesUnderTheirText) {
  const Image sheet = draw_contact_sheet({{"cat", {flat(9, 9, 10), flat(9, 20, 20)}}, {"", {flat(9, 9, 30)}}}, 16);
  EXPECT_EQ(sheet.width, 4 + 2 * (16 + 4));
  EXPECT_EQ(sheet.height, 4 + 24 + 16 + 4 + 16 + 4);
  const auto at = [&](int64_t y, int64_t x) {
    return static_cast<int>(sheet.rgb[static_cast<size_t>(3 * (y * sheet.width + x))]);
  };
  EXPECT_EQ(at(28, 4), 10);
  EXPECT_EQ(at(43, 39), 20);
  EXPECT_EQ(at(48, 4), 30);
  EXPECT_EQ(at(48, 30), 255);
  const auto text_end = sheet.rgb.begin() + 28 * sheet.width * 3;
  EXPECT_GT(std::count(sheet.rgb.begin(), text_end, 40), 3 * 30);  // three letters in ink
}

TEST(ContactSheet, ShowsEverySplitOfADatasetAndCrossesOutWhatItCannotRead) {
  const testing::TempDir root;
  write_three_classes(root.path());
  write_file(root / "base/dog/a.png", "");
  SheetOptions options;
  options.classes = 3;
  options.images_per_class = 2;
  options.tile = 10;
  const Image sheet = make_contact_sheet(list_images(root.path(), {}), options);
  EXPECT_EQ(sheet.height, 4 + 3 * (24 + 10 + 4));
  EXPECT_EQ(sheet.width, 4 + 2 * (10 + 4));
  EXPECT_EQ(std::count(sheet.rgb.begin(), sheet.rgb.end(), 200), 3 * (4 * 9 + 2 * 8));  // the box and its two diagonals
  EXPECT_EQ(sheet.rgb, make_contact_sheet(list_images(root.path(), {}), options).rgb);
}

TEST(ContactSheet, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW(draw_contact_sheet({}, 16), UsageError);
  EXPECT_THROW(draw_contact_sheet({{"cat", {flat(9, 9, 10)}}}, 2), UsageError);
}

}  // namespace
}  // namespace protocom
