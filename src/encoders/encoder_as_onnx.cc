#include "encoders/encoder_as_onnx.h"

#include "encoders/torch_functions.h"

namespace protocom {

std::filesystem::path encoder_as_onnx(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                      const std::filesystem::path& folder) {
  return torch_as_onnx(path, asked, folder);
}

}  // namespace protocom
