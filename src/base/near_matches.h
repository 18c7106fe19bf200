#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Returns the number of single-character insertions, deletions, substitutions and swaps of neighbours that turn `a`
/// into `b` (optimal string alignment distance). Counts bytes.
int64_t edit_distance(std::string_view a, std::string_view b);

/// Returns "; did you mean 'a' or 'b'?", or "" if nothing is similar: the `candidates` that `text` was probably meant
/// to be, at most three, nearest first. They are within a third of its length by edit distance, ignoring case, or
/// contain it, or are the same number with other leading zeros (001 and 1).
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

/// Returns "'a'; did you mean 'b'?, 'c', ...": at most `most` of the names, each with what it was probably meant to be.
std::string names_with_hints(const std::vector<std::string>& names, const std::vector<std::string>& candidates,
                             size_t most);

}  // namespace protocom
