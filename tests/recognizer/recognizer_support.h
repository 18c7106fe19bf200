#pragma once
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "images/image.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/enrol_requests.h"
#include "recognizer/recognizer.h"
#include "recognizer/store_support.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {

namespace fs = std::filesystem;

/// A recognizer with an untrained backbone, a completion model that completes to zeros and knowledge of the class
/// "cat"; and grey photos.
class SmallRecognizer : public ::testing::Test {
 protected:
  static constexpr int64_t kSide = 16;

  void SetUp() override {
    at::manual_seed(3);
    NetworkOptions options;
    options.architecture = "conv4";
    options.image_size = kSide;
    const auto backbone = make_backbone(options);
    write_backbone(folder_ / "backbone.npz", *backbone, options, {});
    write_completion_model(folder_ / "model.npz",
                           constant_model(std::vector<float>(static_cast<size_t>(backbone->dim()))), {}, {});
    Knowledge known;
    known.classes = {"cat"};
    known.attributes = {"tail"};
    known.association = array_of(at::ones({1, 1}));
    known.class_embedding = array_of(at::tensor({1.0F, 2.0F}).view({1, 2}));
    known.attribute_embedding = array_of(at::tensor({5.0F, 6.0F}).view({1, 2}));
    write_knowledge(folder_ / "knowledge.npz", known, {}, nlohmann::json::object());
    create_recognizer(path_, parts(), {});
  }

  RecognizerParts parts() const {
    RecognizerParts made;
    made.backbone = folder_ / "backbone.npz";
    made.model = folder_ / "model.npz";
    made.knowledge = folder_ / "knowledge.npz";
    return made;
  }

  std::string photo(const std::string& name, uint8_t grey) const {
    write_file(folder_ / name, encode_png({kSide, kSide, std::vector<uint8_t>(kSide * kSide * 3, grey)}));
    return (folder_ / name).string();
  }

  static EnrolRequest request(const std::string& name, std::vector<std::string> images) {
    EnrolRequest made;
    made.name = name;
    made.images = std::move(images);
    return made;
  }

  TempDir folder_;
  fs::path path_ = folder_ / "pets.pcm";
};

}  // namespace protocom::testing
