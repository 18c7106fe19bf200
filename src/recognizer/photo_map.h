#pragma once
#include <string>
#include <vector>

#include "store/recognizer_file.h"

namespace protocom {

/// An enrolled or unlabelled image on a map.
struct MappedPhoto {
  int64_t example = 0;     ///< its id; for an unlabelled image its row in EnrolledClasses::unlabelled
  std::string class_name;  ///< empty: unlabelled
  double x = 0, y = 0;     ///< 0 to 1 along the longer side of the map, with the same scale in both directions
};

/// Places enrolled and then unlabelled images in the plane, similar ones close together, by t-SNE (van der Maaten and
/// Hinton 2008) of their features, each scaled to length 1. Deterministic. For more than `most` images, places an even
/// sample of `most`, since the time is quadratic. Throws Error for fewer than ten images.
std::vector<MappedPhoto> map_photos(const RecognizerSnapshot& snapshot, int64_t most = 1000);

/// An enrolled or unlabelled image similar to another one; the first two members as in MappedPhoto.
struct SimilarPhoto {
  int64_t example = 0;
  std::string class_name;
  float similarity = 0;  ///< cosine of the features, as on the map
};

/// Returns the `most` images most similar to a feature, float32 [d], nearest first: the feature of an image, or of a
/// text by an encoder whose vectors are comparable with those of images.
std::vector<SimilarPhoto> similar_photos(const RecognizerSnapshot& snapshot, const Array& like, int64_t most);

}  // namespace protocom
