// Classes known by descriptions of another text encoder: the first photo may not lose what the description gained.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "fewshot/plda/fit.h"
#include "io/npz.h"
#include "support/matrices.h"
#include "support/plda_reference.h"
#include "support/real_data.h"

namespace protocom {
namespace {

constexpr int64_t kImagesOfEach = 4;
constexpr int64_t kAskedOfEach = 3;  // queries of each class

/// The 1,000 ImageNet classes of CLIP's features, four images each, and vectors of their descriptions. Of every ten
/// classes, four are base classes, one is a val class and one a novel class.
struct DescribedImages {
  explicit DescribedImages(const std::filesystem::path& folder) {
    const NpzReader images(folder / "imagenet-4-per-class.npz"), texts(folder / "imagenet-descriptions-text.npz");
    features = tensor_of(images.array("features")).to(at::kFloat);
    labels = tensor_of(images.array("labels")).to(at::kLong);
    const std::vector<std::string> names = texts.strings("names");
    std::vector<int64_t> order(names.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return names[a] < names[b]; });
    inputs.descriptions.class_embedding =
        array_of(tensor_of(texts.array("vectors")).to(at::kFloat).index_select(0, at::tensor(order, at::kLong)));
    const auto rows = [&](int64_t from, int64_t to) {
      const at::Tensor turn = labels.remainder(10);
      return turn.ge(from).logical_and(turn.lt(to)).nonzero().flatten();
    };
    inputs.base_features = array_of(features.index_select(0, rows(0, 4)));
    inputs.base_labels = numbers_of(labels.index_select(0, rows(0, 4)));
    inputs.val_features = array_of(features.index_select(0, rows(4, 5)));
    inputs.val_labels = numbers_of(labels.index_select(0, rows(4, 5)));
  }
  /// Returns the rows [n, 4] of novel classes [n].
  [[nodiscard]] at::Tensor images_of(const at::Tensor& classes) const {
    return classes.unsqueeze(1) * kImagesOfEach + at::arange(kImagesOfEach, at::kLong);
  }

  at::Tensor features, labels;
  PldaFitInputs inputs;
};

/// Returns the percentage of right answers for the last photos of `ways` novel classes, with the first `shots` of each,
/// over draws of classes and photos: m = (m0 + s S) / (1 + K s), log N(q; m, 1 + v).
double accuracy_of_described(const DescribedImages& data, const PldaModel& model, int64_t ways, int64_t shots,
                             int64_t draws) {
  Rng rng(7);
  double right = 0;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const at::Tensor classes = at::tensor(rng.sample(100, ways), at::kLong) * 10 + 5;
    const at::Tensor order = at::tensor(rng.sample(kImagesOfEach, kImagesOfEach), at::kLong);
    const at::Tensor rows = data.images_of(classes).index_select(1, order);
    const at::Tensor f = testing::transformed(model.space, data.features.index_select(0, rows.flatten()))
                             .view({ways, kImagesOfEach, -1});
    const ClassMeanPrior prior = model.prior(data.inputs.descriptions.rows(numbers_of(classes)), ways);
    const testing::PosteriorOfMeans known =
        testing::posterior_of({protocom::tensor_of(prior.mean), protocom::tensor_of(prior.variance)},
                              at::full({ways}, static_cast<double>(shots)), f.narrow(1, 0, shots).sum(1));
    const at::Tensor precision = (1 + known.variance.reshape({-1, f.size(2)})[0]).reciprocal();
    const at::Tensor query = f.narrow(1, kImagesOfEach - kAskedOfEach, kAskedOfEach).reshape({ways * kAskedOfEach, -1});
    const at::Tensor score = at::mm(query * precision, known.mean.t()) - 0.5 * (known.mean.square() * precision).sum(1);
    const at::Tensor truth = at::arange(ways, at::kLong).repeat_interleave(kAskedOfEach);
    right += score.argmax(1).eq(truth).to(at::kDouble).mean().item<double>();
  }
  return 100 * right / static_cast<double>(draws);
}

TEST(DescribedClassesOnRealData, AreToldApartAtLeastAsWellWithAPhotoAsWithoutAny) {
  REQUIRE_REAL_DATA();
  const DescribedImages data(*testing::real_data() / "clip-vit-b32");
  PldaFitOptions options;
  options.shrinkages = {0.1};
  options.floors = {1};
  const PldaFit fit = fit_plda(data.inputs, options);
  for (const auto& [ways, draws] : {std::pair<int64_t, int64_t>{100, 5}, {5, 200}}) {
    const double none = accuracy_of_described(data, fit.model, ways, 0, draws);
    const double one = accuracy_of_described(data, fit.model, ways, 1, draws);
    EXPECT_GT(none, 100.0 / static_cast<double>(ways) + 30) << ways << " classes are told apart by their descriptions";
    EXPECT_GE(one, none) << ways << " classes";
    std::printf("%d classes: %.1f without a photo, %.1f with one\n", static_cast<int>(ways), none, one);
  }
}

}  // namespace
}  // namespace protocom
