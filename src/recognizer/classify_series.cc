#include <utility>

#include "base/matrix.h"
#include "encoders/embed.h"
#include "recognizer/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// The readable photos of a group, with the sum of their features.
struct GroupSum {
  std::vector<fs::path> photos;
  DoubleVector sum;  // [d]
};

/// Takes photos in the order of their groups and returns the groups that are complete.
class GroupSums {
 public:
  explicit GroupSums(const std::vector<std::vector<fs::path>>& groups) {
    for (size_t k = 0; k < groups.size(); ++k) {
      photos_.insert(photos_.end(), groups[k].begin(), groups[k].end());
      group_.resize(photos_.size(), k);
    }
  }

  /// The photos of all groups.
  [[nodiscard]] const std::vector<fs::path>& photos() const { return photos_; }

  void add(size_t number, const float* feature, int64_t dim) {
    if (sums_.empty() || group_[number] != group_[last_]) sums_.push_back({{}, DoubleVector::Zero(dim)});
    last_ = number;
    GroupSum& open = sums_.back();
    open.photos.push_back(photos_[number]);
    open.sum += Eigen::Map<const Eigen::VectorXf>(feature, dim).cast<double>();
  }

  /// Returns all groups but the last, which may continue; with `rest`, the last too.
  std::vector<GroupSum> completed(bool rest) {
    std::vector<GroupSum> done;
    const size_t count = sums_.size() - (rest || sums_.empty() ? 0 : 1);
    for (size_t i = 0; i < count; ++i) done.push_back(std::move(sums_[i]));
    sums_.erase(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(count));
    return done;
  }

 private:
  std::vector<fs::path> photos_;
  std::vector<size_t> group_;  // of each photo
  size_t last_ = 0;            // the photo that was added last
  std::vector<GroupSum> sums_;
};

/// Returns the mean feature of each group, float32 [groups, d].
Array means_of(const std::vector<GroupSum>& groups) {
  const int64_t dim = groups.front().sum.size();
  Array means = Array::uninitialised({static_cast<int64_t>(groups.size()), dim}, NumberType::kFloat32);
  auto* row = means.mutable_data<float>();
  for (const GroupSum& group : groups) {
    const DoubleVector mean = group.sum / static_cast<double>(group.photos.size());
    Eigen::Map<Eigen::VectorXf>(row, dim) = mean.cast<float>();
    row += dim;
  }
  return means;
}

}  // namespace

std::vector<UnreadableFile> Recognizer::classify_series(const std::vector<std::vector<fs::path>>& groups,
                                                        const TakeSeries& take, Progress& progress) {
  refresh();
  const bool together = scorer_->method().spec().sees == Sees::kAllQueries;
  GroupSums sums(groups);
  const auto answer = [&](const std::vector<GroupSum>& done) {
    if (done.empty()) return;
    const std::vector<Answer> answers = classify_together(means_of(done));
    for (size_t i = 0; i < answers.size(); ++i) take(done[i].photos, answers[i]);
  };
  std::vector<UnreadableFile> unreadable;
  const auto take_batch = [&](EmbeddedBatch&& batch) {
    unreadable.insert(unreadable.end(), batch.unreadable.begin(), batch.unreadable.end());
    const auto* features = batch.numbers.empty() ? nullptr : batch.features.data<float>();
    for (size_t i = 0; i < batch.numbers.size(); ++i) {
      const int64_t dim = batch.features.size(1);
      sums.add(batch.numbers[i], features + static_cast<int64_t>(i) * dim, dim);
    }
    if (!together) answer(sums.completed(/*rest=*/false));
  };
  embed_batches(backbone(), sums.photos(), extract_options(), take_batch, progress);
  answer(sums.completed(/*rest=*/true));
  return unreadable;
}

}  // namespace protocom
