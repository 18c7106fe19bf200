// plda with texts of the classes: its answers without photos and with them, and its requirements.
#include "fewshot/plda/detail/with_text.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "fewshot/methods.h"
#include "io/npz.h"
#include "support/labelled.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/scorer.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

constexpr int64_t kTextClasses = 30;
constexpr int64_t kTextDim = 48;
constexpr int64_t kTextImages = 12;

/// Classes whose texts lie near their means, like those of a text encoder that was trained with the image encoder. As
/// with CLIP, images share a large component, and texts another, so that cosines of right and wrong texts differ
/// little.
struct ToldClasses {
  ToldClasses() {
    at::manual_seed(21);
    const at::Tensor of_both = 3 * at::randn({kTextDim});
    const at::Tensor centres = at::randn({kTextClasses, kTextDim});
    images = (of_both + centres).unsqueeze(1) + 1.5 * at::randn({kTextClasses, kTextImages, kTextDim});
    knowledge.class_embedding = array_of(of_both + centres + 0.8 * at::randn({kTextClasses, kTextDim}));
    knowledge.association = array_of(at::zeros({kTextClasses, 0}));
    knowledge.attribute_embedding = array_of(at::zeros({0, kTextDim}));
    for (int64_t c = 0; c < kTextClasses; ++c) names.push_back("class" + std::to_string(c));
    knowledge.classes = names;
    context.knowledge = &knowledge;
    context.class_names = &names;
  }
  ToldClasses(const ToldClasses&) = delete;  // the context points into it
  ToldClasses& operator=(const ToldClasses&) = delete;

  /// Returns all classes with k images each, and their last four as queries.
  [[nodiscard]] EpisodeBatch episode(int64_t k) const {
    EpisodeBatch batch;
    batch.support = images.narrow(1, 0, k).unsqueeze(0).contiguous();
    batch.query = images.narrow(1, kTextImages - 4, 4).reshape({1, kTextClasses * 4, kTextDim});
    batch.classes = at::arange(kTextClasses, at::kLong).unsqueeze(0);
    return batch;
  }
  [[nodiscard]] testing::TensorScores scores(const std::string& method, int64_t k) const {
    return testing::scores_of(*make_method(method), context, episode(k));
  }
  [[nodiscard]] double accuracy(const std::string& method, int64_t k) const {
    const at::Tensor truth = at::arange(kTextClasses, at::kLong).repeat_interleave(4);
    return scores(method, k).logits[0].argmax(-1).eq(truth).to(at::kDouble).mean().item<double>();
  }

  at::Tensor images;
  KnowledgeTable knowledge;
  std::vector<std::string> names;
  MethodContext context;
};

const ToldClasses& told() {
  static const ToldClasses kClasses;
  return kClasses;
}

TEST(PldaWithText, IsZeroShotWithoutAPhoto) {
  const at::Tensor found = told().scores("plda:prior=text", 0).logits;
  EXPECT_TRUE(at::allclose(found, told().scores("zero-shot", 0).logits));
  EXPECT_TRUE(at::allclose(told().scores("plda:prior=text:text=7", 0).logits, found))
      << "the weight beside photos is not the weight alone";
}

TEST(PldaWithText, AddsCosinesToWhatPhotosSay) {
  for (const int64_t k : {1, 4}) {
    const testing::TensorScores photos = told().scores("plda:prior=none:scale=0.05", k);
    const testing::TensorScores both = told().scores("plda:prior=text", k);
    const at::Tensor expected = photos.logits + 0.7 * told().scores("zero-shot", k).logits;
    EXPECT_TRUE(at::allclose(both.logits, expected, 1e-4, 1e-4)) << k;
    ASSERT_TRUE(both.unseen.defined());
    const auto odds_of_none = [](const testing::TensorScores& scores) -> at::Tensor {
      return scores.unseen - scores.logits.logsumexp(-1);
    };
    EXPECT_TRUE(at::allclose(odds_of_none(both), odds_of_none(photos), 1e-3, 1e-3)) << k;
  }
}

TEST(PldaWithText, IsNoWorseWithAPhotoThanWithoutAndBetterThanPhotosAlone) {
  const double none = told().accuracy("plda:prior=text", 0);
  EXPECT_GT(none, 0.4);
  EXPECT_LT(none, 0.98) << "else there is nothing to gain";
  EXPECT_GE(told().accuracy("plda:prior=text", 1), none) << "a prior that overstates its variance loses here";
  EXPECT_GT(told().accuracy("plda:prior=text", 1), told().accuracy("plda", 1));
}

TEST(PldaWithText, TakesAFileFittedWithoutKnowledge) {
  const std::shared_ptr<Method> fitted = make_method("plda:prior=text");
  const LabelledFeatures base = testing::labelled(told().images.flatten(0, 1),
                                                  at::arange(kTextClasses, at::kLong).repeat_interleave(kTextImages));
  fitted->fit({base, {}, &told().knowledge, &told().names, 1});
  EXPECT_TRUE(fitted->state().attributes.empty()) << "texts are nothing to fit";
  const auto loaded = make_method("plda:prior=text");
  loaded->load(fitted->state());
  const at::Tensor expected = testing::scores_of(*fitted, told().context, told().episode(2)).logits;
  EXPECT_TRUE(at::allclose(testing::scores_of(*loaded, told().context, told().episode(2)).logits, expected));
}

