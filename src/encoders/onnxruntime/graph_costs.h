#pragma once
#include <string_view>

namespace protocom::onnxruntime {

/// Throws Error for an ONNX file with more than 100,000 operators and tensors, or whose operators share constants so
/// often that a copy for each, which ONNX Runtime makes when it fuses or packs them, would have more than 2^28 values.
void check_graph_costs(std::string_view model);

}  // namespace protocom::onnxruntime
