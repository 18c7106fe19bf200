#pragma once
#include <vector>

#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// A task for plda_vb_rows(): a belief of each class before its images, the labelled images' number and sum of rows,
/// the unlabelled rows, each [width].
struct PldaVbRows {
  PldaRowBelief prior;                   ///< [n]
  Eigen::VectorXf count;                 ///< [n]
  FloatMatrix sum;                       ///< [n, width]
  std::vector<const float*> unlabelled;  ///< [u]
  std::vector<const float*> queries;     ///< [q] beside a pool
  bool pooled = false;                   ///< else the unlabelled are the queries
};

/// Variational EM by the formulas of PldaVbOptions: log r of the queries up to a constant per row, [q, n], on
/// row_kernels.h. In the dimensions that share a variance it works on products between images, which are formed once,
/// unless there are more images than dimensions. `uncertain` is taken from the layout: the model's leading dimensions.
FloatMatrix plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options);

/// The logarithms of shares [n], scaled to add up to 1; empty if they are.
Eigen::VectorXf log_shares_of(const std::vector<double>& shares);

}  // namespace protocom
