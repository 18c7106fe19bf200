#include "fewshot/task_images.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

void add_row(Task& task, const float* row) {
  task.rows.push_back(row);
  task.squares.push_back(row_dot(row, row, task.dim));
}

void check_shots(const TaskImages& images, int64_t fewest) {
  std::vector<int64_t> counts(static_cast<size_t>(images.classes));
  for (const int64_t k : images.label) ++counts[static_cast<size_t>(k)];
  const auto least = std::min_element(counts.begin(), counts.end());
  if (*least < fewest) fail("class {}: expected at least one support, found none", least - counts.begin());
}

}  // namespace

TaskImages TaskImages::of(const FeatureRows& features, const std::vector<int64_t>& labels, int64_t classes) {
  std::vector<int64_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return labels[static_cast<size_t>(a)] < labels[static_cast<size_t>(b)];
  });
  TaskImages images;
  images.classes = classes;
  images.width = features.cols();
  images.rows = FloatMatrix::Zero(features.rows(), padded_length(images.width));
  for (size_t i = 0; i < order.size(); ++i) {
    images.rows.row(static_cast<int64_t>(i)).head(images.width) = features.row(order[i]);
    images.label.push_back(labels[static_cast<size_t>(order[i])]);
  }
  images.numbers.resize(static_cast<size_t>(classes));
  std::iota(images.numbers.begin(), images.numbers.end(), 0);
  return images;
}

TaskImages TaskImages::mapped(const FeatureTransform* space) const {
  TaskImages images = *this;
  if (space == nullptr) return images;
  images.width = space->width(width);
  images.rows = padded_rows(rows.leftCols(width), space);
  return images;
}

TaskImages TaskImages::only(const std::vector<int64_t>& kept) const {
  TaskImages images = *this;
  images.rows = rows(kept, Eigen::all);
  images.label.clear();
  images.weights.clear();
  for (const int64_t i : kept) {
    images.label.push_back(label[static_cast<size_t>(i)]);
    if (!weights.empty()) images.weights.push_back(weights[static_cast<size_t>(i)]);
  }
  return images;
}

TaskImages TaskImages::without_class(int64_t k) const {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != k) kept.push_back(static_cast<int64_t>(i));
  }
  TaskImages images = only(kept);
  --images.classes;
  for (int64_t& own : images.label) own -= own > k ? 1 : 0;
  if (!images.numbers.empty()) images.numbers.erase(images.numbers.begin() + k);
  if (!images.shares.empty()) images.shares.erase(images.shares.begin() + k);
  return images;
}

SoftSupports SoftSupports::among(int64_t classes, const std::vector<int64_t>& there) const {
  if (features.rows() == 0) return {};
  SoftSupports made{features, FloatMatrix::Zero(weights.rows(), classes)};
  for (size_t k = 0; k < there.size(); ++k) made.weights.col(there[k]) = weights.col(static_cast<int64_t>(k));
  return made;
}

TaskImages with_soft_supports(TaskImages images, const SoftSupports& soft, int64_t begin) {
  constexpr float kLeastWeight = 1e-3F;  // below this, an image is left out: fewer images per class
  if (soft.features.rows() == 0) return images;
  const auto labelled = static_cast<int64_t>(images.label.size());
  if (images.weights.empty()) images.weights.assign(images.label.size(), 1.0F);
  std::vector<int64_t> from;  // rows of both matrices, labelled before soft
  TaskImages all = images;
  all.label.clear();
  all.weights.clear();
  int64_t next = 0;
  for (int64_t k = 0; k < images.classes; ++k) {
    for (; next < labelled && images.label[static_cast<size_t>(next)] == k; ++next) {
      from.push_back(next);
      all.weights.push_back(images.weights[static_cast<size_t>(next)]);
    }
    for (int64_t i = 0; i < soft.weights.rows(); ++i) {
      const float weight = soft.weights(i, begin + k);
      if (!(weight > kLeastWeight)) continue;
      from.push_back(labelled + i);
      all.weights.push_back(weight);
    }
    all.label.resize(from.size(), k);
  }
  all.rows = FloatMatrix::Zero(static_cast<int64_t>(from.size()), images.rows.cols());
  for (size_t i = 0; i < from.size(); ++i) {
    auto to = all.rows.row(static_cast<int64_t>(i));
    if (from[i] < labelled)
      to = images.rows.row(from[i]);
    else
      to.head(images.width) = soft.features.row(from[i] - labelled);
  }
  return all;
}

MappedTask::MappedTask(const Task& task, const FeatureTransform* space) : task_(task) {
  FloatMatrix features(task.points(), task.width);
  for (int64_t i = 0; i < features.rows(); ++i)
    features.row(i) = Eigen::Map<const Eigen::RowVectorXf>(task.rows[static_cast<size_t>(i)], task.width);
  rows_ = padded_rows(features, space);
  task_.width = width_after(space, task.width);
  task_.dim = rows_.cols();
  task_.rows.clear();
  task_.squares.clear();
  for (int64_t i = 0; i < rows_.rows(); ++i) add_row(task_, rows_.row(i).data());
}

Task task_of(const TaskImages& images, const FloatMatrix& queries) {
  Task task;
  task.n = images.classes;
  task.width = images.width;
  task.dim = images.rows.cols();
  task.unlabelled = queries.rows();
  task.queries = queries.rows();
  task.label = images.label;
  task.classes = images.numbers;
  task.weights = images.weights;
  task.shares = images.shares;
  task.seed = images.seed;
  for (int64_t i = 0; i < images.rows.rows(); ++i) add_row(task, images.rows.row(i).data());
  for (int64_t i = 0; i < queries.rows(); ++i) add_row(task, queries.row(i).data());
  return task;
}

QueryScores answer_of(TaskRun& run, const Task& task) {
  QueryScores scores{FloatMatrix(task.queries, task.n)};
  run.answer(task, scores.logits.data());
  if (run.unseen() != nullptr) scores.unseen = Eigen::Map<const Eigen::VectorXf>(run.unseen(), task.queries);
  return scores;
}

QueryScores answer_of(const PreparedMethod& method, const TaskImages& images, const FeatureRows& queries) {
  check_shots(images, method.fewest_shots);
  const FloatMatrix rows = padded_rows(queries, method.space.get());
  return answer_of(*method.make_run(), task_of(images, rows));
}

}  // namespace protocom
