#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace protocom {

/// What the numbers of a table's weights mean, which the numbers themselves say: a table of 0 and 1, of shares, of
/// percentages, or of -1 and 1. Look at all cells, decide, then read each.
class WeightScale {
 public:
  /// `percent`: whether the column's name says that it holds percentages.
  enum class Said { kNothing, kPercent };
  explicit WeightScale(Said stated = Said::kNothing) : said_(stated) {}

  /// Takes the cell into account.
  void look(std::string_view text);

  /// Whether every cell that was looked at is a weight or a number.
  [[nodiscard]] bool all_read() const { return unread_ == 0; }
  /// Whether there was any.
  [[nodiscard]] bool any() const { return numbers_ + words_ + percentages_ + unread_ > 0; }
  /// Whether no number is larger than 1, or less than -1.
  [[nodiscard]] bool within_one() const { return high_ <= 1 && low_ >= -1; }

  /// Why the numbers can mean several things; empty if they cannot.
  [[nodiscard]] std::string ambiguity() const;
  /// "percentages from 0 to 80": how the numbers are read, for a message.
  [[nodiscard]] std::string reading() const;
  /// Whether numbers are read otherwise than as they stand.
  [[nodiscard]] bool converts() const { return scale() != Scale::kAsItIs; }

  /// The weight in [0, 1] that a cell says; nothing for one that is none.
  [[nodiscard]] std::optional<float> read(std::string_view text) const;

 private:
  enum class Scale { kAsItIs, kPercent, kSigned };

  [[nodiscard]] Scale scale() const;

  Said said_;
  double low_ = 0, high_ = 0;  // of the numbers without a sign for percent
  int64_t numbers_ = 0, words_ = 0, percentages_ = 0, unread_ = 0;
  int64_t ones_ = 0, zeros_ = 0, minus_ones_ = 0;
};

}  // namespace protocom
