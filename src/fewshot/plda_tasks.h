#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "protocom/core/rng.h"
#include "protocom/fewshot/plda_posterior.h"

namespace protocom {

/// Images of classes that a space was not fitted on, in it, with what is believed of those classes.
struct HeldOutClasses {
  at::Tensor features;                     ///< float32 [m, e]
  std::vector<std::vector<int64_t>> rows;  ///< of each class
  ClassMeanPrior prior;                    ///< float32, mean [c, e], variance [e]
};

/// Tasks of one shape.
struct PldaTasks {
  ClassMeanPrior prior;  ///< mean [b, n, e]
  at::Tensor count;      ///< [b, n]
  at::Tensor sum;        ///< [b, n, e]
  at::Tensor queries;    ///< [b, q, e]
  at::Tensor labels;     ///< int64 [b, q]
};

/// How queries are spread over the classes of a task.
enum class TaskQueries { kBalanced, kDirichletHalf };

struct PldaTaskShape {
  int64_t tasks = 60;
  int64_t k_shot = 1;
  TaskQueries queries = TaskQueries::kBalanced;
};

/// Up to 5 classes and 10 queries a class; fewer where the classes have not enough images.
PldaTasks draw_tasks(const HeldOutClasses& classes, const PldaTaskShape& shape, Rng& rng);

/// Images that the smallest class has.
int64_t fewest_images(const HeldOutClasses& classes);

}  // namespace protocom
