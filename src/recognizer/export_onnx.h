#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encoders/onnx_tensor_store.h"
#include "protocom/onnx_export.h"

namespace protocom {

class Recognizer;

/// Writes the recognizer's current state as an ONNX file of standard operators, with its encoder, and beside it
/// NAME.labels.txt. Its outputs:
///     probabilities [n, c]  of the classes; with none_of_these they sum to 1
///     none_of_these [n]     the probability that the image is of none of them; only if calibrated
///     familiarity [n]       Answer::familiarity
///     label [n]             the index of the most probable class, int64
/// For more than 2 GB, and on request, its weights are in NAME.onnx.HASH.data. All files are written, or none; if the
/// process is killed, no ONNX file lies beside weights or labels of another. Its metadata contain the classes, the
/// images that it takes, the calibration and the recognizer it was made from (docs/elsewhere.md). Throws Error if there
/// is no class, the encoder is a program (TorchScript) or cannot be written, a page would contain an ONNX file of more
/// than 2 GB, or a file that is not from an earlier export of this recognizer exists at `path` or where the other files
/// would go; UsageError for a method whose answer is not a formula of one image's feature (Recognizer::formula), and
/// for options that exclude one another. Nothing is written then. `most_bytes`: the size limit of one file.
OnnxExport export_onnx(Recognizer& recognizer, const std::filesystem::path& path, const OnnxExportOptions& options = {},
                       int64_t most_bytes = onnx::kMostBytes);

/// The content of an export.
struct OnnxContent {
  std::string bytes;                 ///< of the ONNX file
  std::vector<std::string> classes;  ///< in order of their indices
  std::string input, outputs;        ///< as OnnxExport describes them
  int64_t at_once = -1;              ///< number of images that the encoder's graph takes; -1: any
};

/// Returns the same content in memory, for sending. Throws as export_onnx(), and Error for more than 2 GB.
OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options = {});

/// Returns the content of NAME.labels.txt: a line for each class, in order of their indices. Throws Error if there is
/// no class.
std::string onnx_labels(Recognizer& recognizer);

/// Writes only the ONNX file, for use on this machine, with its weights beside it if necessary; replaces whatever
/// exists there. Returns the bytes of both. Throws as export_onnx().
int64_t write_onnx(Recognizer& recognizer, const std::filesystem::path& path, const OnnxExportOptions& options);

}  // namespace protocom
