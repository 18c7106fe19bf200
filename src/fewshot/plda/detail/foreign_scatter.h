#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/plda/detail/foreign_images.h"
#include "fewshot/toolbox/detail/tridiagonal.h"

namespace protocom {

/// Pointers to rows of `dim` numbers.
std::vector<const float*> rows_of(const Floats& values, int64_t dim);

/// W = base I - Z'Z.
struct ForeignWhitening {
  double base = 1;
  Floats rows;        // Z, [r, dim]
  Floats by_between;  // Z B Z', [r, r]
  int64_t rank = 0;   // r

  /// W x of rows, [count, dim].
  void apply(const std::vector<const float*>& x, int64_t dim, float* out) const;
  /// diag(W B W), [dim].
  [[nodiscard]] Floats variance(const float* between, int64_t dim) const;
};

/// What some labelled images say of the within-class covariance in a fitted space, in which it is I, as update_of() of
/// plda/adaptation.cc has it:
///     S = s (nu I + R / s) / (nu + degrees),   R = A'A, A their differences from the means of their classes
/// with the scale s. Of A only inner products are needed: with the eigenvectors V and eigenvalues l of A A' / s
///     S^-1/2 = (base I - A' V diag(g) V' A / s) / sqrt(s),   base = sqrt(t / nu), t = nu + degrees,
///     g = (base - sqrt(t / (nu + l))) / l = base / (sqrt(nu + l) (sqrt(nu + l) + sqrt(nu))).
class ForeignScatter {
 public:
  ForeignScatter(const ForeignImages& images, std::vector<int64_t> among, const PldaAdaptation& adaptation);

  /// nu as leaving images out has it; of all images.
  [[nodiscard]] double degrees(double usual) const;
  /// S^-1/2; I where no class has two images.
  [[nodiscard]] ForeignWhitening whitening(double nu) const;
  [[nodiscard]] bool whitens() const { return !eigen_.values.empty(); }
  [[nodiscard]] const std::vector<int64_t>& among() const { return among_; }

 private:
  const ForeignImages& images_;
  std::vector<int64_t> among_;  // [k]
  double degrees_ = 0;
  double scale_ = 1;
  SymmetricEigen eigen_;  // of A A' / s, [k - classes, k]
};

}  // namespace protocom
