#pragma once
#include <memory>

#include "encoders/onnx_tensor_store.h"
#include "recognizer/export_onnx.h"

namespace protocom {

/// Metadata keys of an exported file: the recognizer it was made from (JSON), and the file beside it with its weights.
/// `classes`: a list of names.
inline constexpr const char* kRecognizerKey = "recognizer";
inline constexpr const char* kClassesKey = "classes";
inline constexpr const char* kDataKey = "external_data";

/// Throws UsageError for options that exclude one another.
void check_onnx_options(const OnnxExportOptions& options);

/// Returns the content of an exported file that stores its weights in `tensors`. Throws as export_onnx().
OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options,
                         const std::shared_ptr<onnx::TensorStore>& tensors);

}  // namespace protocom
