#pragma once
#include <filesystem>

namespace protocom {

/// Whether a file is taken for an ONNX file, by its content. False for what cannot be read; who opens it says why.
bool is_onnx_file(const std::filesystem::path& file);

}  // namespace protocom
