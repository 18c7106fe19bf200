#pragma once
#include <vector>

#include "fewshot/toolbox/two_layers.h"

namespace protocom {

/// The adaptive mixture of a prototype and what semantics say of the class (Xing et al., AM3, 2019):
///   w = g(s) / sqrt(d), lambda = sigmoid(h(g(s))), p' = lambda p + (1 - lambda) w
/// for prototypes of unit vectors; networks give and take values of size 1.
struct Am3Block {
  TwoLayers transform;  ///< g: [s] to [d]
  TwoLayers gate;       ///< h: [d] to [1]
};

/// Which units of the hidden layers are left out in training, and whether there is training.
struct Dropout {
  double share = 0;  ///< 0: none
};

/// lambda of semantics [..., s], [..., 1] in (0, 1): 1 leaves the prototype as it is.
at::Tensor share_of_prototype(const Am3Block& block, const at::Tensor& semantics);

/// p' of prototypes [..., d] and semantics [..., s]. A class of which nothing is known (zeros) keeps p.
at::Tensor mixed(const Am3Block& block, const at::Tensor& prototypes, const at::Tensor& semantics,
                 Dropout dropout = {});

/// The outputs of a chain of blocks, each of which takes what the one before gave and semantics of its own; the last is
/// the answer.
std::vector<at::Tensor> chained(const std::vector<Am3Block>& blocks, const at::Tensor& prototypes,
                                const std::vector<at::Tensor>& semantics, Dropout dropout = {});

/// The margins of Li et al., 2020, [..., n, n]: alpha cos(s_y, s_k) + beta between a task's classes y and k of
/// semantics
/// [..., n, s], and 0 on the diagonal.
struct MarginLaw {
  double alpha = 0;
  double beta = 0;
};
at::Tensor class_margins(const at::Tensor& semantics, const MarginLaw& law);

/// Logits [b, q, n] with the margins [b, n, n] of each query's class int64 [b, q] added.
at::Tensor with_margins(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& margins);

}  // namespace protocom
