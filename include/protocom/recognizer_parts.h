#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "protocom/export.h"
#include "protocom/photo_choices.h"

namespace protocom::v0 {

/// Which photos show one moment (frames of a burst, copies) and count as one.
struct MomentRule {
  MomentRule(const char* word) : by(word) {}
  MomentRule(std::string word) : by(std::move(word)) {}
  /// auto: photos taken within two seconds of each other (EXIF), similar ones, and those in one subfolder of a class
  /// named as a sequence (visit1); off: none, each photo counts; folder: photos in one subfolder of a class;
  /// "visits.csv:visit", or "visit" if the images have a table: photos with the same text in this column of the table.
  /// A bool does not compile.
  std::string by;
};

/// The files that a recognizer is made from. At most one of `fitted`, `model` and `space`.
struct RecognizerParts {
  /// The encoder, see Backbone, or the name of one that is installed (`protocom encoders`); empty: the default one. A
  /// `space.npz` in its folder becomes `space`.
  std::filesystem::path backbone = {};
  std::string preprocessing = {};  ///< see BackboneOptions; empty: as the encoder or the model states
  std::string output = {};  ///< name of the output, for an ONNX or TorchScript file that has several; empty: automatic
  std::filesystem::path fitted = {};     ///< a file of `protocom fit` or Fitted::save
  std::filesystem::path space = {};      ///< likewise, fitted on any other classes: only its space is used
  std::filesystem::path model = {};      ///< a file of `protocom complete` or `metatrain`
  std::filesystem::path knowledge = {};  ///< knowledge of the classes; needed with a model or a method fitted with it
  std::filesystem::path text_encoder = {};  ///< the folder of the text encoder that was trained with the backbone, used
                                            ///< instead of knowledge: classes are described in words
  /// A folder with a subfolder for each class to enrol, or with images and a CSV image,class; or this CSV; empty: no
  /// classes.
  std::filesystem::path images = {};
  ListChoices lists = {};                 ///< options for these images
  BoxChoice boxes = {};                   ///< boxes in these images; their kinds may be the classes
  std::filesystem::path attributes = {};  ///< attributes of these classes: CSV class,attribute; empty: none
  /// With a text encoder: names of further classes, besides those of `images`.
  std::vector<std::string> class_names = {};
  /// Unlabelled images of the classes, files or folders, which improve accuracy; at most 5,000 are used, sampled
  /// evenly. Not with `fitted` or `model`.
  std::vector<std::string> unlabelled = {};
  bool backbone_inside = true;  ///< store the encoder in the recognizer; else it is found beside the file by its hash
  bool half_features = false;   ///< keep features as float16: half the space, rounded
  MomentRule moments = "auto";  ///< which photos count as one
  int64_t thumbnail_side = 96;  ///< side length in pixels of the small JPEGs kept of enrolled images; 0: none
  std::string device = "auto";  ///< where features are computed
};

}  // namespace protocom::v0

namespace protocom {
using v0::RecognizerParts;
}  // namespace protocom
