#include "datasets/packed_images.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "images/image.h"
#include "io/files.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string flat_png(int64_t height, int64_t width, uint8_t value) {
  return encode_png({height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3), value)});
}

/// Makes two classes; image i of the folder is flat with the value 10 * i.
ImageDataset make_dataset(const fs::path& root) {
  const std::vector<std::string> files = {"ant/a.png", "ant/b.png", "bee/a.png", "bee/b.png", "bee/c.png"};
  for (size_t i = 0; i < files.size(); ++i) {
    fs::create_directories((root / files[i]).parent_path());
    write_file(root / files[i], flat_png(10 + static_cast<int64_t>(i), 12, static_cast<uint8_t>(10 * i)));
  }
  ImageDatasetOptions options;
  options.split_use = SplitUse::kOptional;
  return list_images(root, options);
}

PackedImages pack(const ImageDataset& dataset, PackOptions options = {}) {
  options.image_size = 8;
  return pack_images(dataset, options, Progress::none());
}

void expect_equal(const PackedImages& a, const PackedImages& b) {
  EXPECT_TRUE(at::equal(tensor_of(a.pixels), tensor_of(b.pixels)));
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.class_split, b.class_split);
  EXPECT_EQ(a.image_ids, b.image_ids);
  EXPECT_EQ(a.content_hash, b.content_hash);
}

TEST(PackImages, KeepsTheOrderOfTheDatasetWhateverTheThreads) {
  const testing::TempDir root;
  const ImageDataset dataset = make_dataset(root.path());
  for (const int threads : {1, 4}) {
    PackOptions options;
    options.threads = threads;
    const PackedImages images = pack(dataset, options);
    EXPECT_EQ(images.pixels.shape(), (Shape{5, 8, 8, 3}));
    EXPECT_EQ(images.labels, (std::vector<int64_t>{0, 0, 1, 1, 1}));
    EXPECT_THAT(images.image_ids, ElementsAre("ant/a.png", "ant/b.png", "bee/a.png", "bee/b.png", "bee/c.png"));
    for (int64_t i = 0; i < 5; ++i) EXPECT_TRUE((tensor_of(images.pixels)[i] == 10 * i).all().item<bool>()) << i;
  }
}

TEST(PackImages, WarnsOfTheSameImageInTwoSplitsAlone) {
  const testing::TempDir root;
  ImageDataset dataset = make_dataset(root.path());
  const auto stated = [&] {
    const testing::Logged heard;
    pack(dataset);
    return heard.text();
  };
  write_file(root / "bee/a.png", flat_png(20, 20, 0));  // same colour as ant/a.png
  EXPECT_EQ(stated(), "") << "both are of base classes";
  dataset.class_split[1] = Split::kNovel;
  EXPECT_THAT(stated(),
              HasSubstr("1 image is also in a class of another split (ant/a.png, bee/a.png), which inflates accuracy"));
}

