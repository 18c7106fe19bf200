#include "recognizer/moments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/matrix.h"

namespace protocom {
namespace {

constexpr int64_t kFewestPhotos = 3;      ///< in a class: with two, the usual distance would be their own
constexpr double kNearlySame = 0.3;       ///< of the usual squared distance between classes
constexpr int64_t kMostReference = 1000;  ///< photos from which the differences between moments are estimated
constexpr double kWrongJoins = 0.05;      ///< expected number in one recognizer
constexpr double kUsual = 0.75;  ///< quantile of a class's distances: most are between moments, unless all are one
constexpr double kEqual = 1e-6;  ///< relative to the squared length: smaller distances are rounding errors

/// Disjoint sets that can be joined; each is represented by its lowest member.
class JoinedSets {
 public:
  /// `stated`: the stated moment of each photo, or kNotStated.
  explicit JoinedSets(std::vector<int64_t> stated) : parent_(stated.size()), stated_(std::move(stated)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int64_t lowest(int64_t i) {
    while (of(i) != i) i = of(i) = of(of(i));
    return i;
  }
  /// Joins two sets, unless they have different stated moments.
  void join(int64_t a, int64_t b) {
    a = lowest(a), b = lowest(b);
    if (stated(a) != kNotStated && stated(b) != kNotStated && stated(a) != stated(b)) return;
    stated(std::min(a, b)) = stated(a) != kNotStated ? stated(a) : stated(b);
    of(std::max(a, b)) = std::min(a, b);
  }

 private:
  int64_t& of(int64_t i) { return parent_[static_cast<size_t>(i)]; }
  int64_t& stated(int64_t i) { return stated_[static_cast<size_t>(i)]; }

  std::vector<int64_t> parent_;
  std::vector<int64_t> stated_;  // of a set, stored at its lowest photo
};

double quantile(std::vector<double> values, double share) {
  const auto at = values.begin() + static_cast<int64_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double deviation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / n);
}

/// Returns the photo's moment in StoredClass::moments.
int64_t stated_moment_of(const StoredClass& one, int64_t photo) {
  return static_cast<int64_t>(one.moments.size()) == one.count ? one.moments[static_cast<size_t>(photo)] : kNotStated;
}

bool states_nothing(const StoredClass& one) {
  return std::all_of(one.moments.begin(), one.moments.end(), [](int64_t moment) { return moment == kNotStated; });
}

std::vector<int64_t> stated_moments(const StoredClass& one, size_t photos) {
  std::vector<int64_t> stated(photos);
  for (size_t i = 0; i < photos; ++i) stated[i] = stated_moment_of(one, static_cast<int64_t>(i));
  return stated;
}

/// Returns the photos with known times, earliest first.
std::vector<int64_t> by_time_taken(const StoredClass& one) {
  const auto time = [&](int64_t i) { return *one.taken[static_cast<size_t>(i)]; };
  std::vector<int64_t> order;
  for (size_t i = 0; i < one.taken.size(); ++i) {
    if (one.taken[i]) order.push_back(static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return std::pair(time(a), a) < std::pair(time(b), b); });
  return order;
}

/// Returns for each row of features [n, d] the first equal row.
std::vector<int64_t> first_copies(const Array& features) {
  std::map<std::string_view, int64_t> first;
  std::vector<int64_t> same;
  if (!features.defined() || features.size(0) == 0) return same;
  const size_t bytes = features.bytes() / static_cast<size_t>(features.size(0));
  const auto* rows = static_cast<const char*>(features.raw());
  for (int64_t i = 0; i < features.size(0); ++i)
    same.push_back(first.emplace(std::string_view(rows + static_cast<size_t>(i) * bytes, bytes), i).first->second);
  return same;
}

/// Returns the photos that are not copies of earlier ones.
std::vector<int64_t> without_copies(const std::vector<int64_t>& same) {
  std::vector<int64_t> distinct;
  for (size_t i = 0; i < same.size(); ++i) {
    if (same[i] == static_cast<int64_t>(i)) distinct.push_back(same[i]);
  }
  return distinct;
}

/// Maps the distinct photos of a class to the space where they are compared, with unit length: features without
/// negative values are replaced by their square roots first, as in the space of classes.
FloatMatrix comparison_points(const StoredClass& one, const std::vector<int64_t>& distinct, bool roots) {
  FloatMatrix points = matrix_of<float>(one.features)(distinct, Eigen::all);
  if (roots) points = points.cwiseSqrt().eval();
  scale_to_unit_rows(points);
  return points;
}

/// Returns the squared distances between rows, at least those of a rounding error. [n, n]
FloatMatrix squared_distances(const FloatMatrix& rows) {
  const Eigen::VectorXf lengths = rows.rowwise().squaredNorm();
  FloatMatrix squares = -2 * rows * rows.transpose();
  squares.colwise() += lengths;
  squares.rowwise() += lengths.transpose();
  const float least = static_cast<float>(kEqual) * std::max(lengths.maxCoeff(), 1e-12F);
  return squares.cwiseMax(least);
}

/// Returns the usual squared distance within a class.
double usual_distance(const FloatMatrix& squares) {
  std::vector<double> pairs;
  for (int64_t i = 0; i < squares.rows(); ++i) {
    for (int64_t j = 0; j < i; ++j) pairs.push_back(static_cast<double>(squares(i, j)));
  }
  return quantile(std::move(pairs), kUsual);
}

/// Whether the photos of a class can be compared: a few to many of them, with finite features of `dim` numbers. `dim`:
/// the features' dimension. `fewest`: photos.
bool can_be_compared(const Array& features, int64_t dim, int64_t fewest) {
  if (!features.defined() || features.dim() != 2 || features.size(1) != dim) return false;
  if (features.size(0) < fewest || features.size(0) > kMostPhotosOfAClass) return false;
  return std::isfinite(matrix_of<float>(features).squaredNorm());
}

/// A class whose photos are compared.
struct ComparedClass {
  size_t number = 0;
  std::vector<int64_t> distinct;
  double usual = 0;  ///< squared distance
};

/// Photos of several classes, evenly sampled.
struct SampledPhotos {
  FloatMatrix rows;
  std::vector<size_t> of_class;

