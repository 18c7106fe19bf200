#pragma once
#include <string>
#include <vector>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// "bhij,bhjd->bhid", with "..." and what is left out written as letters, and how long the axis of each letter is.
struct Equation {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, int64_t> sizes;

  [[nodiscard]] std::string text() const;
};

/// The equation of an Einsum. Throws Error if it does not fit its inputs.
Equation equation_of(const Binding& binding);

/// Multiply-adds of its products, at most.
double einsum_work(const Binding& binding);

Operation make_einsum(const Binding& binding);

}  // namespace protocom::onnx
