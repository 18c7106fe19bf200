#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "fewshot/align_knowledge.h"

namespace protocom {

/// Settings for predicting class means from descriptions.
struct KernelRidgeOptions {
  double attribute_weight = 1.0;  ///< weight of the cosine of idf-weighted attribute rows
  double word_weight = 0.25;      ///< weight of the cosine of centred embeddings
  double ridge = 1.0;             ///< lambda of the regression
  /// The share of the word weight of each source, for embeddings of several sources; empty: equal shares.
  std::vector<double> source_shares = {};
};

/// Similarity of descriptions to those of base classes: k(c, c') = (w_a cos(idf R_c, idf R_c') + w_e cos(h_c - h, h_c'
/// - h)) / (w_a + w_e), where idf = log((1 + C) / (1 + base classes with the attribute)) and h is the base classes'
/// mean embedding. Embeddings of several sources have one cosine each, which share w_e. Undefined parts have weight 0;
/// a cosine with a row of zeros is 0.
class DescriptionKernel {
 public:
  /// The base classes' data. Attributes or embeddings may be undefined: they then have no rows.
  struct Base {
    DoubleMatrix attributes;  ///< idf R, [C, a], unit rows
    DoubleVector idf;         ///< [a]
    DoubleMatrix embeddings;  ///< h_k - h, [C, e], unit rows; with several sources, each multiplied by the square root
                              ///< of its share
    DoubleVector embedding_center;      ///< h, [e]
    std::vector<int64_t> sources = {};  ///< as in KnowledgeTable
    std::vector<double> shares = {};    ///< share of each source; they sum to 1
  };

  DescriptionKernel() = default;
  /// `base`: [C, a] and [C, e]. Throws UsageError for negative weights or a sum of 0, Error for a value that is not
  /// finite.
  DescriptionKernel(const KnowledgeTable& base, const KernelRidgeOptions& options);
  /// Restores a kernel from a file's data.
  DescriptionKernel(Base base, const KernelRidgeOptions& options);

  /// Returns similarities [n, C], in [-1, 1]. Throws Error if the descriptions differ in size from the base classes'.
  [[nodiscard]] DoubleMatrix likeness(const KnowledgeTable& descriptions) const;

  [[nodiscard]] const Base& base() const { return base_; }

 private:
  /// Returns rows of embeddings, [n, e], whose products with those of the base classes are their cosines.
  [[nodiscard]] DoubleMatrix word_rows(const DoubleMatrix& embedding) const;

  Base base_;
  double attribute_weight_ = 0;
  double word_weight_ = 0;
};

/// Kernel ridge regression from similarity to class means M [C, e]: m = k (K + lambda I)^-1 M.
struct KernelRidge {
  DescriptionKernel kernel;
  DoubleMatrix dual;  ///< (K + lambda I)^-1 M, [C, e]

  /// Returns predicted means [n, e].
  [[nodiscard]] DoubleMatrix predict(const KnowledgeTable& descriptions) const;
};

/// Fits the regression to base classes.
KernelRidge fit_kernel_ridge(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options);

/// Returns the prediction for each base class by a regression fitted without it, [C, e]; in closed form: with H = K
/// (K + lambda I)^-1, m_c = (H M - h_cc M)_c / (1 - h_cc).
DoubleMatrix leave_one_out(const KnowledgeTable& base, const DoubleMatrix& means, const KernelRidgeOptions& options);

/// A setting and its leave-one-out error: sum of squared errors over the sum of squared means; predicting 0 has error
/// 1.
struct KernelRidgeTrial {
  KernelRidgeOptions options;
  double error = 0;
};

/// Tries every combination of word weights {0, .25, .5, 1, 2} (if both kinds of knowledge are given; else only the one)
/// and ridges {.1, .3, 1, 3, 10}. With several sources of embeddings, their weights are chosen one at a time, with the
/// ridge, until none changes. Sorted, best first.
std::vector<KernelRidgeTrial> try_kernel_ridges(const KnowledgeTable& base, const DoubleMatrix& means);

}  // namespace protocom
