// Answers of methods as a graph of ONNX operators that another program computes: LibTorch's engine for ONNX files.
#include "recognizer/detail/formula_graph.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "networks/onnx/detail/plan.h"
#include "recognizer/calibration.h"
#include "recognizer/detail/folded_formula.h"
#include "recognizer/store_support.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "support/toy_plda.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kSameLogit = 1e-4;

/// Expects the same answers from the formula's graph, for features [n, d], and from the method itself.
void expect_same_answers(const ClassScorer& scorer, const Array& features) {
  const std::optional<AnswerFormula> formula = scorer.formula();
  ASSERT_TRUE(formula);
  const int64_t classes = static_cast<int64_t>(scorer.class_names().size());
  onnx::GraphWriter graph;
  graph.input("features", onnx::ValueType::kFloat32, {-1, features.size(1)});
  const FormulaValues values = add_formula(*formula, "features", graph);
  graph.name_output(values.logits, "logits", onnx::ValueType::kFloat32, {-1, classes});
  graph.name_output(values.familiarity, "familiarity", onnx::ValueType::kFloat32, {-1, 1});
  const TempDir folder;
  write_file(folder / "head.onnx", graph.model({}));
  const onnx::Model model = onnx::read_model(folder / "head.onnx");
  EXPECT_EQ(model.opset, 17);
  const at::Tensor rows = tensor_of(features);
  const auto computed = [&](const char* output) {
    const onnx::Plan plan(model, output, rows.slice(0, 0, 1), onnx::Plan::Use::kAny);
    return at::cat({plan.run(rows.slice(0, 0, 3)), plan.run(rows.slice(0, 3, 4)), plan.run(rows.slice(0, 4))});
  };
  const QueryScores expected = scorer.score(features);
  const at::Tensor logits = tensor_of(array_of_matrix(expected.logits));
  EXPECT_LT((computed("logits").softmax(1) - logits.softmax(1)).abs().max().item<double>(), kSameLogit);
  const at::Tensor found = computed("familiarity").flatten().to(at::kDouble);
  const DoubleVector known = familiarity(expected);
  for (int64_t i = 0; i < known.size(); ++i)
    EXPECT_NEAR(found[i].item<double>(), known[i], kSameLogit * std::max(1.0, std::abs(known[i]))) << i;
  EXPECT_GT((logits.softmax(1).amax(1) < 0.999).sum().item<int64_t>(), 0) << "answers that are sure compare little";
}

StoreModel fitted_model(std::shared_ptr<Method> method, int64_t dim) {
  StoreModel model;
  model.fitted = FittedMethod{std::move(method), dim, {}};
  return model;
}

/// Three classes that a fitted method was not fitted on, with 1, 3 and 2 images.
class FormulaOfPlda : public ::testing::Test {
 protected:
  void SetUp() override {
    ToyWorldOptions options;
    options.base = 30;
    world_ = toy_world(options);
    first_ = options.base + options.val;
  }

  /// `texts`: vectors of classes as long as features, except for the last class, which has none.
  EnrolledClasses enrolled(const StoreModel& model, bool texts = false) const {
    EnrolledClasses store = small_store();
    store.feature_dim = world_.features.dim();
    store.attributes = model.attributes();
    for (int64_t k = 0; k < 3; ++k) {
      ClassDescription described{"", Array::zeros({0}), Array::zeros({0}), "none"};
      if (!store.attributes.empty()) {
        described.association = world_.knowledge.association.row(first_ + k).copy();
        described.embedding = world_.knowledge.class_embedding.row(first_ + k).copy();
      }
      if (texts) described.embedding = k == 2 ? Array::zeros({store.feature_dim}) : images(k, 20, 21).row(0).copy();
      add_class(store, name(k), described);
      const std::array<int64_t, 3> shots = {1, 3, 2};
      add_images(store, name(k), images(k, 0, shots[static_cast<size_t>(k)]));
    }
    return store;
  }

  std::string name(int64_t k) const { return world_.features.class_names[static_cast<size_t>(first_ + k)]; }
  Array images(int64_t k, int64_t begin, int64_t end) const {
    return world_.features.features.rows((first_ + k) * 30 + begin, (first_ + k) * 30 + end);
  }
  Array queries() const { return Array::joined({images(0, 10, 20), images(1, 10, 20), images(2, 10, 20)}); }
  StoreModel own(const std::string& method) const { return fitted_model(make_method(method), world_.features.dim()); }

  ToyWorld world_;
  int64_t first_ = 0;
};

