#include <utility>

#include "base/matrix.h"
#include "encoders/embed.h"
#include "recognizer/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// The photos of a group that were read, with the sum of their features.
struct GroupSum {
  std::vector<fs::path> photos;
  DoubleVector sum;  // [d]
};

/// Takes photos in the order of their groups and hands out the groups that are complete.
class GroupSums {
 public:
  explicit GroupSums(const std::vector<std::vector<fs::path>>& groups) : groups_(groups) {}

  void add(const fs::path& photo, const float* feature, int64_t dim) {
    go_to(photo);
    GroupSum& open = sums_.back();
    if (open.photos.empty()) open.sum = DoubleVector::Zero(dim);
    open.photos.push_back(photo);
    open.sum += Eigen::Map<const Eigen::VectorXf>(feature, dim).cast<double>();
  }

  /// All groups but the last, which may continue and is added by `rest`.
  std::vector<GroupSum> completed(bool rest) {
    std::vector<GroupSum> done;
    const size_t count = sums_.size() - (rest || sums_.empty() ? 0 : 1);
    for (size_t i = 0; i < count; ++i) done.push_back(std::move(sums_[i]));
    sums_.erase(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(count));
    return done;
  }

 private:
  /// Photos that could not be read are passed over.
  void go_to(const fs::path& photo) {
    bool is_new = sums_.empty();
    while (next_ == groups_[group_].size() || groups_[group_][next_] != photo) {
      if (++next_ <= groups_[group_].size()) continue;
      ++group_;
      next_ = 0;
      is_new = true;
    }
    ++next_;
    if (is_new) sums_.emplace_back();
  }

  const std::vector<std::vector<fs::path>>& groups_;
  size_t group_ = 0, next_ = 0;  // the photo that comes next
  std::vector<GroupSum> sums_;
};

/// float32 [groups, d]
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
    const auto* features = batch.paths.empty() ? nullptr : batch.features.data<float>();
    for (size_t i = 0; i < batch.paths.size(); ++i) {
      const int64_t dim = batch.features.size(1);
      sums.add(batch.paths[i], features + static_cast<int64_t>(i) * dim, dim);
    }
    if (!together) answer(sums.completed(/*rest=*/false));
  };
  std::vector<fs::path> photos;
  for (const std::vector<fs::path>& group : groups) photos.insert(photos.end(), group.begin(), group.end());
  embed_batches(backbone(), photos, extract_options(), take_batch, progress);
  answer(sums.completed(/*rest=*/true));
  return unreadable;
}

}  // namespace protocom
