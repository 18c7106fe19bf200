#pragma once
#include <memory>

#include "http/server_support.h"
#include "support/clip_folder.h"

namespace protocom::testing {

/// The recognizer of a small CLIP with made-up weights, and its text encoder.
class ClipRecognizer {
 public:
  explicit ClipRecognizer(const fs::path& folder) : clip_(folder / "clip"), path_(folder / "words.pcm") {
    write_clip(clip_);
    RecognizerParts made;
    made.backbone = clip_;
    made.text_encoder = clip_;
    create_recognizer(path_, made, {});
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] ServerOptions options() const {
    ServerOptions made;
    made.text_encoder = clip_;
    return made;
  }

 private:
  fs::path clip_, path_;
};

}  // namespace protocom::testing
