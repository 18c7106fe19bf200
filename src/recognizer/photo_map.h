#pragma once
#include <string>
#include <vector>

#include "store/recognizer_file.h"

namespace protocom {

/// An enrolled image on a map.
struct MappedPhoto {
  int64_t example = 0;
  std::string class_name;
  double x = 0, y = 0;  ///< 0 to 1 along the longer side of the map, the same scale in both
};

/// Enrolled images in the plane, similar ones close together: t-SNE (van der Maaten and Hinton 2008) of
/// their features, each scaled to length 1. The same images give the same map. Of more than `most` images an
/// even sample of `most` is placed, since the time grows with their square. Throws Error for fewer than ten images.
std::vector<MappedPhoto> map_photos(const RecognizerSnapshot& snapshot, int64_t most = 1000);

}  // namespace protocom