  /// Returns the squared distances between photos of different classes.
  [[nodiscard]] std::vector<double> squares_between_classes() const {
    const FloatMatrix squares = squared_distances(rows);
    std::vector<double> between;
    for (int64_t i = 0; i < squares.rows(); ++i) {
      for (int64_t j = 0; j < i; ++j) {
        if (of_class[static_cast<size_t>(i)] != of_class[static_cast<size_t>(j)])
          between.push_back(static_cast<double>(squares(i, j)));
      }
    }
    return between;
  }
};

/// Finds the moments of classes in two passes, so that the features of one class at a time are copied.
class MomentFinder {
 public:
  explicit MomentFinder(const EnrolledClasses& enrolled, int64_t fewest = kFewestPhotos) : enrolled_(enrolled) {
    for (size_t k = 0; k < enrolled.classes.size(); ++k) {
      const Array& features = enrolled.classes[k].features;
      same_.push_back(first_copies(features));
      if (!can_be_compared(features, enrolled.feature_dim, fewest)) continue;
      roots_ = roots_ && matrix_of<float>(features).minCoeff() >= 0;
      std::vector<int64_t> distinct = without_copies(same_.back());
      if (static_cast<int64_t>(distinct.size()) >= fewest) compared_.push_back({k, std::move(distinct)});
    }
  }

  std::vector<PhotoMoments> find() {
    std::vector<JoinedSets> joined;
    for (size_t k = 0; k < same_.size(); ++k) {
      const StoredClass& one = enrolled_.classes[k];
      JoinedSets& sets = joined.emplace_back(stated_moments(one, same_[k].size()));
      join_stated(one, sets);
      join_bursts(one, sets);
      for (size_t i = 0; i < same_[k].size(); ++i) sets.join(static_cast<int64_t>(i), same_[k][i]);
    }
    const double largest = compared_.size() < 2 ? 0 : join_threshold();
    for (const ComparedClass& one : compared_) join_near(one, largest * one.usual, joined[one.number]);
    std::vector<PhotoMoments> found;
    for (size_t k = 0; k < joined.size(); ++k) found.push_back(numbered(joined[k], same_[k].size()));
    return found;
  }

