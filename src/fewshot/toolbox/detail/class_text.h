#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/detail/task.h"
#include "fewshot/method.h"

namespace protocom {

/// Text vectors of classes in the space of the images, as CLIP's and SigLIP's text towers give them for their image
/// towers. They enter as cosines alone: a regression from such vectors loses what the towers were trained for.
class ClassText {
 public:
  /// The embeddings of the context's knowledge, of the context's classes. Throws Error when it names none of them.
  explicit ClassText(const MethodContext& context);

  /// cos(x, t_k) of images float32 [b, q, d] at unit length and classes int64 [b, n]: [b, q, n]. A class without a text
  /// has the mean of the episode's others, so that it neither gains nor loses by that; where no class has a text all
  /// are 0. Throws Error when the vectors are of another length than the images', or `classes` is undefined.
  [[nodiscard]] at::Tensor cosines(const at::Tensor& images, const at::Tensor& classes) const;

  /// The same of a task's queries, whose rows are at unit length: [q, n].
  void place_cosines(const Task& task, float* out) const { place_cosines(task, task.first_query(), task.queries, out); }
  /// The same of `count` points from `first` on, [count, n].
  void place_cosines(const Task& task, int64_t first, int64_t count, float* out) const;

 private:
  void check_width(int64_t images) const;

  at::Tensor padded_;   // [c, dim], vectors_ filled up with zeros
  at::Tensor vectors_;  // [c, d], of unit length, zeros for a class without
};

/// Factor of the cosines in the softmax, to which CLIP was trained.
inline constexpr double kClipScale = 100;

}  // namespace protocom
