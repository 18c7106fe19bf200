#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "fewshot/method.h"
#include "heads/episode_batch.h"

namespace protocom {

/// Images by class.
struct ClassImages {
  at::Tensor features;          ///< float16 or float32 [m, d]; for feature maps those of every image, d = c h w
  std::vector<int64_t> labels;  ///< [c], labels of the classes in the knowledge
  std::vector<std::vector<int64_t>> rows;  ///< [c], row indices of the images of each class

  [[nodiscard]] int64_t classes() const { return static_cast<int64_t>(labels.size()); }
  /// Returns the means of the classes' images, float32 [c, d].
  [[nodiscard]] at::Tensor centres() const;
};

/// Classes to train on and held-out classes for model selection.
struct TrainingClasses {
  ClassImages train;
  ClassImages held_out;  ///< without classes: nothing to select on
};

/// Returns base classes to train on and val classes for model selection; without val classes every fourth base class is
/// held out instead, unless there are fewer than four. Features go through `map` first, unless it is null. Classes of
/// fewer than `fewest` images (at least 2) are left out; throws Error that names `method` when fewer than two base
/// classes remain.
TrainingClasses training_classes(const FitInputs& inputs, const FeatureTransform* map, const std::string& method,
                                 int64_t fewest);

/// Returns these classes for feature maps, which stay in their table: rows are read as they are drawn.
TrainingClasses training_maps(const FitInputs& inputs, const std::string& method, int64_t fewest);

/// Returns only the images of the classes, each mapped by `map` [n, d] to [n, e], a few at a time.
ClassImages mapped_images(const ClassImages& classes, const std::function<at::Tensor(const at::Tensor&)>& map);

/// Tasks of one shape with their answers.
struct TrainingTasks {
  EpisodeBatch batch;
  at::Tensor labels;  ///< int64 [b, q], indices among the task's classes
};

struct TrainingTaskShape {
  int64_t tasks = 4;
  int64_t ways = 5;
  int64_t shots = 1;
  int64_t queries = 15;  ///< per class
};

/// Draws tasks, with fewer ways and queries if there are too few classes and images. Every class must have more than
/// `shots` images.
TrainingTasks draw_training_tasks(const ClassImages& classes, const TrainingTaskShape& shape, Rng& rng);

/// Images drawn one by one.
struct ImageDraw {
  at::Tensor features;  ///< [m, d]
  at::Tensor places;    ///< int64 [m], their classes as indices among those drawn from
  at::Tensor labels;    ///< int64 [m], their labels in the knowledge
};

/// Draws classes uniformly, then an image of each.
ImageDraw draw_images(const ClassImages& classes, int64_t count, Rng& rng);

/// Returns the mean cross-entropy of logits [b, q, n].
at::Tensor task_loss(const at::Tensor& logits, const at::Tensor& labels);

/// Returns the share of the queries whose largest logit is that of their class.
double task_accuracy(const at::Tensor& logits, const at::Tensor& labels);

/// Returns the mean accuracy over `rounds` draws of tasks, the same ones at every call.
double accuracy_on_tasks(const ClassImages& classes, const TrainingTaskShape& shape, int64_t rounds,
                         const std::function<at::Tensor(const EpisodeBatch&)>& logits);

}  // namespace protocom