  /// Returns count_like_one_moment().
  int64_t like_one_moment() {
    if (compared_.size() < 2) return 0;
    const SampledPhotos photos = sampled([](const FloatMatrix& own, const ComparedClass&) { return own; });
    std::vector<double> between = photos.squares_between_classes();
    if (between.empty()) return 0;
    const double largest = kNearlySame * quantile(std::move(between), 0.5);
    const auto like = std::count_if(compared_.begin(), compared_.end(), [&](const ComparedClass& one) {
      return one.usual < largest && states_nothing(enrolled_.classes[one.number]);
    });
    return 2 * static_cast<size_t>(like) > compared_.size() ? like : 0;
  }

 private:
  static void join_stated(const StoredClass& one, JoinedSets& sets) {
    std::map<int64_t, int64_t> first;  // photo of a number
    for (int64_t i = 0; i < one.count; ++i) {
      const int64_t number = stated_moment_of(one, i);
      if (number != kNotStated) sets.join(first.emplace(number, i).first->second, i);
    }
  }

  static void join_bursts(const StoredClass& one, JoinedSets& sets) {
    const std::vector<int64_t> order = by_time_taken(one);
    const auto time = [&](size_t at) { return *one.taken[static_cast<size_t>(order[at])]; };
    for (size_t at = 1; at < order.size(); ++at) {
      if (time(at) - time(at - 1) <= kBurstGap) sets.join(order[at - 1], order[at]);
    }
  }

  static PhotoMoments numbered(JoinedSets& sets, size_t photos) {
    std::map<int64_t, int64_t> number;  // by a moment's first photo
    PhotoMoments moments;
    for (int64_t i = 0; i < static_cast<int64_t>(photos); ++i)
      moments.push_back(number.emplace(sets.lowest(i), static_cast<int64_t>(number.size())).first->second);
    return moments;
  }

  FloatMatrix points(const ComparedClass& one) const {
    return comparison_points(enrolled_.classes[one.number], one.distinct, roots_);
  }

  /// Computes the usual distance of each class, and samples photos of all classes evenly. `made` makes their rows of
  /// the photos of a class.
  template <typename Made>
  SampledPhotos sampled(const Made& made) {
    int64_t photos = 0;
    for (const ComparedClass& one : compared_) photos += static_cast<int64_t>(one.distinct.size());
    const int64_t step = (photos + kMostReference - 1) / kMostReference;
    SampledPhotos taken;
    taken.rows.resize((photos + step - 1) / step, enrolled_.feature_dim);
    int64_t photo = 0;
    for (ComparedClass& one : compared_) {
      const FloatMatrix own = points(one);
      one.usual = usual_distance(squared_distances(own));
      const FloatMatrix rows = made(own, one);
      for (int64_t i = 0; i < rows.rows(); ++i, ++photo) {
        if (photo % step != 0) continue;
        taken.rows.row(photo / step) = rows.row(i);
        taken.of_class.push_back(one.number);
      }
    }
    return taken;
  }

  /// Returns the largest squared distance of two photos of a moment, relative to the usual one in a class.
  double join_threshold() {
    // Photos minus their class means, in units of the usual distance in the class.
    const SampledPhotos differences = sampled([](const FloatMatrix& own, const ComparedClass& one) {
      return FloatMatrix((own.rowwise() - own.colwise().mean()) / static_cast<float>(std::sqrt(one.usual)));
    });
    std::vector<double> logs = differences.squares_between_classes();
    for (double& value : logs) value = std::log(value);
    if (logs.empty()) return 0;  // each class has more photos than were sampled
    double pairs = 0;
    for (const ComparedClass& one : compared_) {
      const auto n = static_cast<double>(one.distinct.size());
      pairs += n * (n - 1) / 2;
    }
    // Subtracting means removes a part of the differences; the usual quantile must be 0 here as within the classes.
    const double middle = quantile(logs, 0.5) - quantile(logs, kUsual);
    return std::exp(middle - deviation(logs) / std::sqrt(2.0) * std::log(pairs / (2 * kWrongJoins)));
  }

