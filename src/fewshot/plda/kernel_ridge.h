#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"

namespace protocom {

/// Settings of the prediction of class means from descriptions.
struct KernelRidgeOptions {
  double attribute_weight = 1.0;  ///< of the cosine of idf-weighted attribute rows
  double word_weight = 0.25;      ///< of the cosine of centred embeddings
  double ridge = 1.0;             ///< lambda of the regression
  /// Of embeddings of several sources: what share of the word weight each source has; empty: all the same.
  std::vector<double> source_shares = {};
};

/// Likeness of descriptions to those of base classes:
/// k(c, c') = (w_a cos(idf R_c, idf R_c') + w_e cos(h_c - h, h_c' - h)) / (w_a + w_e), where idf = log((1 + C) / (1 +
/// base classes with the attribute)) and h is the base classes' mean embedding. Embeddings of several sources have a
/// cosine for each, which share w_e. What is undefined weighs 0; a cosine with a row of zeros is 0.
class DescriptionKernel {
 public:
  /// The base classes' side of it. Attributes or embeddings may be undefined, which is without rows.
  struct Base {
    DoubleMatrix attributes;        ///< idf R, [C, a], unit rows
    DoubleVector idf;               ///< [a]
    DoubleMatrix embeddings;        ///< h_k - h, [C, e], unit rows; of several sources each times the root of its share
    DoubleVector embedding_center;  ///< h, [e]
    std::vector<int64_t> sources = {};  ///< as KnowledgeTable has them
    std::vector<double> shares = {};    ///< of each source, with the sum 1
  };

  DescriptionKernel() = default;
  /// `base`: [C, a] and [C, e]. Throws UsageError for negative weights or a sum of 0, Error for a value that is not
  /// finite.
  DescriptionKernel(const KnowledgeTable& base, const KernelRidgeOptions& options);
  /// From what a file kept.
  DescriptionKernel(Base base, const KernelRidgeOptions& options);

  /// Likeness [n, C], in [-1, 1]. Throws Error when the descriptions have other sizes than the base classes'.
  [[nodiscard]] DoubleMatrix likeness(const KnowledgeTable& descriptions) const;

  [[nodiscard]] const Base& base() const { return base_; }

 private:
  /// Rows of embeddings, [n, e], whose products with those of the base classes are their cosines.
  [[nodiscard]] DoubleMatrix word_rows(const DoubleMatrix& embedding) const;

  Base base_;
  double attribute_weight_ = 0;
  double word_weight_ = 0;
};

/// Kernel ridge regression from likeness to class means M [C, e]: m = k (K + lambda I)^-1 M.
struct KernelRidge {
  DescriptionKernel kernel;
  DoubleMatrix dual;  ///< (K + lambda I)^-1 M, [C, e]

  /// Predicted means [n, e].
  [[nodiscard]] DoubleMatrix predict(const KnowledgeTable& descriptions) const;
};

/// Fits it to base classes.
KernelRidge fit_kernel_ridge(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options);

/// What the regression predicts for each base class when it is fitted without that class, [C, e]; in closed form: with
/// H = K (K + lambda I)^-1, m_c = (H M - h_cc M)_c / (1 - h_cc).
DoubleMatrix leave_one_out(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options);

/// One setting and its leave-one-out error: sum of squares of what was missed over that of the means; 1 is what
/// predicting 0 has.
struct KernelRidgeTrial {
  KernelRidgeOptions options;
  double error = 0;
};

/// Tries every combination of word weights {0, .25, .5, 1, 2} (where both kinds of knowledge are given; else the one
/// alone) and ridges {.1, .3, 1, 3, 10}. With several sources of embeddings, their weights are chosen one at a time,
/// with the ridge, until none changes. Sorted, the best first.
std::vector<KernelRidgeTrial> try_kernel_ridges(const KnowledgeTable& base, const DoubleMatrix& means);

}  // namespace protocom
