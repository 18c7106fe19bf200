#pragma once
#include <cstdint>
#include <string_view>

namespace protocom {

/// The filter by which an image is resized, antialiased (kNearest is not): Pillow's.
enum class Resampling { kBilinear, kNearest, kLanczos, kBicubic, kBox, kHamming };

/// "bicubic"
std::string_view to_string(Resampling resampling);
/// Throws UsageError for another word.
Resampling parse_resampling(std::string_view word);
/// By Pillow's number (`resample` of Hugging Face's files): 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5
/// hamming. Throws Error for another one.
Resampling resampling_of_pillow(int64_t number);

}  // namespace protocom
