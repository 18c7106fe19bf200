#pragma once
#include <cstddef>
#include <vector>

namespace protocom {

/// Returns an order of the rows of a similarity matrix [n][n] in which similar rows are neighbours: repeatedly joins
/// the clusters that are most similar on average, at their most similar ends, until one is left. The similarity of i
/// and j is [i][j] + [j][i], negative entries counting as 0. O(n^3) time.
std::vector<size_t> order_by_likeness(const std::vector<std::vector<double>>& likeness);

}  // namespace protocom
