#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/plda/detail/share_prior.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// Pointers to the data of one episode.
struct PldaVbEpisode {
  int64_t n = 0;
  int64_t u = 0;
  int64_t dim = 0;                     ///< number of dimensions computed individually
  int64_t stride = 0;                  ///< stride of sums
  const float* const* rows = nullptr;  ///< [u], unlabelled images
  const float* count = nullptr;
  const float* sum = nullptr;         ///< [n, stride]
  const float* prior_mean = nullptr;  ///< [n, dim]
  const float* prior_variance = nullptr;
  // The rest by products: none if `gram` is null. T is the sum of supports plus the prior's mean over its variance.
  int64_t gram_stride = 0;
  const float* gram = nullptr;             ///< [u, gram_stride], products of unlabelled images
  const float* cross = nullptr;            ///< [u, n], products of unlabelled images with T
  const float* length = nullptr;           ///< [n], |T|^2
  const float* variance_rest = nullptr;    ///< [n]
  const float* given_log_share = nullptr;  ///< [n]
  const float* handicap = nullptr;         ///< [u, n], of unlabelled images; null: none
};

/// Returns the weight of an unlabelled image relative to `images` labelled ones of all n classes: 1 / sqrt(K), with K
/// per class, within [vb.least_weight, 1].
float unlabelled_weight(float images, int64_t n, const PldaVbOptions& vb);

/// Variational EM for one episode at a time, in reused memory. The formulas are those of PldaVbOptions.
class PldaVbRun {
 public:
  explicit PldaVbRun(const PldaVbOptions& options) : options_(options), prior_(1, 0, options.concentration) {}

  /// Runs EM and writes the last E-step's logits of the unlabelled images to `logits` [u, n].
  void run(const PldaVbEpisode& episode, float* logits);
  /// Computes logits of other rows with the means of the last run; only without a rest.
  void score(const float* const* queries, int64_t count, float* logits);

 private:
  [[nodiscard]] float trust() const { return static_cast<float>(options_.trust); }

  void begin(const PldaVbEpisode& episode);

  void compute_by_class();

  /// M-step: computes the means from the labelled images and the weighted unlabelled ones; own_ becomes |m|^2 + spread
  /// sum v.
  void compute_means();

  /// Adds the terms of the rest: rest_dots_ [u, n] = x . m and own_ += |m|^2, for m = gain (T + sum_j w_j x_j).
  void compute_rest();

  void dot(const float* const* rows, int64_t count, float* logits);

  void compute_logits(float* logits);

  void compute_shares(const float* logits);

  /// Balances the columns by Sinkhorn's scaling, starting from the previous step's shares.
  void balance(const float* logits, double target);

  void compute_responsibilities(const float* logits);

  PldaVbOptions options_;
  PldaVbEpisode episode_;
  SharePrior prior_;
  float weight_ = 1;                                              // of an unlabelled image
  bool started_ = false;                                          // whether there are responsibilities
  std::vector<float> means_, sums_;                               // [n, dim]; sums_: of the unlabelled
  std::vector<float> weights_, rest_dots_;                        // [u, n]; weights_: weight_ times responsibilities
  std::vector<float> by_class_;                                   // weights_ as [n, u rounded up]
  std::vector<float> filled_, share_, own_, gain_rest_, square_;  // [n]; filled_: sums of responsibilities
  std::vector<double> factor_, column_;                           // [n]
  std::vector<const float*> gram_rows_;
};

}  // namespace protocom
