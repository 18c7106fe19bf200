#pragma once
#include <cstdint>
#include <vector>

#include "store/enrolled_classes.h"

namespace protocom {

/// The photos of a class in groups of one moment each: frames of a burst or a video, copies of a photo. For each photo
/// the number of its moment; moments are numbered 0, 1, ... in the order of their first photos. [count]
using PhotoMoments = std::vector<int64_t>;

/// Each photo is a moment of its own.
PhotoMoments each_its_own(int64_t photos);

/// How many moments those are.
int64_t count_of(const PhotoMoments& moments);

/// The photos of each moment, ascending.
std::vector<std::vector<int64_t>> photos_of(const PhotoMoments& moments);

/// Those of the photos in `kept`, ascending. kNotStated stays.
PhotoMoments moments_of(const PhotoMoments& moments, const std::vector<int64_t>& kept);

/// Groups the photos of each class into moments by the distances of their features. Photos with equal features are one
/// moment, and so are those of which that is stated already (StoredClass::moments); two photos that are both stated are
/// joined by nothing else. So are photos of a burst, each taken at most kBurstGap after the one before
/// (StoredClass::taken). Two other photos are joined when r = d^2 / q is below a threshold: d is their distance, q the
/// upper quartile of the squared distances in their class. The threshold comes from pairs that cannot be of one moment,
/// photos of two classes, each less the mean of its class: log r is modelled there with an exponential lower tail, and
/// .05 wrong pairs are expected in all. Of birds without bursts .3 to .9 % are joined (docs/results/own-photos.md).
/// Classes of one moment, of two photos or of more than kMostPhotosOfAClass photos are not grouped, nor is anything
/// with fewer than two classes of three photos. Copies of a photo do not change the result.
std::vector<PhotoMoments> find_moments(const EnrolledClasses& enrolled);

inline constexpr int64_t kMostPhotosOfAClass = 5000;

/// Seconds. People rarely photograph another subject that soon; cameras store whole seconds.
inline constexpr double kBurstGap = 2;

/// The classes with find_moments() in StoredClass::moments, where that is not known yet of a photo.
EnrolledClasses with_moments(EnrolledClasses enrolled);

/// The classes with the mean features of each moment in place of its photos. Copies of a photo do not count in it.
/// Where moments are not known, and in classes where each photo is its own, features are as they were.
EnrolledClasses by_moments(EnrolledClasses enrolled);

}  // namespace protocom
