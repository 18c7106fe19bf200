#pragma once
#include <vector>

#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// A task for plda_vb_rows(): a belief about each class before its images, the labelled images' number and sum of rows,
/// and the unlabelled rows, each [width].
struct PldaVbRows {
  PldaRowBelief prior;                   ///< [n]
  Eigen::VectorXf count;                 ///< [n]
  FloatMatrix sum;                       ///< [n, width]
  std::vector<const float*> unlabelled;  ///< [u]
  std::vector<const float*> queries;     ///< [q] if there is a pool
  bool pooled = false;                   ///< else the unlabelled are the queries
};

/// Runs variational EM by the formulas of PldaVbOptions: returns log r of the queries up to a constant per row, [q, n],
/// using row_kernels.h. In the dimensions that share a variance it uses products between images, which are computed
/// once, unless there are more images than dimensions. `uncertain` comes from the layout: the model's leading
/// dimensions.
FloatMatrix plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options);

/// Returns the logarithms of shares [n], scaled to sum to 1; empty for empty shares.
Eigen::VectorXf log_shares_of(const std::vector<double>& shares);

}  // namespace protocom
