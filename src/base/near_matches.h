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
/// contain it, or are the same number with other zeros in front (001 and 1). Texts and candidates of more than 200
/// bytes have none; of very many candidates only the first are compared.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

/// "'a'; did you mean 'b'?, 'c', ...": at most so many of the names, with what each was probably meant to be.
std::string names_with_hints(const std::vector<std::string>& names, const std::vector<std::string>& candidates,
                             size_t most);

}  // namespace protocom
