#pragma once
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// Multiply-adds of the two products of an Attention. Throws Error if its inputs do not fit one another.
double attention_work(const Binding& binding);

/// softmax(scale Q K' + mask) V over heads, of operator sets 23 and 24, without what texts need (a cache, causality).
Operation make_attention(const Binding& binding);

}  // namespace protocom::onnx
