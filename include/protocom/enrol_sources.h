#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/class_request.h"
#include "protocom/export.h"
#include "protocom/photo_choices.h"

namespace protocom::v0 {

/// Sources to enrol from: one named class, or the classes of a folder, a list, or a file of features or descriptions.
struct EnrolSources {
  ClassRequest one_class = {};           ///< one class; without a name: the classes of one of the files below
  std::vector<std::string> images = {};  ///< images of that class: files, or folders, which are walked
  std::filesystem::path folder = {};     ///< a subfolder of images for each class, or images and a CSV image,class
  std::filesystem::path list = {};       ///< CSV class,image, JSON Lines, or the JSON of COCO or Label Studio
  std::filesystem::path features = {};   ///< a file of features by the recognizer's encoder: those of the classes that
                                         ///< it names or, if `one_class` has a name, all for that class
  ListChoices lists = {};                ///< options for `folder` and `list`
  BoxChoice boxes = {};                  ///< boxes in the images; with `folder` they may name the classes
  std::filesystem::path described = {};  ///< CSV class,description; for classes with images, or for further classes
  std::filesystem::path table = {};      ///< attributes of the classes: CSV class,attribute
  std::filesystem::path text_encoder = {};  ///< folder of the text encoder of the recognizer's knowledge; needed with
                                            ///< descriptions in words
  std::filesystem::path vectors = {};       ///< the word vectors that the knowledge was made with; empty: none
  std::filesystem::path wordnet = {};       ///< folder of the WordNet database; empty: the system's
};

}  // namespace protocom::v0

namespace protocom {
using v0::EnrolSources;
}  // namespace protocom
