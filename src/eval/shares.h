#pragma once
#include <cstdint>

namespace protocom {

/// An interval of a share.
struct ShareInterval {
  double low = 0;
  double high = 0;
};

/// Returns the 95 % interval of the share of successes in n independent trials (Wilson 1927). Unlike mean ± 1.96
/// standard errors it stays within [0, 1] and does not shrink to a point if all or none succeed. Throws Error without a
/// trial.
ShareInterval share_interval(int64_t successes, int64_t n);

/// Results of two classifiers on the same n questions: how many only the first has right, and only the second.
struct PairedCounts {
  int64_t n = 0;
  int64_t first_only = 0;
  int64_t second_only = 0;
};

/// Returns the 95 % interval of the difference of their shares, second minus first: Wald's with half a question added
/// to each cell of the two by two table (Agresti and Min, Statistics in Medicine 2005), which holds for few questions
/// too. Throws Error without a question.
ShareInterval paired_interval(const PairedCounts& counts);

/// Returns the p-value of McNemar's exact test, two-sided: the probability of a split at least as uneven of the
/// questions that only one has right, if each is equally likely to be either's. 1 if there are none.
double mcnemar_p_value(const PairedCounts& counts);

}  // namespace protocom
