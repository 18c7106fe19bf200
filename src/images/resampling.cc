#include "images/resampling.h"

#include "base/enum_words.h"
#include "base/error.h"

namespace protocom {
namespace {

/// In the order of Pillow's numbers.
constexpr EnumWord<Resampling> kResamplings[] = {
    {Resampling::kNearest, "nearest"}, {Resampling::kLanczos, "lanczos"}, {Resampling::kBilinear, "bilinear"},
    {Resampling::kBicubic, "bicubic"}, {Resampling::kBox, "box"},         {Resampling::kHamming, "hamming"}};

}  // namespace

std::string_view to_string(Resampling resampling) { return word_of(kResamplings, resampling); }

Resampling parse_resampling(std::string_view word) { return value_of(kResamplings, word, "resampling"); }

Resampling resampling_of_pillow(int64_t number) {
  constexpr int64_t kCount = sizeof(kResamplings) / sizeof(kResamplings[0]);
  if (number < 0 || number >= kCount)
    fail("resampling out of range: expected 0 to {} (Pillow's numbers), found {}", kCount - 1, number);
  return kResamplings[number].value;
}

}  // namespace protocom
