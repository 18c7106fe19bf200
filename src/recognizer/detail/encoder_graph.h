#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "encoders/onnx_graph_writer.h"
#include "images/preprocessing.h"

namespace protocom {

/// An encoder's graph with what brings images to it, and features out of it.
struct EncoderGraph {
  onnx::GraphWriter graph;
  std::string feature;                          ///< the name of the value float32 [n, d]
  onnx::ValueType type;                         ///< of the input `image`
  std::vector<int64_t> sizes;                   ///< of it; -1: any number of images
  std::map<std::string, std::string> metadata;  ///< what the encoder's file states about itself
};

/// What an exported file does with its images.
struct ExportedImages {
  Preprocessing preprocessing;  ///< of the encoder
  bool uint8 = false;           ///< [n, h, w, 3]; else float32 [n, 3, h, w] in [0, 1]
  int64_t dim = 0;              ///< d of its features
  onnx::Weights weights = onnx::Weights::kFloat32;
  std::shared_ptr<onnx::TensorStore> tensors = {};  ///< where they lie; none: in the file
};

/// The graph of the ONNX file `path`. Normalisation is inside, and so is the mean over places or the choice of a token
/// that makes a feature of what the encoder gives. Throws Error for what cannot be kept.
EncoderGraph encoder_graph(const std::filesystem::path& path, const ExportedImages& images);

}  // namespace protocom
