#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/core/preprocessing.h"
#include "protocom/core/progress.h"
#include "protocom/features/extract.h"
#include "protocom/serve/recognizer_file.h"

namespace protocom {

/// Where a recognizer finds its backbone.
enum class KeepBackbone { kInside, kOutside };

/// What a recognizer is made from.
struct NewRecognizer {
  std::filesystem::path backbone;  ///< its file or folder; a `space.npz` in that folder becomes `space`
  std::filesystem::path model;     ///< of `protocom complete` or `metatrain`; or
  std::filesystem::path fitted;    ///< of `protocom fit`; or
  std::filesystem::path space;     ///< the same of other classes: only its space is taken
  /// Images of the classes to come, without labels, from which a space that follows photos learns too; of more than
  /// kMostUnlabelled so many, evenly.
  std::vector<std::filesystem::path> unlabelled = {};
  std::filesystem::path knowledge;  ///< may be empty with a method that was fitted without knowledge
  /// The folder of a text encoder (open_text_encoder) aligned with the backbone, in place of knowledge: what is known
  /// of classes are words, at first the names `class_names` (knowledge_of_names); may be empty.
  std::filesystem::path text_encoder = {};
  std::vector<std::string> class_names = {};
  std::optional<Preprocessing> preprocessing = {};  ///< where neither backbone nor model says it
  std::string output = {};                          ///< of an ONNX or TorchScript file that has several; empty: found
  KeepBackbone keep_backbone = KeepBackbone::kInside;
  FeatureType feature_type = RecognizerSettings().feature_type;
  int64_t thumbnail_side = RecognizerSettings().thumbnail_side;
  ExtractOptions extract = {};             ///< how features of unlabelled images are made
  Progress* progress = &Progress::none();  ///< the same
};

/// Makes a recognizer without classes. Without model, method and space, and without a space in the folder of the
/// backbone, the enrolled images alone tell the classes apart ('plda' before fitting). A model or method that says that
/// it was made with another knowledge file, but takes descriptions of the sizes that this one gives, is logged as a
/// warning. Throws UsageError when a file is missing that it needs, Error when files do not fit one another, and what
/// RecognizerFile::create throws.
void create_recognizer(const std::filesystem::path& path, const NewRecognizer& parts, const Provenance& provenance);

}  // namespace protocom
