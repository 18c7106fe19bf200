#pragma once
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace protocom::testing {

/// Returns one part of a file of tests/golden, by default equations.json (see the script of that name beside it).
inline nlohmann::json golden(const std::string& part, const std::string& name = "equations.json") {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).replace_filename(name));
  return nlohmann::json::parse(file).at(part);
}

/// Returns a list of numbers, or of lists of numbers, as float64 [n] or [n, m].
inline at::Tensor tensor_of(const nlohmann::json& json) {
  if (!json.front().is_array()) return at::tensor(json.get<std::vector<double>>(), at::kDouble);
  std::vector<at::Tensor> rows;
  for (const auto& row : json) rows.push_back(tensor_of(row));
  return at::stack(rows);
}

/// Returns a float64 matrix, [rows.size(), n].
inline at::Tensor matrix(const std::vector<std::vector<double>>& rows) { return tensor_of(nlohmann::json(rows)); }

/// Error bound for float64 results that were computed twice.
constexpr double kDoubleBound = 1e-12;

/// Returns the largest absolute difference, relative to the largest expected value if that is above 1.
inline double error_of(const at::Tensor& found, const at::Tensor& expected) {
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  return (found.to(at::kDouble) - expected).abs().max().item<double>() / scale;
}

}  // namespace protocom::testing
