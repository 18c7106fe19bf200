#pragma once
#include <cstdint>
#include <string>
#include <vector>

// Files that tests of the public interface need, made by the modules below it: a file that includes the public headers
// includes none of theirs.
namespace protocom::testing {

inline constexpr int64_t kSide = 16;  // pixels of a side

/// Returns pixels uint8 [kSide, kSide, 3] of one colour with a little noise that depends on `seed`.
std::vector<uint8_t> pixels(uint8_t red, uint8_t blue, int seed);
/// Returns a PNG of these pixels.
std::string png(uint8_t red, uint8_t blue, int seed);
/// Writes that PNG to a file; returns its path.
std::string photo(const std::string& path, uint8_t red, uint8_t blue, int seed);
/// Writes an untrained encoder for images of that side, which is enough to tell colours apart.
std::string encoder(const std::string& path);
/// Writes knowledge of the classes "cardinal" and "bluebird": "red" and "blue".
std::string knowledge(const std::string& path);
/// Writes CLIP's two towers as a Hugging Face folder, with made-up weights; images of 32 pixels, vectors of 24 numbers.
std::string clip(const std::string& path);
/// Writes a feature file of three classes "0" to "2" of base, and three of novel, 12 images each, [72, 6].
std::string features(const std::string& path);
/// Writes a completion model over features of 6 numbers and the attribute "tail".
std::string completion_model(const std::string& path);

}  // namespace protocom::testing
