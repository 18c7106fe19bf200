#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "fewshot/plda/detail/foreign_rows.h"
#include "fewshot/plda/detail/span_images.h"
#include "fewshot/plda/model.h"
#include "fewshot/toolbox/detail/tridiagonal.h"

namespace protocom {

/// Images of an episode as rows of a ForeignRows.
struct ForeignEpisode {
  SpanLabels labels;
  std::vector<const float*> rows;  // [m + q], labelled ones first
};

/// An episode's images f in a fitted space whose center and origin moved to the classes at hand. Rows are float32 of
/// `dim` numbers, ForeignRows::first(). The episode's must live as long.
class ForeignImages {
 public:
  /// Nothing where a class has an image twice or an image hardly differs from the center.
  static std::optional<ForeignImages> of(ForeignEpisode episode, const ForeignRows& space,
                                         const PldaAdaptation& adaptation);

  [[nodiscard]] const SpanLabels& labels() const { return labels_; }
  [[nodiscard]] int64_t queries() const { return static_cast<int64_t>(rows_.size()) - labels_.labelled(); }
  [[nodiscard]] int64_t dim() const { return space_->first(); }
  [[nodiscard]] int64_t dims() const { return space_->dims(); }
  /// Variances between the classes at hand.
  [[nodiscard]] const float* between() const { return between_.data(); }
  /// How far center and origin move to the mean of the classes at hand.
  [[nodiscard]] double share() const { return share_; }

  /// Query i to f.
  void place_query(int64_t i, float* f) const { place(labels_.labelled() + i, f); }
  /// Labelled images less the means of their classes, a, [m].
  [[nodiscard]] const std::vector<const float*>& within() const { return within_; }
  /// Of those and of the class means after them, [m + n, m + n].
  [[nodiscard]] const VectorColumns& products() const { return products_; }
  /// a' B a with B the variances between classes, [m, m].
  [[nodiscard]] const Floats& products_by_between() const { return by_between_; }
  /// Mean of class c, [dim].
  [[nodiscard]] const float* mean(int64_t c) const { return differences_.data() + (labels_.labelled() + c) * dim(); }

 private:
  ForeignImages(ForeignEpisode episode, const ForeignRows& space, double share);
  /// False where an image's direction is rounding.
  [[nodiscard]] bool place_center();
  void place_origin();
  void multiply();
  void measure_between(const PldaAdaptation& adaptation);
  void multiply_by_between();
  void place(int64_t i, float* f) const;

  SpanLabels labels_;
  const ForeignRows* space_;
  double share_;
  std::vector<const float*> rows_;  // [m + q], of the space
  Floats center_;                   // [ForeignRows::last()], of rows
  Floats inverse_lengths_;          // [m + q]
  Floats origin_;                   // [dim]
  Floats differences_;              // [m + n, dim]
  std::vector<const float*> within_;
  Floats between_;  // [dim]
  VectorColumns products_;
  Floats by_between_;
};

}  // namespace protocom
