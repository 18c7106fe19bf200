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
  at::Tensor features;                     ///< float16 or float32 [m, d]; of feature maps every image's, d = c h w
  std::vector<int64_t> labels;             ///< [c], labels of the classes in the knowledge
  std::vector<std::vector<int64_t>> rows;  ///< of each class

  [[nodiscard]] int64_t classes() const { return static_cast<int64_t>(labels.size()); }
  /// The means of the classes' images, float32 [c, d].
  [[nodiscard]] at::Tensor centres() const;
};

/// Classes to train on and others to choose on.
struct TrainingClasses {
  ClassImages train;
  ClassImages held_out;  ///< no class: nothing to choose on
};

/// Base classes to train on and val classes to choose on; without val classes every fourth base class is held out
/// instead, unless there are fewer than four. Features go through `map` first, unless it is null. Classes of fewer than
/// `fewest` images (at least 2) are left out; throws Error that names `method` when fewer than two base classes remain.
TrainingClasses training_classes(const FitInputs& inputs, const FeatureTransform* map, const std::string& method,
                                 int64_t fewest);

/// The same of feature maps, which stay in their table: rows are read as they are drawn.
TrainingClasses training_maps(const FitInputs& inputs, const std::string& method, int64_t fewest);

/// The images of the classes alone, each through `map` [n, d] to [n, e], a few at a time.
ClassImages mapped_images(const ClassImages& classes, const std::function<at::Tensor(const at::Tensor&)>& map);

/// Tasks of one shape with their answers.
struct TrainingTasks {
  EpisodeBatch batch;
  at::Tensor labels;  ///< int64 [b, q], places among the task's classes
};

struct TrainingTaskShape {
  int64_t tasks = 4;
  int64_t ways = 5;
  int64_t shots = 1;
  int64_t queries = 15;  ///< a class
};

/// Fewer ways and queries if there are not so many classes and images. Every class must have more than `shots`
/// images.
TrainingTasks draw_training_tasks(const ClassImages& classes, const TrainingTaskShape& shape, Rng& rng);

/// Images drawn one by one.
struct ImageDraw {
  at::Tensor features;  ///< [m, d]
  at::Tensor places;    ///< int64 [m], of their classes among the classes drawn from
  at::Tensor labels;    ///< int64 [m], their labels in the knowledge
};

/// Classes uniformly, then an image of each.
ImageDraw draw_images(const ClassImages& classes, int64_t count, Rng& rng);

/// Mean cross-entropy of logits [b, q, n].
at::Tensor task_loss(const at::Tensor& logits, const at::Tensor& labels);

/// Share of the queries whose largest logit is right.
double task_accuracy(const at::Tensor& logits, const at::Tensor& labels);

/// The mean of that over `rounds` draws of tasks, the same ones at every call.
double accuracy_on_tasks(const ClassImages& classes, const TrainingTaskShape& shape, int64_t rounds,
                         const std::function<at::Tensor(const EpisodeBatch&)>& logits);

}  // namespace protocom