TEST_F(FormulaOfPlda, FittedWithKnowledge) {
  const StoreModel model = fitted_model(fitted_plda(world_), world_.features.dim());
  const ClassScorer scorer(enrolled(model), model);
  EXPECT_FALSE(scorer.formula()->familiarity->by_best);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, OfOwnPhotos) {
  const StoreModel model = own("plda");
  const ClassScorer scorer(enrolled(model), model);
  EXPECT_TRUE(scorer.adapts());
  EXPECT_TRUE(scorer.formula()->familiarity->by_best);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, OfOwnPhotosHasFewNumbers) {
  const StoreModel model = own("plda");
  const ClassScorer scorer(enrolled(model), model);
  const AnswerFormula formula = *scorer.formula();
  ASSERT_GT(formula.projection.size(), 0);
  const std::optional<FoldedFormula> fewer = folded(formula);
  ASSERT_TRUE(fewer);
  EXPECT_LE(fewer->axes.cols(), 5) << "six photos differ from their mean in five directions";
  EXPECT_EQ(fewer->rows.rows(), 3);
}

/// Returns the formula of three classes near one direction of 256, as for nonnegative features, in a space whose
/// dimensions are 100 within-class deviations long.
AnswerFormula formula_of_near_classes() {
  constexpr int64_t kDims = 256;
  at::manual_seed(3);
  const at::Tensor axes = std::get<0>(at::linalg_qr(at::randn({kDims, kDims}, at::kDouble)));
  const at::Tensor middle = at::ones({1, kDims}, at::kDouble) / 16;
  const at::Tensor means = (middle + 0.02 * at::randn({3, kDims}, at::kDouble) / 16).mm(axes) * 100;
  AnswerFormula made;
  made.projection = matrix_of<float>(array_of((axes * 100).to(at::kFloat)));
  made.rows = matrix_of<float>(array_of((0.5 * means).to(at::kFloat)));
  made.biases = Eigen::VectorXf::Constant(3, -0.25 * 1e4);
  made.familiarity.emplace();
  made.familiarity->squares = Eigen::RowVectorXf::Constant(kDims, -0.25F);
  made.familiarity->squares.head(3).setConstant(-0.2F);
  made.familiarity->row = Eigen::RowVectorXf::Constant(kDims, 0.1F);
  return made;
}

TEST(FoldedFormula, RoundsNoMoreWhereClassesLieNearOneDirection) {
  const AnswerFormula formula = formula_of_near_classes();
  const std::optional<FoldedFormula> fewer = folded(formula);
  ASSERT_TRUE(fewer);
  const Eigen::RowVectorXd z = Eigen::RowVectorXd::Constant(256, 1.0 / 16);
  const Eigen::RowVectorXd exact = z * formula.projection.cast<double>();
  const Eigen::RowVectorXd t = exact * formula.rows.cast<double>().transpose();
  const Eigen::RowVectorXf y = z.cast<float>() - fewer->center;
  const Eigen::RowVectorXf found = y * fewer->rows.transpose() + fewer->biases.transpose();
  for (int64_t k = 1; k < 3; ++k) EXPECT_NEAR(found[k] - found[0], t[k] - t[0], 2e-6 * std::abs(t[k] - t[0]) + 2e-5);
  const FamiliarityFormula& known = *formula.familiarity;
  const double best = (t.array() + double{formula.biases[0]}).maxCoeff();
  const double r = best + exact.cwiseAbs2().dot(known.squares.cast<double>()) + exact.dot(known.row.cast<double>());
  const Eigen::RowVectorXf along = y * fewer->axes;
  const double now = found.maxCoeff() + along.cwiseAbs2().dot(fewer->squares) + fewer->length * y.squaredNorm() +
                     y.dot(fewer->row) + fewer->bias;
  EXPECT_NEAR(now, r, 2e-3);
}

TEST(FoldedFormula, NeedsAxesThatAreOrthogonalAndWeighTheSame) {
  constexpr int64_t kAxes = 4;
  AnswerFormula formula;
  formula.rows = FloatMatrix::Ones(2, kAxes);
  formula.projection = 3 * FloatMatrix::Identity(kAxes, kAxes);
  formula.familiarity.emplace();
  formula.familiarity->squares = Eigen::RowVector4f(-1, -2, -2, -2);
  formula.familiarity->row = Eigen::RowVector4f(1, 2, 3, 4);
  ASSERT_TRUE(folded(formula));
  EXPECT_EQ(folded(formula)->length, -18);
  EXPECT_EQ(folded(formula)->squares[0], 1);
  AnswerFormula other = formula;
  other.projection(3, 3) = 3.01F;
  EXPECT_FALSE(folded(other)) << "of another length";
  other = formula;
  other.projection(0, 3) = 0.01F;
  other.projection(3, 3) = std::sqrt(9 - 1e-4F);
  EXPECT_FALSE(folded(other)) << "not orthogonal";
  other = formula;
  other.familiarity.reset();
  EXPECT_TRUE(folded(other)) << "rows alone";
  other.projection = FloatMatrix::Ones(kAxes, 1);
  other.rows = FloatMatrix::Ones(2, 1);
  EXPECT_FALSE(folded(other)) << "two rows of four numbers are more than six";
}

