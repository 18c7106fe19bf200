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

/// Those of the photos in `kept`, ascending.
PhotoMoments moments_of(const PhotoMoments& moments, const std::vector<int64_t>& kept);

/// The moments of each class's photos, by the likeness of their features. Photos with the same features are of one
/// moment. Others are where their squared distance is so small a part of what is usual in their class as it hardly is
/// between photos that are surely of different moments: photos of two classes, each less the mean of its class. The
/// logarithm of that part is taken to fall off exponentially, with the deviation that it has there, and the largest
/// part is where .05 pairs of all would be nearer. Of birds without bursts .3 to .9 % are joined
/// (docs/results/own-photos.md). What is usual is the upper quartile of the distances in the class, so a class of a
/// single moment, or of two photos, has nothing to tell its moments by; neither have fewer than two classes of three
/// photos, nor those of more than kMostPhotosOfAClass photos. Copies change nothing.
std::vector<PhotoMoments> find_moments(const EnrolledClasses& enrolled);

inline constexpr int64_t kMostPhotosOfAClass = 5000;

/// The classes with find_moments() in StoredClass::moments, where that is not known yet.
EnrolledClasses with_moments(EnrolledClasses enrolled);

/// The classes with the mean features of each moment in place of its photos. Copies of a photo do not count in it.
/// Where moments are not known, and in classes where each photo is its own, features are as they were.
EnrolledClasses by_moments(EnrolledClasses enrolled);

}  // namespace protocom
