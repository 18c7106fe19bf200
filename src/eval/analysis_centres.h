#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"

namespace protocom {

/// An image and its cosine with the true centre of its class (the mean of all its images).
struct RankedImage {
  std::string image_id;
  double cosine = 0.0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankedImage, image_id, cosine)

/// The images of a class nearest to and farthest from its centre (figure 4), each ordered from the most extreme one on.
struct ClassExtremes {
  std::string class_name;
  std::vector<RankedImage> nearest;
  std::vector<RankedImage> farthest;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassExtremes, class_name, nearest, farthest)

/// Returns the `count` nearest and farthest images of each class named. Throws Error for an unknown class.
std::vector<ClassExtremes> extreme_images(const FeatureSet& features, const std::vector<std::string>& classes,
                                          int64_t count);

/// Draws `count` classes of a split at random, in the features' order.
std::vector<std::string> random_classes(const FeatureSet& features, Split split, int64_t count, uint64_t seed);

/// Returns the mean of every run of `window` neighbours: n - window + 1 values. Throws UsageError unless 1 <= window <=
/// n.
std::vector<double> moving_average(const std::vector<double>& values, int64_t window);

/// Returns values at `count` evenly spaced places from the first to the last, by linear interpolation. Throws
/// UsageError for no value or count < 1.
std::vector<double> resampled(const std::vector<double>& values, int64_t count);

/// How close a prototype made from one image by a method is to the centre of its class.
struct SingleImageCurve {
  std::string method;
  std::vector<double> cosine;   ///< smoothed; entry i is the mean of ranks i .. i + window - 1
  Estimate nearest_gain = {};   ///< of the first entry over the image itself; paired by class, interval over classes
  Estimate farthest_gain = {};  ///< the same at the last entry
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SingleImageCurve, method, cosine, nearest_gain, farthest_gain)

/// Figure 5: within each class of a split, images in order of their distance to the centre; a curve is the mean over
/// classes at each rank, smoothed by a moving average. Classes with more images than the smallest one are resampled to
/// its number of ranks.
struct SingleImageAnalysis {
  int64_t classes = 0;
  int64_t ranks = 0;
  int64_t window = 0;                    ///< at most a quarter of the ranks
  std::vector<SingleImageCurve> curves;  ///< one per inductive method that has prototypes
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SingleImageAnalysis, classes, ranks, window, curves)

/// Ranks in the moving average by default.
inline constexpr int64_t kSingleImageWindow = 50;

SingleImageAnalysis analyse_single_images(const AnalysisInputs& inputs, Split split,
                                          int64_t window = kSingleImageWindow);

}  // namespace protocom
