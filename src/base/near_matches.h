#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The number of single-character insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment distance). Counts bytes.
int64_t edit_distance(std::string_view a, std::string_view b);

/// Those of `candidates` that `text` was probably meant to be: within a third of its length by edit distance, ignoring
/// case, or containing it, or the same number with other zeros in front (001 and 1); the nearest first, at most `limit`
/// of them. Made for messages.
std::vector<std::string> near_matches(std::string_view text, const std::vector<std::string>& candidates,
                                      size_t limit = 3);

/// "; did you mean 'a' or 'b'?", or "" when nothing is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace protocom
