#include "fewshot/toolbox/detail/linear_scores.h"

#include <utility>

#include "base/error.h"
#include "fewshot/floats.h"
#include "fewshot/task_images.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {
namespace {

class LinearPlacer : public ClassPlacer {
 public:
  LinearPlacer(std::shared_ptr<const FeatureTransform> space, std::function<LinearScores(const Task& task)> learn)
      : space_(std::move(space)), learn_(std::move(learn)) {}

  [[nodiscard]] PlacedClasses place(const TaskImages& images) const override {
    const TaskImages mapped = images.mapped(space_.get());
    const LinearScores learned = learn_(task_of(mapped, FloatMatrix(0, mapped.rows.cols())));
    DoubleMatrix rows(images.classes, mapped.width + 2);
    rows << learned.weights, learned.biases, DoubleVector::Constant(images.classes, learned.squares);
    return {array_of_matrix(rows)};
  }

  [[nodiscard]] QueryScores score(const PlacedClasses& classes, const FeatureRows& queries) const override {
    const int64_t width = width_after(space_.get(), queries.cols());
    const Array& placed = classes.front();
    if (placed.type() != NumberType::kFloat64 || placed.dim() != 2 || placed.size(1) != width + 2)
      fail("placed classes: expected float64 [n, {}], found another array", width + 2);
    const auto rows = matrix_of<double>(placed);
    const DoubleMatrix x = padded_rows(queries, space_.get()).leftCols(width).cast<double>();
    DoubleMatrix logits = x * rows.leftCols(width).transpose();
    logits.rowwise() += rows.col(width).transpose();
    logits.noalias() += x.rowwise().squaredNorm() * rows.col(width + 1).transpose();
    return {logits.cast<float>()};
  }

 private:
  std::shared_ptr<const FeatureTransform> space_;
  std::function<LinearScores(const Task& task)> learn_;
};

}  // namespace

LinearScores distances_to_means(const Task& task, double sharpness) {
  Floats means;
  compute_class_means(task, means);
  const DoubleMatrix p =
      Eigen::Map<const FloatMatrix>(means.data(), task.n, task.dim).leftCols(task.width).cast<double>();
  return {2 * sharpness * p, -sharpness * p.rowwise().squaredNorm(), -sharpness};
}

std::shared_ptr<const ClassPlacer> linear_placer(std::shared_ptr<const FeatureTransform> space,
                                                 std::function<LinearScores(const Task& task)> learn) {
  return std::make_shared<const LinearPlacer>(std::move(space), std::move(learn));
}

}  // namespace protocom