TEST_F(FormulaOfPlda, OfOwnPhotosThatAreNotNegative) {
  Array& features = world_.features.features;
  features = array_of(tensor_of(features).abs());
  const StoreModel model = own("plda");
  const ClassScorer scorer(enrolled(model), model);
  EXPECT_TRUE(scorer.formula()->roots);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, OfOwnPhotosBesideUnlabelledOnes) {
  const StoreModel model = own("plda");
  EnrolledClasses store = enrolled(model);
  store.unlabelled = Array::joined({images(0, 21, 30), images(1, 21, 30)});
  const ClassScorer scorer(store, model);
  EXPECT_GT(scorer.unlabelled_count(), 0);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, InASpaceOfOtherClasses) {
  const std::shared_ptr<Method> space = fitted_plda(world_)->as_space();
  const StoreModel model = fitted_model(space, world_.features.dim());
  expect_same_answers(ClassScorer(enrolled(model), model), queries());
}

TEST_F(FormulaOfPlda, BesideTexts) {
  const StoreModel model = own("plda:prior=text");
  const ClassScorer scorer(enrolled(model, /*texts=*/true), model);
  EXPECT_EQ(scorer.formula()->texts.rows(), 3);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, OfTextsAlone) {
  const StoreModel model = own("plda:prior=text:scale=1");
  EnrolledClasses store = enrolled(model, /*texts=*/true);
  for (StoredClass& one : store.classes) {
    one.features = Array::zeros({0, store.feature_dim});
    one.count = 0;
  }
  const ClassScorer scorer(store, model);
  EXPECT_FALSE(scorer.formula()->familiarity);
  expect_same_answers(scorer, queries());
}

TEST(FormulaOfThePapersRows, IsACosineWithEachPrototype) {
  const StoreModel model = store_model({1, 3});
  EnrolledClasses store = small_store();
  add_class(store, "right", description(1));
  add_class(store, "up", description(0));
  add_images(store, "right", images({{1, 0}, {3, 0.5F}}));
  add_images(store, "up", images({{0, 2}}));
  const Array queries = images({{1, 1}, {2, 0.3F}, {0, 0}, {-1, 4}, {5, 5.5F}, {-2, -1}});
  for (const char* method : {"mean", "completed", "mean-fusion", "mean-fusion:gamma=2"}) {
    SCOPED_TRACE(method);
    expect_same_answers(ClassScorer(store, model, {method}), queries);
  }
}

TEST_F(FormulaOfPlda, OfTenThousandClasses) {
  constexpr int64_t kMany = 10'000;
  const StoreModel model = own("plda");
  EnrolledClasses store = enrolled(model);
  at::manual_seed(1);
  const at::Tensor spread = at::randn({kMany, store.feature_dim}) * 3;
  for (int64_t k = 3; k < kMany; ++k) {
    const std::string name = "class " + std::to_string(k);
    add_class(store, name, {"", Array::zeros({0}), Array::zeros({0}), "none"});
    add_images(store, name, array_of(spread.slice(0, k, k + 1).contiguous()));
  }
  const ClassScorer scorer(store, model);
  EXPECT_EQ(scorer.formula()->rows.rows(), kMany);
  expect_same_answers(scorer, queries());
}

TEST_F(FormulaOfPlda, OtherMethodsHaveNone) {
  const StoreModel model = own("plda");
  EXPECT_FALSE(ClassScorer(enrolled(model), model, {"plda-vb"}).formula());
  EXPECT_FALSE(ClassScorer(enrolled(model), model, {"baseline-pp"}).formula());
}

TEST(TensorStore, RefusesMoreThanTwoGigabytesInOneFile) {
  onnx::TensorStore tensors;
  tensors.check_size(onnx::kMostBytes);
  EXPECT_FALSE(tensors.is_exceeded());
  EXPECT_THAT(message_of([&] { tensors.check_size(onnx::kMostBytes + 1); }), HasSubstr("expected at most 2.15"));
  EXPECT_TRUE(tensors.is_exceeded());
}

TEST(TensorStore, NamesTheFileThatWasToBeWrittenOnADiskThatIsFull) {
  onnx::TensorStore tensors("/dev/full", "mine.onnx.data");
  const std::string message = message_of([&] {
    const std::string numbers(size_t{1} << 20, 'x');
    std::string tensor;
    protozero::pbf_writer writer(tensor);
    tensors.write(numbers.data(), numbers.size(), writer);
    tensors.close();
  });
  EXPECT_EQ(message, "cannot write /dev/mine.onnx.data: No space left on device");
}

}  // namespace
}  // namespace protocom::testing
