#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/paper/gauss_fusion_options.h"
#include "fewshot/task.h"

namespace protocom {

/// One of the paper's rows, with its factors.
struct FastRow {
  int row = 1;  ///< 1 to 4, see MethodSpec::paper_row
  float gamma = 0;
  GaussFusionOptions fusion;
};

/// Computes the paper's rows for one task at a time, in memory allocated for the largest only. One object per thread.
///
/// The formulas are those of cosine_classifier.h and gauss_fusion.h on the inner loops of row_kernels.h. It is fast
/// because rows share products: a query's dot products with the n means and the n completed prototypes ("columns":
/// first the means, then the completed) serve all four rows. q . (m + c) / 2 needs no product of its own; the weights
/// of GaussFusion (equation 12) are those products times norms through a softmax; and the weighted sums of equations 13
/// and 14 are formed for both Gaussians of all classes in one pass over the queries.
class PaperRowsRun {
 public:
  explicit PaperRowsRun(std::vector<FastRow> rows);

  /// Writes logits [q, n] of each row. `completed` [n]: rows [dim]; empty if no row uses completed prototypes.
  void run(const Task& task, const std::vector<const float*>& completed, const std::vector<float*>& logits);
  /// Prototypes of row `i`, [n, dim]. Valid until the next task.
  [[nodiscard]] const float* prototypes(size_t i) const { return answers_[i].data(); }

 private:
  void reserve(const Task& task);
  void compute_means(const Task& task);
  void compute_completed(const std::vector<const float*>& completed);
  void weigh(const Task& task, const std::vector<float>& dots, const std::vector<float>& column_norms, double scale);
  void move_columns(const Task& task);
  void fuse(const Task& task, const FastRow& row, float* fused);
  void answer_plain(const Task& task, const FastRow& row, float* logits, float* prototypes);
  void answer_fused(const Task& task, const FastRow& row, float* logits, float* prototypes);
  [[nodiscard]] float* prototype(int64_t i) { return prototypes_.data() + i * dim_; }

  std::vector<FastRow> rows_;
  std::vector<Floats> answers_;  // [rows][n, dim]
  bool completes_ = false;
  bool fuses_ = false;
  int64_t dim_ = 0;
  int64_t n_ = 0;                        // classes
  int64_t columns_ = 0;                  // n_, or 2 * n_ with completed prototypes
  Floats prototypes_;                    // [columns, dim]
  Floats support_sums_;                  // [n, dim]
  Floats support_squares_;               // [n, dim]
  Floats sums_, squares_;                // [columns, dim]
  Floats moved_;                         // [columns, dim], the Gaussians' means after a step
  std::vector<float> inverse_norms_;     // [columns]
  std::vector<float> moved_norms_;       // [columns], norms of moved_
  std::vector<float> half_sum_inverse_;  // [n], one over the norm of (mean + completed) / 2
  std::vector<float> point_inverse_;     // [points], one over the norm of each row of the task
  std::vector<float> shots_;             // [n]
  std::vector<float> ones_;              // [k]
  std::vector<float> query_dots_;        // [q, columns]
  std::vector<float> pool_dots_;         // [u, columns]
  std::vector<float> weights_;           // [u, columns]
  std::vector<float> totals_;            // [columns]
  std::vector<float> fused_dots_;        // [q, n]
};

/// Returns 1 / max(norm, 1e-12) for a vector whose squared length is `square`: a zero vector is similar to nothing.
float inverse_norm_of(float square);

}  // namespace protocom
