#pragma once
#include <cstddef>
#include <vector>

namespace protocom {

/// The order of the rows of a matrix of likenesses [n][n] in which similar rows are neighbours: the
/// clusters that are most alike on average are joined until one is left, each time with those ends together that are
/// most alike. Of i and j it counts [i][j] + [j][i], negative entries as 0. O(n^3) time.
std::vector<size_t> order_by_likeness(const std::vector<std::vector<double>>& likeness);

}  // namespace protocom
