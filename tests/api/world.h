#pragma once
#include <cstdint>
#include <string>
#include <vector>

// Files that the front's tests need, made by the modules below it: whoever includes the front's headers includes none
// of theirs.
namespace protocom::testing {

inline constexpr int64_t kSide = 16;  // pixels of an image

/// Pixels uint8 [kSide, kSide, 3] of one colour with a little noise that follows from `seed`.
std::vector<uint8_t> pixels(uint8_t red, uint8_t blue, int seed);
/// A PNG of them.
std::string png(uint8_t red, uint8_t blue, int seed);
/// The same as a file; returns its path.
std::string photo(const std::string& path, uint8_t red, uint8_t blue, int seed);
/// An encoder that has learned nothing, for images of that side; colours are enough for it.
std::string encoder(const std::string& path);
/// What is known of the classes "cardinal" and "bluebird": "red" and "blue".
std::string knowledge(const std::string& path);
/// CLIP's two towers as a folder of Hugging Face, with made-up weights; images of 32 pixels, vectors of 24 numbers.
std::string clip(const std::string& path);
/// Features of three classes "0" to "2" of base, and three of novel, 12 images each, [72, 6], as a file of features.
std::string features(const std::string& path);
/// A completion model over features of 6 numbers and the attribute "tail".
std::string completion_model(const std::string& path);

}  // namespace protocom::testing
