#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The number of single-character insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment distance). Counts bytes.
int64_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'a' or 'b'?", or "" when nothing is near: those of `candidates` that `text` was probably meant to
/// be, at most three, the nearest first. They are within a third of its length by edit distance, ignoring case, or
/// contain it, or are the same number with other zeros in front (001 and 1).
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace protocom
