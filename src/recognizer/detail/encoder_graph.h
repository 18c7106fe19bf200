#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "encoders/onnx_graph_writer.h"
#include "images/preprocessing.h"

namespace protocom {

/// An encoder's graph, with the operators that prepare images for it and make features of its output.
struct EncoderGraph {
  onnx::GraphWriter graph;
  std::string feature;                          ///< name of the value float32 [n, d]
  onnx::ValueType type;                         ///< of the input `image`
  std::vector<int64_t> sizes;                   ///< its sizes; -1: any number of images
  std::map<std::string, std::string> metadata;  ///< the encoder's metadata, from its file
};

/// How an exported file takes its images.
struct ExportedImages {
  Preprocessing preprocessing;  ///< of the encoder
  bool uint8 = false;           ///< [n, h, w, 3]; else float32 [n, 3, h, w] in [0, 1]
  int64_t dim = 0;              ///< d of the encoder's features
  onnx::Weights weights = onnx::Weights::kFloat32;
  std::shared_ptr<onnx::TensorStore> tensors = {};  ///< where weights are stored; none: in the file
};

/// Reads the graph of the ONNX file `path`. Adds the normalisation, and the mean over positions or the selection of a
/// token that turns the encoder's output into a feature. Throws Error for a graph that cannot be kept.
EncoderGraph encoder_graph(const std::filesystem::path& path, const ExportedImages& images);

}  // namespace protocom