  /// Joins photos of a class whose squared distance is below a bound.
  void join_near(const ComparedClass& one, double nearest, JoinedSets& sets) const {
    if (!(nearest > 0)) return;
    const FloatMatrix squares = squared_distances(points(one));
    for (int64_t i = 0; i < squares.rows(); ++i) {
      for (int64_t j = 0; j < i; ++j) {
        if (static_cast<double>(squares(i, j)) < nearest)
          sets.join(one.distinct[static_cast<size_t>(i)], one.distinct[static_cast<size_t>(j)]);
      }
    }
  }

  const EnrolledClasses& enrolled_;
  bool roots_ = true;                       // no feature is negative
  std::vector<std::vector<int64_t>> same_;  // first_copies of each class
  std::vector<ComparedClass> compared_;
};

bool are_known(const StoredClass& one) {
  return static_cast<int64_t>(one.moments.size()) == one.count &&
         std::find(one.moments.begin(), one.moments.end(), kNotStated) == one.moments.end();
}

/// Replaces each moment by the mean of its distinct photos.
StoredClass one_row_a_moment(const StoredClass& whole) {
  const auto photos = matrix_of<float>(whole.features);
  const std::vector<std::vector<int64_t>> moments = photos_of(whole.moments);
  const std::vector<int64_t> same = first_copies(whole.features);
  StoredClass made = whole;
  made.count = static_cast<int64_t>(moments.size());
  made.moments = each_its_own(made.count);
  made.features = Array::uninitialised({made.count, photos.cols()});
  auto means = mutable_matrix_of<float>(made.features);
  for (size_t m = 0; m < moments.size(); ++m) {
    DoubleVector sum = DoubleVector::Zero(photos.cols());
    double distinct = 0;
    for (const int64_t i : moments[m]) {
      if (same[static_cast<size_t>(i)] != i) continue;
      sum += photos.row(i).cast<double>().transpose();
      ++distinct;
    }
    means.row(static_cast<int64_t>(m)) = (sum / distinct).cast<float>().transpose();
  }
  return made;
}

}  // namespace

PhotoMoments each_its_own(int64_t photos) {
  PhotoMoments moments(static_cast<size_t>(photos));
  std::iota(moments.begin(), moments.end(), 0);
  return moments;
}

int64_t count_of(const PhotoMoments& moments) {
  return moments.empty() ? 0 : 1 + *std::max_element(moments.begin(), moments.end());
}

std::vector<std::vector<int64_t>> photos_of(const PhotoMoments& moments) {
  std::vector<std::vector<int64_t>> photos(static_cast<size_t>(count_of(moments)));
  for (size_t i = 0; i < moments.size(); ++i)
    photos[static_cast<size_t>(moments[i])].push_back(static_cast<int64_t>(i));
  return photos;
}

PhotoMoments moments_of(const PhotoMoments& moments, const std::vector<int64_t>& kept) {
  std::map<int64_t, int64_t> number = {{kNotStated, kNotStated}};
  PhotoMoments left;
  for (const int64_t i : kept)
    left.push_back(
        number.emplace(moments[static_cast<size_t>(i)], static_cast<int64_t>(number.size()) - 1).first->second);
  return left;
}

std::vector<PhotoMoments> find_moments(const EnrolledClasses& enrolled) { return MomentFinder(enrolled).find(); }

int64_t count_like_one_moment(const EnrolledClasses& enrolled) {
  constexpr int64_t kFewestOfABurst = 2;
  return MomentFinder(enrolled, kFewestOfABurst).like_one_moment();
}

EnrolledClasses with_moments(EnrolledClasses enrolled) {
  if (std::all_of(enrolled.classes.begin(), enrolled.classes.end(), are_known)) return enrolled;
  std::vector<PhotoMoments> found = find_moments(enrolled);
  for (size_t k = 0; k < found.size(); ++k) enrolled.classes[k].moments = std::move(found[k]);
  return enrolled;
}

EnrolledClasses by_moments(EnrolledClasses enrolled) {
  for (StoredClass& one : enrolled.classes) {
    if (are_known(one) && count_of(one.moments) < one.count) one = one_row_a_moment(one);
  }
  return enrolled;
}

}  // namespace protocom
