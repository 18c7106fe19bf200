#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "datasets/image_dataset.h"
#include "datasets/inspect.h"
#include "datasets/packed_images.h"
#include "io/npz.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;

namespace fs = std::filesystem;

void unpack(const fs::path& archive, const fs::path& folder) {
  const std::string command = "tar -xzf '" + archive.string() + "' -C '" + folder.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

std::vector<int64_t> classes_by_split(const ImageDataset& dataset) {
  std::vector<int64_t> counts;
  for (const Split split : kAllSplits)
    counts.push_back(std::count(dataset.class_split.begin(), dataset.class_split.end(), split));
  return counts;
}

/// Returns file name -> class name, from features made by another program from the same images.
std::map<std::string, std::string> classes_of_features(const fs::path& features) {
  const NpzReader reader(features);
  const auto names = reader.strings("names");
  const auto paths = reader.strings("paths");
  const at::Tensor labels = tensor_of(reader.array("labels"));
  std::map<std::string, std::string> classes;
  for (size_t i = 0; i < paths.size(); ++i) {
    classes[paths[i]] = names[static_cast<size_t>(labels.data_ptr<int64_t>()[i])];
  }
  return classes;
}

TEST(RealDatasets, TinyImageNetIsListedAsItsFeaturesAre) {
  REQUIRE_REAL_DATA();
  const fs::path data = *testing::real_data();
  const testing::TempDir folder;
  unpack(data / "tiny-imagenet-100.tgz", folder.path());
  ImageDatasetOptions options;
  options.split = data / "tiny-imagenet-100";
  const ImageDataset dataset = list_images(folder / "tiny-imagenet-200", options);
  EXPECT_THAT(classes_by_split(dataset), ElementsAre(64, 16, 20));
  ASSERT_EQ(dataset.items.size(), 41000u);
  const auto expected = classes_of_features(data / "tiny-imagenet-100-resnet12.npz");
  ASSERT_EQ(expected.size(), 41000u);
  for (const ImageItem& item : dataset.items) {
    ASSERT_EQ(expected.at(item.path.filename().string()), dataset.class_names[static_cast<size_t>(item.label)])
        << item.id;
  }
  EXPECT_EQ(dataset.class_title.at("n01855672"), "goose");
}

TEST(RealDatasets, CubIsListedPackedAndClean) {
  REQUIRE_REAL_DATA();
  const testing::TempDir folder;
  unpack(*testing::real_data() / "cub-100.tgz", folder.path());
  const ImageDataset dataset = list_images(folder.path(), {});
  EXPECT_THAT(classes_by_split(dataset), ElementsAre(44, 28, 28));
  ASSERT_EQ(dataset.items.size(), 5902u);
  const Inspection found = inspect_images(dataset, Progress::none());
  EXPECT_TRUE(found.unreadable.empty());
  EXPECT_EQ(found.width.min, 96);
  EXPECT_EQ(found.height.max, 96);
  PackOptions options;
  options.image_size = 32;
  options.scratch_folder = folder.path();
  const PackedImages images = pack_images(dataset, options, Progress::none());
  write_pack(folder / "cub.pack", images, {});
  const PackedImages mapped = read_pack(folder / "cub.pack");
  EXPECT_EQ(hash_content(mapped), images.content_hash);
  EXPECT_EQ(mapped.pixels.shape(), (Shape{5902, 32, 32, 3}));
}

}  // namespace
}  // namespace protocom
