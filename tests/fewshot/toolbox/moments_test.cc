#include "heads/moments.h"

#include <filesystem>

#include "io/files.h"
#include "io/npz.h"
#include "support/golden.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::message_of;
using protocom::testing::tensor_of;

TEST(Moments, AgreeWithTheDefinitionsOnGoldenData) {
  const auto data = golden("moments");
  const at::Tensor labels = tensor_of(data.at("labels")).to(at::kLong);
  const Moments classes = class_moments(tensor_of(data.at("features")), labels, 3);
  EXPECT_LT(error_of(classes.mean(), tensor_of(data.at("class_mean"))), 1e-12);
  EXPECT_LT(error_of(classes.std(), tensor_of(data.at("class_std"))), 1e-12);
  const Moments attributes = attribute_moments(classes, tensor_of(data.at("association")));
  EXPECT_TRUE(attributes.count.equal(tensor_of(data.at("attribute_count"))));
  EXPECT_LT(error_of(attributes.mean(), tensor_of(data.at("attribute_mean"))), 1e-12);
  EXPECT_LT(error_of(attributes.std(), tensor_of(data.at("attribute_std"))), 1e-12);
}

TEST(Moments, AreZeroForAnEmptyGroupAndHaveNoVarianceForASingleImage) {
  const at::Tensor features = at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2});
  const Moments moments = class_moments(features, at::tensor({0, 2}, at::kLong), 3);
  EXPECT_TRUE(moments.mean().equal(at::tensor({1.0, 2.0, 0.0, 0.0, 3.0, 4.0}, at::kDouble).view({3, 2})));
  EXPECT_TRUE(moments.variance().equal(at::zeros({3, 2}, at::kDouble)));
}

TEST(Moments, RefuseLabelsThatDoNotFit) {
  const at::Tensor features = at::ones({2, 3});
  const auto refusal = [&](const at::Tensor& labels, int64_t groups) {
    return message_of([&] { class_moments(features, labels, groups); });
  };
  EXPECT_EQ(refusal(at::tensor({0, 2}, at::kLong), 2), "labels: expected values in [0, 2), found 2");
  EXPECT_EQ(refusal(at::tensor({-1, 2}, at::kLong), 2), "labels: expected values in [0, 2), found -1");
  EXPECT_EQ(refusal(at::arange(3), 3), "labels: expected int64 [2] on cpu, found int64 [3] on cpu");
  EXPECT_EQ(refusal(at::ones({2}), 3), "labels: expected int64 [2] on cpu, found float32 [2] on cpu");
  EXPECT_EQ(refusal(at::arange(2), -1), "number of groups: expected at least 0, found -1");
  EXPECT_EQ(message_of([] { class_moments(at::ones({2}), at::arange(2), 2); }),
            "features: expected float32 [any, any] on cpu, found float32 [2] on cpu");
  const Moments classes = class_moments(features, at::arange(2), 2);
  EXPECT_EQ(message_of([&] {
              attribute_moments(classes, at::ones({3, 4}));
            }),
            "association: expected float32 [2, any] on cpu, found float32 [3, 4] on cpu");
}

TEST(Moments, AddUp) {
  const at::Tensor features = at::randn({100, 8}, at::kDouble);
  const at::Tensor labels = at::arange(100).remainder(3);
  const Moments whole = class_moments(features, labels, 3);
  const Moments first = class_moments(features.narrow(0, 0, 37), labels.narrow(0, 0, 37), 3);
  const Moments second = class_moments(features.narrow(0, 37, 63), labels.narrow(0, 37, 63), 3);
  const Moments sum{first.count + second.count, first.sum + second.sum, first.sum_squares + second.sum_squares};
  EXPECT_LT(error_of(sum.std(), whole.std()), 1e-12);
}

TEST(Moments, ReproduceThePublishedAttributeMomentsOfMiniImageNet) {
  REQUIRE_REAL_DATA();
  const std::filesystem::path folder = *testing::real_data() / "miniimagenet-published";
  const auto graph = nlohmann::json::parse(read_file(folder / "graph.json"));
  const auto class_rows = graph.at("class_mean_rows").get<std::vector<std::string>>();
  const auto attribute_rows = graph.at("attribute_rows").get<std::vector<std::string>>();
  at::Tensor association =
      at::zeros({static_cast<int64_t>(class_rows.size()), static_cast<int64_t>(attribute_rows.size())});
  const auto index_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  for (const auto& edge : graph.at("edges")) {
    const int64_t row = index_in(class_rows, edge[0]);
    if (row < association.size(0)) association[row][index_in(attribute_rows, edge[1])] = 1;
  }
  constexpr double kImages = 600;  // per class
  const at::Tensor mean = tensor_of(read_npy(folder / "class_mean.npy")).to(at::kDouble);
  const at::Tensor std = tensor_of(read_npy(folder / "class_std.npy")).to(at::kDouble);
  const Moments classes{at::full({association.size(0)}, kImages, at::kDouble), mean * kImages,
                        std * std * (kImages - 1) + mean * mean * kImages};
  const Moments attributes = attribute_moments(classes, association);
  EXPECT_LT(error_of(attributes.mean(), tensor_of(read_npy(folder / "attribute_mean.npy")).to(at::kDouble)), 1e-5);
  EXPECT_LT(error_of(attributes.std(), tensor_of(read_npy(folder / "attribute_std.npy")).to(at::kDouble)), 1e-5);
}

}  // namespace
}  // namespace protocom
