#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace protocom {

/// Determines the scale of a table's weights from the numbers: 0 and 1, shares, percentages, or -1 and 1. Pass all
/// cells to look(), then read each.
class WeightScale {
 public:
  /// `percent`: whether the column's name states that it has percentages.
  enum class Said { kNothing, kPercent };
  explicit WeightScale(Said stated = Said::kNothing) : said_(stated) {}

  /// Takes the cell into account.
  void look(std::string_view text);

  /// Whether every cell seen is a weight or a number.
  [[nodiscard]] bool all_read() const { return unread_ == 0; }
  /// Whether any cell was seen.
  [[nodiscard]] bool any() const { return numbers_ + words_ + percentages_ + unread_ > 0; }
  /// Whether no number is larger than 1, or less than -1.
  [[nodiscard]] bool within_one() const { return high_ <= 1 && low_ >= -1; }

  /// Why the scale is ambiguous; empty if it is not.
  [[nodiscard]] std::string ambiguity() const;
  /// Describes how the numbers are read, for a message: "percentages from 0 to 80".
  [[nodiscard]] std::string reading() const;
  /// Whether numbers are converted.
  [[nodiscard]] bool converts() const { return scale() != Scale::kAsItIs; }

  /// Returns the weight in [0, 1] of a cell; nothing for one that is not a weight.
  [[nodiscard]] std::optional<float> read(std::string_view text) const;

 private:
  enum class Scale { kAsItIs, kPercent, kSigned };

  [[nodiscard]] Scale scale() const;

  Said said_;
  double low_ = 0, high_ = 0;  // of the numbers without a percent sign
  int64_t numbers_ = 0, words_ = 0, percentages_ = 0, unread_ = 0;
  int64_t ones_ = 0, zeros_ = 0, minus_ones_ = 0;
};

}  // namespace protocom
