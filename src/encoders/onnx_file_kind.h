#pragma once
#include <filesystem>

namespace protocom {

/// Whether a file is taken for an ONNX file, by its content. False for what cannot be read; opening it reports why.
bool is_onnx_file(const std::filesystem::path& file);

}  // namespace protocom
