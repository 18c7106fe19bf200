#pragma once
#include <string>
#include <vector>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// A parsed equation "bhij,bhjd->bhid", with "..." and omitted parts written as letters, and the length of each
/// letter's axis.
struct Equation {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, int64_t> sizes;

  [[nodiscard]] std::string text() const;
};

/// Returns the equation of an Einsum. Throws Error if it does not match its inputs.
Equation equation_of(const Binding& binding);

/// Returns an upper bound of the multiply-adds of its products.
double einsum_work(const Binding& binding);

Operation make_einsum(const Binding& binding);

}  // namespace protocom::onnx
