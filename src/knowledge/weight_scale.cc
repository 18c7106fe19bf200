#include "knowledge/detail/weight_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace protocom {
namespace {

constexpr double kHundred = 100;
/// Numbers up to this may be ratings of a questionnaire; percentages are rarely all so small.
constexpr double kLargestMark = 20;

enum class CellKind { kUnread, kWord, kNumber, kPercentage };

struct Cell {
  CellKind kind = CellKind::kUnread;
  double value = 0;
};

std::optional<double> number_in(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto value = number_from<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Returns the value of words for yes and no.
std::optional<double> word_in(std::string_view word) {
  for (const std::string_view yes : {"x", "yes", "y", "true", "t", "present"}) {
    if (word == yes) return 1;
  }
  for (const std::string_view no : {"no", "n", "false", "f", "absent"}) {
    if (word == no) return 0;
  }
  return std::nullopt;
}

/// Parses 0.5, 0,5, 80%, x, yes, FALSE.
Cell parse_cell(std::string_view text) {
  std::string word = lowercase(trimmed(text));
  if (const auto stated = word_in(word)) return {CellKind::kWord, *stated};
  const bool percent = !word.empty() && word.back() == '%';
  if (percent) word = std::string(trimmed(std::string_view(word).substr(0, word.size() - 1)));
  if (word.find('.') == std::string::npos && std::count(word.begin(), word.end(), ',') == 1) word[word.find(',')] = '.';
  const auto value = number_in(word);
  if (!value) return {};
  return {percent ? CellKind::kPercentage : CellKind::kNumber, *value};
}

}  // namespace

void WeightScale::look(std::string_view text) {
  const Cell cell = parse_cell(text);
  if (cell.kind == CellKind::kUnread) ++unread_;
  if (cell.kind == CellKind::kWord) ++words_;
  if (cell.kind == CellKind::kPercentage) ++percentages_;
  if (cell.kind != CellKind::kNumber) return;
  ++numbers_;
  low_ = std::min(low_, cell.value);
  high_ = std::max(high_, cell.value);
  ones_ += cell.value == 1 ? 1 : 0;
  zeros_ += cell.value == 0 ? 1 : 0;
  minus_ones_ += cell.value == -1 ? 1 : 0;
}

WeightScale::Scale WeightScale::scale() const {
  if (low_ < 0) return Scale::kSigned;
  return high_ > 1 ? Scale::kPercent : Scale::kAsItIs;
}

std::string WeightScale::ambiguity() const {
  const bool more_than_zero = numbers_ > zeros_;
  if (low_ < 0 && numbers_ != ones_ + minus_ones_)
    return fmt::format("numbers from {:g} to {:g}: -1 for no is supported only beside 1", low_, high_);
  if (percentages_ > 0 && more_than_zero) return "some numbers with % and some without";
  if (said_ == Said::kPercent && high_ <= 1 && more_than_zero)
    return fmt::format("percentages of at most {:g}, which may be shares", high_);
  if (high_ > kHundred) return fmt::format("numbers up to {:g}", high_);
  if (high_ <= 1 || said_ == Said::kPercent) return "";
  if (high_ <= kLargestMark) return fmt::format("numbers up to {:g}, whose maximum is unknown", high_);
  if (2 * ones_ > numbers_ - zeros_) return fmt::format("numbers up to {:g}, though most are 0 and 1", high_);
  return "";
}

std::string WeightScale::reading() const {
  if (scale() == Scale::kSigned) return "-1 as no and 1 as yes";
  if (scale() == Scale::kPercent || percentages_ > 0) return "percentages";
  if (numbers_ == 0) return "yes and no";
  return numbers_ == ones_ + zeros_ ? "1 as yes and 0 as no" : "weights from 0 to 1";
}

std::optional<float> WeightScale::read(std::string_view text) const {
  const Cell cell = parse_cell(text);
  if (cell.kind == CellKind::kUnread) return std::nullopt;
  double value = cell.value;
  const bool percent = cell.kind == CellKind::kNumber && scale() == Scale::kPercent;
  if (percent || cell.kind == CellKind::kPercentage) value /= kHundred;
  if (cell.kind == CellKind::kNumber && scale() == Scale::kSigned) value = value > 0 ? 1 : 0;
  if (!(value >= 0 && value <= 1)) return std::nullopt;
  return static_cast<float>(value);
}

}  // namespace protocom
