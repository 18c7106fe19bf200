#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "datasets/feature_set.h"

namespace protocom {

/// The spread of the images of a split (figure 1).
struct SplitVariance {
  std::string split;
  int64_t classes = 0;
  int64_t images = 0;
  double within = 0.0;       ///< sigma^2: unbiased variance within a class, mean over dimensions, then over classes
  double between = 0.0;      ///< variance of the classes' centres, mean over dimensions
  double cosine = 0.0;       ///< of an image with its class centre, mean over images, then classes; scale-free
  double within_ci95 = 0.0;  ///< half width of the 95 % interval of `within`, over classes
  double cosine_ci95 = 0.0;  ///< the same for `cosine`
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SplitVariance, split, classes, images, within, between, cosine, within_ci95,
                                   cosine_ci95)

/// Returns one entry for each split that has classes.
std::vector<SplitVariance> split_variances(const FeatureSet& features);

/// Rows projected on their first principal components.
struct PrincipalComponents {
  DoubleMatrix points;        ///< [n, count], centred; each component's largest loading is positive
  std::vector<double> share;  ///< [count], share of the total variance
};

/// Computes principal components of rows [n, d]. Throws UsageError unless 1 <= count <= min(n, d).
PrincipalComponents principal_components(const DoubleMatrix& rows, int64_t count);

/// Settings of t-SNE (van der Maaten & Hinton 2008), with their defaults.
struct TsneOptions {
  double perplexity = 30.0;
  int64_t iterations = 500;
  int64_t pca_dim = 50;  ///< number of principal components that rows are reduced to first
};

/// Embeds rows [n, d] in the plane by exact t-SNE, [n, 2], centred. It starts from the first two principal components,
/// so the same rows give the same map. O(n^2) per iteration. Throws UsageError unless the perplexity is above 1 and
/// below n / 3.
DoubleMatrix tsne(const DoubleMatrix& rows, const TsneOptions& options = {});

/// Options for the maps of figure 1.
struct DistributionOptions {
  int64_t classes = 8;            ///< per split, drawn at random
  int64_t images_per_class = 50;  ///< per class, drawn at random
  uint64_t seed = 1;
  TsneOptions tsne;
};

/// One image on both maps.
struct MapPoint {
  std::string class_name;
  std::string split;
  double pca_x = 0.0, pca_y = 0.0;
  double tsne_x = 0.0, tsne_y = 0.0;
  std::string image_id = {};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapPoint, class_name, split, pca_x, pca_y, tsne_x, tsne_y, image_id)

/// Figure 1: variances over all images, maps of a sample of base and novel images in one common embedding.
struct DistributionAnalysis {
  std::vector<SplitVariance> variances;
  std::vector<double> pca_share;  ///< [2], share of the sample's variance
  std::vector<MapPoint> points;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DistributionAnalysis, variances, pca_share, points)

/// Analyses features [n, d]: variances of all images, PCA and t-SNE (van der Maaten and Hinton 2008) of a sample drawn
/// by the options' seed. Throws UsageError for less than 1 class per split or 2 images per class.
DistributionAnalysis analyse_distribution(const FeatureSet& features, const DistributionOptions& options = {});

}  // namespace protocom