TEST(PackImages, GivesTheSamePixelsThroughAScratchFileAndLeavesNothingBehind) {
  const testing::TempDir root;
  const testing::TempDir scratch;
  const ImageDataset dataset = make_dataset(root.path());
  PackOptions options;
  options.scratch_folder = scratch.path();
  expect_equal(pack(dataset, options), pack(dataset));
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(PackImages, NamesTheFirstUnreadableImage) {
  const testing::TempDir root;
  const ImageDataset dataset = make_dataset(root.path());
  write_file(root / "bee/b.png", "");
  write_file(root / "ant/b.png", flat_png(9, 9, 1).substr(0, 60));
  for (int repeat = 0; repeat < 20; ++repeat) {
    PackOptions options;
    options.threads = 4;
    options.strict = true;
    EXPECT_THAT(message_of([&] { pack(dataset, options); }), AllOf(HasSubstr("ant/b.png"), HasSubstr("truncated PNG")));
  }
}

TEST(PackImages, LeavesOutUnreadableImagesAndClassesOfNoOthersAndSaysHowMany) {
  const testing::TempDir root;
  const ImageDataset dataset = make_dataset(root.path());
  write_file(root / "ant/a.png", "");
  const PackedImages images = pack(dataset);
  EXPECT_THAT(images.image_ids, ElementsAre("ant/b.png", "bee/a.png", "bee/b.png", "bee/c.png"));
  EXPECT_EQ(images.labels, (std::vector<int64_t>{0, 1, 1, 1}));
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE((tensor_of(images.pixels)[i] == 10 * (i + 1)).all().item<bool>()) << i;

  write_file(root / "ant/b.png", "");
  const testing::Logged heard;
  const PackedImages bees = pack(dataset);
  EXPECT_THAT(bees.class_names, ElementsAre("bee"));
  EXPECT_EQ(bees.class_split.size(), 1U);
  EXPECT_EQ(bees.labels, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_THAT(heard.text(), HasSubstr("ignoring 2 of 5 images, which cannot be read"));
  EXPECT_THAT(heard.text(), HasSubstr("ignoring 1 of 2 classes without a readable image: ant"));

  for (const char* bee : {"bee/a.png", "bee/b.png", "bee/c.png"}) write_file(root / bee, "");
  EXPECT_THAT(message_of([&] { pack(dataset); }), HasSubstr("none of the 5 images can be read"));
}

TEST(PackImages, RefusesSizesThatCannotBe) {
  const testing::TempDir root;
  const ImageDataset dataset = make_dataset(root.path());
  PackOptions options;
  options.image_size = 0;
  EXPECT_THROW(pack_images(dataset, options, Progress::none()), UsageError);
  options.image_size = 8;
  options.resize = 7;
  EXPECT_THROW(pack_images(dataset, options, Progress::none()), UsageError);
}

TEST(PackFile, MapsBackEqualToWhatWasWritten) {
  const testing::TempDir root;
  const PackedImages images = pack(make_dataset(root.path()));
  const fs::path path = root / "images.pack";
  Provenance provenance;
  provenance.command = "pack";
  write_pack(path, images, provenance);
  expect_equal(read_pack(path), images);
  EXPECT_TRUE(is_pack(path));
  EXPECT_FALSE(is_pack(root.path()));
  EXPECT_FALSE(is_pack(root / "ant/a.png"));
  const ArtefactHeader header = read_any_header(path);
  EXPECT_EQ(header.kind, "images");
  EXPECT_EQ(header.details.at("images"), 5);
  EXPECT_EQ(header.details.at("image_size"), 8);
}

TEST(PackFile, KeepsTheShorterSideThatItsImagesWereCutOutOf) {
  const testing::TempDir root;
  PackOptions options;
  options.resize = 9;
  write_pack(root / "images.pack", pack(make_dataset(root.path()), options), {});
  EXPECT_EQ(read_pack(root / "images.pack").shorter_side(), 9);
  EXPECT_EQ(read_any_header(root / "images.pack").details.at("resize"), 9);
  PackedImages wrong = read_pack(root / "images.pack");
  wrong.resize = 7;
  EXPECT_THAT(message_of([&] { write_pack(root / "wrong.pack", wrong, {}); }),
              HasSubstr("pixels for a crop of 8, found 7"));
  wrong.resize = -9;
  EXPECT_THAT(message_of([&] { write_pack(root / "wrong.pack", wrong, {}); }), HasSubstr("found -9"));
}

TEST(PackFile, HashFollowsTheContentAndNotThePath) {
  const testing::TempDir one;
  const testing::TempDir other;
  const PackedImages images = pack(make_dataset(one.path()));
  EXPECT_EQ(images.content_hash, pack(make_dataset(other.path())).content_hash);
  EXPECT_EQ(images.content_hash, hash_content(images));
  PackedImages changed = images;
  changed.pixels = images.pixels.copy();
  tensor_of(changed.pixels)[4][7][7][2] = 99;
  EXPECT_NE(hash_content(changed), images.content_hash);
  changed = images;
  changed.class_split[0] = Split::kNovel;
  EXPECT_NE(hash_content(changed), images.content_hash);
  changed = images;
  changed.image_ids[0] = "renamed";
  EXPECT_NE(hash_content(changed), images.content_hash);
}

TEST(PackFile, AnArchiveInItsPlaceIsRefusedWithWhatToDo) {
  const testing::TempDir folder;
  const fs::path zip = folder / "photos.zip";
  write_file(zip, "PK\x03\x04");
  EXPECT_EQ(message_of([&] { read_pack(zip); }), zip.string() + ": unpack it and give the folder");
  write_file(folder / "x.parquet", "PAR1");
  EXPECT_THAT(message_of([&] { read_pack(folder / "x.parquet"); }), HasSubstr("Parquet is read in Python"));
}

TEST(PackFile, RefusesOtherAndDamagedFiles) {
  const testing::TempDir root;
  const PackedImages images = pack(make_dataset(root.path()));
  const fs::path path = root / "images.pack";
  write_pack(path, images, {});
  const std::string whole = read_file(path);
  write_file(root / "cut.pack", std::string_view(whole).substr(0, whole.size() - 100));
  EXPECT_THAT(message_of([&] { read_pack(root / "cut.pack"); }), HasSubstr("cut.pack"));
  write_safetensors(root / "other.pack", arrays_of({{"x", at::zeros({2})}}), {});
  EXPECT_THAT(message_of([&] { read_pack(root / "other.pack"); }), HasSubstr("not a pack of images"));
  write_safetensors(root / "kind.pack", arrays_of({{"x", at::zeros({2})}}),
                    {{kSafetensorsHeaderKey, make_header("backbone", 1, {}).to_json().dump()}});
  EXPECT_THAT(message_of([&] { read_pack(root / "kind.pack"); }), HasSubstr("is a 'backbone' file"));
  write_safetensors(root / "newer.pack", arrays_of({{"x", at::zeros({2})}}),
                    {{kSafetensorsHeaderKey, make_header("images", 99, {}).to_json().dump()}});
  EXPECT_THAT(message_of([&] { read_pack(root / "newer.pack"); }), HasSubstr("images format 99"));
  PackedImages wrong = images;
  wrong.image_ids.pop_back();
  EXPECT_THAT(message_of([&] { write_pack(root / "wrong.pack", wrong, {}); }),
              HasSubstr("5 images, 5 labels and 4 image ids"));
  EXPECT_FALSE(fs::exists(root / "wrong.pack"));
}

}  // namespace
}  // namespace protocom
