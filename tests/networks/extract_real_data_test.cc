#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "encoders/extract.h"
#include "io/npz.h"
#include "networks/torch_encoder.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

TEST(ExtractOnRealData, TheTorchScriptBackboneGivesThePublishedFeaturesOfRealImages) {
  REQUIRE_REAL_DATA();
  const testing::TempDir folder;
  const NpzReader published(*testing::real_data() / "tiny-imagenet-100-resnet12.npz");
  const auto paths = published.strings("paths");
  std::string members;
  std::vector<std::filesystem::path> files;
  std::vector<int64_t> rows;
  for (size_t row = 0; row < paths.size(); row += 4001) {
    const std::string wnid = paths[row].substr(0, paths[row].find('_'));
    const std::string member = "tiny-imagenet-200/train/" + wnid + "/images/" + paths[row];
    members += " " + member;
    files.push_back(folder.path() / member);
    rows.push_back(static_cast<int64_t>(row));
  }
  const std::string archive = (*testing::real_data() / "tiny-imagenet-100.tgz").string();
  ASSERT_EQ(std::system(("tar xzf '" + archive + "' -C '" + folder.path().string() + "'" + members).c_str()), 0);
  std::vector<Image> images;
  for (const auto& file : files) images.push_back(read_image(file));

  NetworkOptions options;
  options.image_size = 64;
  TorchEncoder encoder(read_backbone(*testing::real_data() / "tiny-imagenet-100-resnet12.pt", options));
  const at::Tensor features = tensor_of(extract_features(encoder, images));
  const at::Tensor expected = tensor_of(published.array("features")).index_select(0, at::tensor(rows)).to(at::kFloat);
  // The weights were rounded to half precision after the features were made.
  const at::Tensor relative = (features - expected).norm(2, 1) / expected.norm(2, 1);
  EXPECT_LT(relative.max().item<float>(), 1e-2);
  EXPECT_GE(images.size(), 10U);
}

}  // namespace
}  // namespace protocom
