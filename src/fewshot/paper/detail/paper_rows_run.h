#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/paper/gauss_fusion.h"

namespace protocom {

/// Which of the paper's rows, and with what factors.
struct FastRow {
  int row = 1;  ///< 1 to 4, see MethodSpec::paper_row
  float gamma = 0;
  GaussFusionOptions fusion;
};

/// One episode: pointers to rows that are filled up with zeros to a multiple of kRowMultiple.
struct FastEpisode {
  std::vector<std::vector<const float*>> support;  ///< [n][k]
  std::vector<const float*> completed;             ///< [n]; empty when no row completes
  std::vector<const float*> query;                 ///< [q]
  std::vector<const float*> unlabelled;            ///< [u]; empty: the queries take their place
  std::vector<float> query_inverse;                ///< [q], inverse_norm_of() each
  std::vector<float> unlabelled_inverse;           ///< [u]
};

/// Where the answers to an episode go.
struct FastAnswer {
  float* logits = nullptr;      ///< [q, n]
  float* prototypes = nullptr;  ///< [n, width], `width` floats of each row
};

/// The paper's rows for one episode after the other, in memory that is allocated for the largest only. One a thread.
///
/// The formulas are those of cosine_classifier.h and gauss_fusion.h on the inner loops of row_kernels.h. What makes it
/// fast is that rows share products: a query's dot products with the n means and the n completed prototypes ("columns":
/// first the means, then the completed) serve all four. q . (m + c) / 2 needs no product of its own; the weights of
/// GaussFusion (equation 12) are those products times norms through a softmax; and the weighted sums of equations 13
/// and 14 are formed for both Gaussians of all classes in one pass over the queries.
class PaperRowsRun {
 public:
  /// `dim` floats a row, of which the first `width` are features.
  PaperRowsRun(std::vector<FastRow> rows, int64_t dim, int64_t width);

  /// answers[i] is for row i.
  void run(const FastEpisode& episode, const std::vector<FastAnswer>& answers);

 private:
  void reserve(const FastEpisode& episode);
  void place_means(const FastEpisode& episode);
  void place_completed(const FastEpisode& episode);
  void dot(const std::vector<const float*>& rows, std::vector<float>& dots);
  void weigh(const std::vector<float>& dots, const std::vector<float>& inverse_norms, int64_t count, double scale);
  void fuse(const FastEpisode& episode, const FastRow& row);
  void answer_plain(const FastRow& row, const FastEpisode& episode, const FastAnswer& answer);
  void answer_fused(const FastRow& row, const FastEpisode& episode, const FastAnswer& answer);
  [[nodiscard]] float* prototype(int64_t i) { return prototypes_.data() + i * dim_; }

  std::vector<FastRow> rows_;
  int64_t dim_;
  int64_t width_;
  bool completes_ = false;
  bool fuses_ = false;
  int64_t n_ = 0;                        // classes
  int64_t columns_ = 0;                  // n_, or 2 * n_ with completed prototypes
  std::vector<float> prototypes_;        // [columns, dim]
  std::vector<float> inverse_norms_;     // [columns]
  std::vector<float> half_sum_inverse_;  // [n], one over the norm of (mean + completed) / 2
  std::vector<float> support_sums_;      // [n, dim]
  std::vector<float> support_squares_;   // [n, dim]
  std::vector<float> shots_;             // [n]
  std::vector<float> ones_;              // [k]
  std::vector<float> query_dots_;        // [q, columns]
  std::vector<float> pool_dots_;         // [u, columns]
  std::vector<float> weights_;           // [q or u, columns]
  std::vector<float> totals_;            // [columns]
  std::vector<float> sums_;              // [columns, dim]
  std::vector<float> squares_;           // [columns, dim]
  std::vector<float> fused_;             // [n, dim]
  std::vector<float> fused_dots_;        // [q, n]
};

/// 1 / max(norm, 1e-12) of a vector whose product with itself is `square`: a zero vector is similar to nothing.
float inverse_norm_of(float square);

}  // namespace protocom
