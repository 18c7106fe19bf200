#pragma once
#include <cstdint>
#include <vector>

#include "store/enrolled_classes.h"

namespace protocom {

/// The photos of a class grouped by moment: frames of a burst or a video, copies of a photo. Holds for each photo the
/// index of its moment; moments are numbered 0, 1, ... in the order of their first photos. [count]
using PhotoMoments = std::vector<int64_t>;

/// Makes each photo a moment of its own.
PhotoMoments each_its_own(int64_t photos);

/// Returns the number of moments.
int64_t count_of(const PhotoMoments& moments);

/// Returns the photos of each moment, ascending.
std::vector<std::vector<int64_t>> photos_of(const PhotoMoments& moments);

/// Returns the moments of the photos `kept` (ascending), renumbered. kNotStated stays.
PhotoMoments moments_of(const PhotoMoments& moments, const std::vector<int64_t>& kept);

/// Groups the photos of each class into moments. Photos with equal features are one moment, and so are those of one
/// stated moment (StoredClass::moments); two photos with stated moments are joined by nothing else. Photos of a burst
/// are joined if each was taken at most kBurstGap after the previous one (StoredClass::taken). Two other photos are
/// joined if r = d^2 / q is below a threshold, where d is their distance and q the upper quartile of the squared
/// distances in their class. The threshold comes from pairs that cannot be of one moment, photos of two classes, each
/// minus the mean of its class: log r is modelled there with an exponential lower tail, and .05 wrong pairs are
/// expected in all. Of birds without bursts .3 to .9 % are joined (docs/results/own-photos.md). Not grouped by distance
/// are classes of one moment, of two photos or of more than kMostPhotosOfAClass photos, and any class if there are
/// fewer than two classes of three photos. Copies of a photo do not change the result.
std::vector<PhotoMoments> find_moments(const EnrolledClasses& enrolled);

/// Returns the number of classes whose photos are nearly the same, if these are most of the classes of two or more
/// photos: each may show one moment only. find_moments() cannot detect that: it compares distances within a class.
/// Nearly the same: the upper quartile of the squared distances in the class is below .3 of the median between classes.
/// Else returns 0. Classes with stated moments are not counted as such. (docs/log/plda.md)
int64_t count_like_one_moment(const EnrolledClasses& enrolled);

inline constexpr int64_t kMostPhotosOfAClass = 5000;

/// In seconds. People rarely photograph another subject that soon; cameras store whole seconds.
inline constexpr double kBurstGap = 2;

/// Sets StoredClass::moments by find_moments() for the photos whose moment is unknown.
EnrolledClasses with_moments(EnrolledClasses enrolled);

/// Replaces the photos of each moment by their mean feature. Copies of a photo do not count. Features stay as they are
/// if moments are unknown, and in classes where each photo is its own moment.
EnrolledClasses by_moments(EnrolledClasses enrolled);

}  // namespace protocom
