#pragma once
#include "fewshot/method.h"
#include "fewshot/task.h"

namespace protocom {

/// Text vectors of classes in the space of the images, as CLIP's and SigLIP's text towers give them for their image
/// towers. Only their cosines are used: a regression from such vectors loses what the towers were trained for.
class ClassText {
 public:
  /// Takes the embeddings of the context's classes from its knowledge. Throws Error if it names none of them.
  explicit ClassText(const MethodContext& context);

  /// Computes cos(x, t_k) of `count` points of a task from `first` on, whose rows are at unit length, and its classes:
  /// [count, n]. A class without a text has the mean of the task's others, so that it neither gains nor loses; if no
  /// class has a text all are 0. Throws Error if the vectors differ in length from the images' or the task's classes
  /// are not known.
  void compute_cosines(const Task& task, int64_t first, int64_t count, float* out) const;
  /// Computes the cosines of the queries, [q, n].
  void compute_cosines(const Task& task, float* out) const {
    compute_cosines(task, task.first_query(), task.queries, out);
  }

  /// Returns the vectors [n, d] whose products with features of unit length [d] are those cosines, for classes [n]
  /// given as rows of the KnowledgeTable. Throws Error if their length is not `width`.
  [[nodiscard]] FloatMatrix vectors_of(const std::vector<int64_t>& classes, int64_t width) const;

 private:
  void check_width(int64_t width) const;

  int64_t width_;        // of a text vector
  FloatMatrix vectors_;  // [c, dim], of unit length, padded with zeros; zeros for a class without text
};

/// Factor of the cosines in the softmax with which CLIP was trained.
inline constexpr double kClipScale = 100;

}  // namespace protocom
