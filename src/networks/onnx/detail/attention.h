#pragma once
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// Returns the multiply-adds of the two products of an Attention. Throws Error if its inputs do not match one another.
double attention_work(const Binding& binding);

/// Computes softmax(scale Q K' + mask) V over heads, for operator sets 23 and 24, without the parts for texts (a cache,
/// causality).
Operation make_attention(const Binding& binding);

}  // namespace protocom::onnx
