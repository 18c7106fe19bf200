#include "fewshot/plda/detail/left_out_folds.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/evenly.h"

namespace protocom {
namespace {

/// Enough images are scored to estimate a scale to a few percent, fewer for very many classes: there are as many scores
/// as images times classes.
int64_t most_asked(int64_t classes) {
  constexpr int64_t kScores = 1'000'000, kMost = 2000, kLeast = 200;
  return std::clamp(kScores / classes, kLeast, kMost);
}

/// Returns `most` of `images`, evenly from near to far by their distances; all if there are no more.
std::vector<int64_t> spread_over(std::vector<int64_t> images, const std::vector<double>& distances, int64_t most) {
  const auto count = static_cast<int64_t>(images.size());
  if (count <= most) return images;
  std::stable_sort(images.begin(), images.end(), [&](int64_t a, int64_t b) {
    return distances[static_cast<size_t>(a)] < distances[static_cast<size_t>(b)];
  });
  std::vector<int64_t> some;
  for (const int64_t i : evenly(count, most)) some.push_back(images[static_cast<size_t>(i)]);
  std::sort(some.begin(), some.end());
  return some;
}

/// Returns the squared distances of images from the mean of the class means, [m].
std::vector<double> distances_from_middle(const ClassRows& rows) {
  const Eigen::RowVectorXd middle = rows.means().colwise().mean();
  std::vector<double> distances;
  for (int64_t i = 0; i < rows.images(); ++i) distances.push_back((rows.x.row(i) - middle).squaredNorm());
  return distances;
}

/// Returns the images of the `which` classes, renumbered from 0, and the other images.
ClassFold class_fold(const ClassRows& rows, const std::vector<bool>& which) {
  std::vector<int64_t> number(which.size()), kept, left_out;
  int64_t classes = 0;
  for (size_t c = 0; c < which.size(); ++c) number[c] = which[c] ? classes++ : -1;
  for (int64_t i = 0; i < rows.images(); ++i) {
    const int64_t own = rows.label[static_cast<size_t>(i)];
    (which[static_cast<size_t>(own)] ? kept : left_out).push_back(i);
  }
  const int64_t most = most_asked(rows.classes);
  if (static_cast<int64_t>(left_out.size()) > most)
    left_out = spread_over(std::move(left_out), distances_from_middle(rows), most);
  ClassFold fold{rows.of(kept), rows.x(left_out, Eigen::all)};
  for (int64_t& label : fold.kept.label) label = number[static_cast<size_t>(label)];
  fold.kept.classes = classes;
  return fold;
}

}  // namespace

std::vector<ClassFold> class_folds(const ClassRows& rows) {
  constexpr int64_t kParts = 5, kManyClasses = 25;
  const DoubleMatrix means = rows.means();
  const Eigen::RowVectorXd middle = means.colwise().mean();  // evaluated here, else it would be recomputed for each row
  const DoubleVector far = (means.rowwise() - middle).rowwise().squaredNorm();
  std::vector<int64_t> order(static_cast<size_t>(rows.classes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return far[a] < far[b]; });
  const int64_t parts = std::min(kParts, rows.classes);
  std::vector<ClassFold> folds;
  for (int64_t part = 0; part < (rows.classes > kManyClasses ? 1 : parts); ++part) {
    std::vector<bool> which(order.size(), true);
    for (size_t i = 0; i < order.size(); ++i) {
      if (static_cast<int64_t>(i) % parts == part) which[static_cast<size_t>(order[i])] = false;
    }
    folds.push_back(class_fold(rows, which));
  }
  return folds;
}

LeftOutFolds::LeftOutFolds(const ClassRows& rows, int64_t least, LeftOut which) : rows_(rows) {
  const std::vector<double> far = distances();
  const int64_t enough = which == LeftOut::kAll ? rows.images() : most_asked(rows.classes);
  int64_t asked = 0;
  for (ImageFold& fold : image_folds(far, rows.label, rows.classes, least)) {
    if (fold.left_out.empty()) continue;
    std::vector<int64_t> some = spread_over(fold.left_out, far, enough);
    asked += static_cast<int64_t>(some.size());
    folds_.push_back({std::move(fold), std::move(some)});
    if (asked >= enough) break;
  }
}

/// Returns the squared distances of images from their class means, [m]; in a class of two images these are equal, and
/// rounding would decide the fold, so those from the mean of the class means are used.
std::vector<double> LeftOutFolds::distances() const {
  const DoubleMatrix means = rows_.means();
  const Eigen::RowVectorXd middle = means.colwise().mean();
  const DoubleVector count = rows_.count();
  std::vector<double> distances;
  for (int64_t i = 0; i < rows_.images(); ++i) {
    const int64_t own = rows_.label[static_cast<size_t>(i)];
    distances.push_back(count[own] == 2 ? (rows_.x.row(i) - middle).squaredNorm()
                                        : (rows_.x.row(i) - means.row(own)).squaredNorm());
  }
  return distances;
}

std::optional<ScaledLoss> LeftOutFolds::scale(const std::function<DoubleMatrix(size_t fold)>& scores,
                                              const ScalePrior& prior) const {
  if (folds_.empty()) return std::nullopt;
  std::vector<DoubleMatrix> all;
  std::vector<std::pair<int64_t, const double*>> answered;  // the images, and where their scores are
  for (size_t fold = 0; fold < folds_.size(); ++fold) {
    const std::vector<int64_t>& asked = folds_[fold].asked;
    all.push_back(scores(fold));
    for (size_t i = 0; i < asked.size(); ++i)
      answered.emplace_back(asked[i], all.back().row(static_cast<int64_t>(i)).data());
  }
  std::sort(answered.begin(), answered.end());
  std::vector<double> logs;
  std::vector<int64_t> labels;
  logs.reserve(answered.size() * static_cast<size_t>(rows_.classes));
  for (const auto& [image, own] : answered) {
    logs.insert(logs.end(), own, own + rows_.classes);
    labels.push_back(rows_.label[static_cast<size_t>(image)]);
  }
  return most_likely_scale(logs, labels, rows_.classes, prior);
}

}  // namespace protocom
