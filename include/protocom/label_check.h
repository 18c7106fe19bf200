#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// An enrolled image that is probably of another class.
struct MisplacedImage {
  int64_t example = 0;  ///< see ExampleInfo
  std::string source;   ///< its origin
  std::string class_name;
  double probability = 0;  ///< of its own class, predicted from the other images
  std::string likelier;    ///< the most probable class
  double likelier_probability = 0;
};

/// Two classes that are often confused.
struct ConfusedClasses {
  std::string first, second;
  int64_t asked = 0;     ///< held-out images of both classes, one per moment
  int64_t mistaken = 0;  ///< number of these for which the other class is more probable
  bool same = false;     ///< whether the error rate is that of guessing: probably one class under two names
};

/// An image that is in two classes.
struct SharedImage {
  int64_t example = 0;  ///< the lower id
  std::string class_name;
  int64_t twin = 0;
  std::string twin_class;
  std::string source;       ///< origin of `example`
  std::string twin_source;  ///< origin of `twin`
  bool copy = false;        ///< whether the files are equal; else the pictures are almost the same
};

/// Leave-one-out answers for the images of a class.
struct LeftOutClass {
  std::string name;
  int64_t asked = 0;       ///< number of held-out images, one per moment
  int64_t right = 0;       ///< number of these classified correctly
  double probability = 0;  ///< mean probability of the right class
};

/// A check of the labels of the enrolled images: each moment is classified by all others.
struct LabelCheck {
  int64_t asked = 0;      ///< number of held-out moments; 0 if no class has two or there is only one class
  double false_rate = 0;  ///< expected share of the correctly placed images that are in `misplaced`, if probabilities
                          ///< are calibrated
  std::vector<MisplacedImage> misplaced;  ///< least probable first, without confirmed ones (confirm_examples)
  std::vector<ConfusedClasses> confused;  ///< most mistaken first
  std::vector<SharedImage> shared;
  std::vector<LeftOutClass> classes;  ///< those with held-out images, least certain first
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::ConfusedClasses;
using v0::LabelCheck;
using v0::LeftOutClass;
using v0::MisplacedImage;
using v0::SharedImage;
}  // namespace protocom
