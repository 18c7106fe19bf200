#pragma once
#include <string>
#include <vector>

#include "store/recognizer_file.h"

namespace protocom {

/// An enrolled or unlabelled image on a map.
struct MappedPhoto {
  int64_t example = 0;     ///< its id; of an unlabelled image its row in EnrolledClasses::unlabelled
  std::string class_name;  ///< empty: unlabelled
  double x = 0, y = 0;     ///< 0 to 1 along the longer side of the map, the same scale in both
};

/// Enrolled and then unlabelled images in the plane, similar ones close together: t-SNE (van der Maaten and Hinton
/// 2008) of their features, each scaled to length 1. The same images give the same map. Of more than `most` images an
/// even sample of `most` is placed, since the time grows with their square. Throws Error for fewer than ten images.
std::vector<MappedPhoto> map_photos(const RecognizerSnapshot& snapshot, int64_t most = 1000);

/// An enrolled or unlabelled image that is like another one; the first two as of MappedPhoto.
struct SimilarPhoto {
  int64_t example = 0;
  std::string class_name;
  float similarity = 0;  ///< cosine of the features, as on the map
};

/// The `most` images that are most like a feature, float32 [d], nearest first: of an image, or of a text by an encoder
/// whose vectors compare with images.
std::vector<SimilarPhoto> similar_photos(const RecognizerSnapshot& snapshot, const Array& like, int64_t most);

}  // namespace protocom
