#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// Episodes for plda_vb_rows(): a belief of each class [b, n, ...] before its images, the labelled images' number and
/// sum of rows, the unlabelled rows. float32.
struct PldaVbRows {
  PldaRowBelief prior;
  at::Tensor count;          ///< [b, n]
  at::Tensor sum;            ///< [b, n, width]
  at::Tensor unlabelled;     ///< [b, u, width]
  at::Tensor queries;        ///< [b, q, width]; undefined: the unlabelled ones
  at::Tensor handicap = {};  ///< [b, u, n], added to log r of the unlabelled; undefined: nothing
};

/// What is added to the log responsibilities of images for each class, at most 0, from `alone` [..., n], their log
/// probabilities (up to a number an image) by the labelled images alone, at the scale of probabilities of a batch:
///     kHandicapSlope min(0, alone - max alone - log plausible).
/// A large class with a part of its own (airplanes, among them fighters) would else fill a small class that happens to
/// lie beside that part (helicopters), however sure its images are one by one.
at::Tensor vb_handicap(const at::Tensor& alone, double plausible);

/// Variational EM by the formulas of PldaVbOptions: log r of the queries but for a constant a row, [b, q, n]; a loop
/// over episodes on row_kernels.h. In the dimensions that share a variance it works on products between images, which
/// are formed once, unless there are more images than dimensions. PldaVbOptions::given is [n] or [b, n]; `uncertain` is
/// taken from the layout: the model's leading dimensions.
at::Tensor plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options);

}  // namespace protocom
