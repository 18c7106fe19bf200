#pragma once
#include <cstdint>
#include <string_view>

namespace protocom {

/// The filter for resizing an image, antialiased (except kNearest), as in Pillow.
enum class Resampling { kBilinear, kNearest, kLanczos, kBicubic, kBox, kHamming };

/// Returns "bicubic".
std::string_view to_string(Resampling resampling);
/// Throws UsageError for another word.
Resampling parse_resampling(std::string_view word);
/// Returns the filter with Pillow's number (`resample` in Hugging Face's files): 0 nearest, 1 lanczos, 2 bilinear, 3
/// bicubic, 4 box, 5 hamming. Throws Error for another number.
Resampling resampling_of_pillow(int64_t number);

}  // namespace protocom
