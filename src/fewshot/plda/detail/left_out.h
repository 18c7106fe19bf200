#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace protocom {

/// Inner products nu u' (nu I + R)^-1 v of labelled images and class means, where R is the scatter of images within
/// classes, in units in which the prior of the within-class covariance is I.
struct LeftOutProducts {
  std::vector<double> images;  ///< [m], each image with itself
  std::vector<double> across;  ///< [m, n], images with class means
  std::vector<double> means;   ///< [n, n]
};

/// Labels [m] in [0, classes), each of which occurs, and the degrees of R.
struct LeftOutLabels {
  const std::vector<int64_t>* labels = nullptr;
  int64_t classes = 0;
  double degrees = 0;
};

/// Returns the degrees nu preferred by leave-one-out: `usual`, or 1/10, 3/10, 3, 10 times that if the loss is surely
/// smaller. The loss is -log p(class) of each image whose class has others, at the scale of log densities that
/// minimises it. The image is scored against the class means, left out of its class's mean and of the scatter, with a
/// prior of S that is I with nu degrees: -1/2 (x - m_c)' S^-1 (x - m_c), in closed form (Sherman and Morrison). Class
/// means have no prior here. This serves to compare values of nu; the scatter of class means keeps the image, so it
/// does not show how certain answers may be (scale_by_folds does).
double choose_degrees(double usual, const LeftOutLabels& labels,
                      const std::function<LeftOutProducts(double nu)>& products);

}  // namespace protocom