TEST(PldaWithText, SaysWhereTextsAreOfAnotherEncoder) {
  const testing::Logged logged;
  static_cast<void>(told().scores("plda:prior=text", 1));
  EXPECT_EQ(logged.text(), "");
  ToldClasses other;
  other.knowledge.class_embedding = array_of(at::randn({kTextClasses, kTextDim}));
  const testing::Scorer scorer(*make_method("plda:prior=text"), other.context);
  for (int i = 0; i < 2; ++i) static_cast<void>(scorer.score(other.episode(1)));
  const std::string stated = logged.text();
  EXPECT_THAT(stated,
              ::testing::HasSubstr("of 30 right): check that they were made by the image encoder's own text encoder"));
  EXPECT_EQ(stated.find("no better than chance"), stated.rfind("no better than chance")) << "once is enough";
}

TEST(PldaWithText, NeedsTexts) {
  EXPECT_THAT(testing::message_of([] { static_cast<void>(make_method("plda:prior=text")->prepare({})); }),
              ::testing::AllOf(::testing::HasSubstr("'plda:prior=text' needs texts of the classes"),
                               ::testing::HasSubstr("protocom knowledge embeddings")));
  EXPECT_THROW(make_method("plda-vb:prior=text"), UsageError);
}

/// The classes of Caltech-101 with a word that no other class has, the published test images and labelled ones.
struct Caltech {
  explicit Caltech(const std::filesystem::path& folder) : images(folder / "caltech101.npz") {
    const NpzReader texts(folder / "caltech101-text.npz");
    const std::vector<std::string> stated = texts.strings("embedded_as");
    const at::Tensor rows = tensor_of(texts.array("vectors")).to(at::kFloat);
    std::vector<int64_t> kept;
    for (size_t i = 0; i < stated.size(); ++i) {
      if (std::count(stated.begin(), stated.end(), stated[i]) > 1) continue;
      kept.push_back(static_cast<int64_t>(i));
      knowledge.classes.push_back(texts.strings("names")[i]);
    }
    const at::Tensor rows_kept = at::tensor(kept, at::kLong);
    knowledge.class_embedding = array_of(rows.index_select(0, rows_kept));
    labels = tensor_of(texts.array("labels")).index_select(0, rows_kept);
    context.knowledge = &knowledge;
    context.class_names = &knowledge.classes;
    const auto classes = static_cast<int64_t>(kept.size());
    knowledge.association = array_of(at::zeros({classes, 0}));
    knowledge.attribute_embedding = array_of(at::zeros({0, rows.size(1)}));
    batch.classes = at::arange(classes, at::kLong).unsqueeze(0);
    const at::Tensor place = place_of(tensor_of(images.array("labels")));
    const at::Tensor asked =
        tensor_of(images.array("is_test")).to(at::kBool).logical_and(place.ge(0)).nonzero().flatten();
    truth = place.index_select(0, asked);
    batch.query = tensor_of(images.array("features")).index_select(0, asked).to(at::kFloat).unsqueeze(0);
  }
  Caltech(const Caltech&) = delete;  // the context points into it
  Caltech& operator=(const Caltech&) = delete;

  /// Returns the index of a label among the classes, -1 for others.
  [[nodiscard]] at::Tensor place_of(const at::Tensor& of) const {
    const at::Tensor same = of.to(at::kLong).unsqueeze(1).eq(labels.unsqueeze(0));
    return at::where(same.any(1), same.to(at::kLong).argmax(1), at::full({}, -1, at::kLong));
  }

  /// Returns the published 16 images of each class, [classes, 16, d].
  [[nodiscard]] at::Tensor published() const {
    const at::Tensor place = place_of(tensor_of(images.array("support_16_labels")));
    const at::Tensor own = place.ge(0).nonzero().flatten();
    const at::Tensor order = own.index_select(0, std::get<1>(place.index_select(0, own).sort(true, 0, false)));
    return tensor_of(images.array("support_16")).index_select(0, order).to(at::kFloat).view({labels.size(0), 16, -1});
  }

  /// Returns the percentage of right answers, mean of two draws of k images, each of which includes those of smaller k.
  [[nodiscard]] double accuracy(const std::string& method, int64_t k) {
    double sum = 0;
    for (const int64_t first : {0, 8}) sum += accuracy_from(method, published().roll(-first, 1), k) / 2;
    return sum;
  }

  [[nodiscard]] double accuracy_from(const std::string& method, const at::Tensor& support, int64_t k) {
    batch.support = support.narrow(1, 0, k).contiguous().unsqueeze(0);
    const at::Tensor answers = testing::scores_of(*make_method(method), context, batch).logits[0].argmax(-1);
    return 100 * answers.eq(truth).to(at::kDouble).mean().item<double>();
  }

  NpzReader images;
  KnowledgeTable knowledge;
  at::Tensor labels, truth;
  MethodContext context;
  EpisodeBatch batch;
};

TEST(PldaWithTextOnRealData, IsCLIPWithoutAPhotoAndGainsByEveryOne) {
  REQUIRE_REAL_DATA();
  Caltech caltech(*testing::real_data() / "clip-vit-b32");
  const double none = caltech.accuracy("plda:prior=text", 0);
  EXPECT_NEAR(none, 94.4, 0.05) << "what the data's README has by another program";
  double with_text = none, alone = 0;
  for (const int64_t k : {1, 2, 4, 8, 16}) {
    SCOPED_TRACE(k);
    const double more_with_text = caltech.accuracy("plda:prior=text", k), more_alone = caltech.accuracy("plda", k);
    EXPECT_GT(more_with_text, with_text) << "a prior whose variance is overstated loses with the first photo";
    EXPECT_GT(more_alone, alone);
    EXPECT_GE(more_with_text, more_alone + (k == 1 ? 3 : 0));
    with_text = more_with_text;
    alone = more_alone;
  }
}

}  // namespace
}  // namespace protocom
