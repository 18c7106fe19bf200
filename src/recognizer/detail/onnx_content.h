#pragma once
#include <memory>

#include "encoders/onnx_tensor_store.h"
#include "recognizer/export_onnx.h"

namespace protocom {

/// Keys of an exported file's metadata: the recognizer that it was made of, JSON, and the file beside it that has its
/// weights. `classes`: a list of names.
inline constexpr const char* kRecognizerKey = "recognizer";
inline constexpr const char* kClassesKey = "classes";
inline constexpr const char* kDataKey = "external_data";

/// Throws UsageError for options that exclude one another.
void check_onnx_options(const OnnxExportOptions& options);

/// The content of an exported file whose tensors go there. Throws as export_onnx().
OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options,
                         const std::shared_ptr<onnx::TensorStore>& tensors);

}  // namespace protocom
