#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// An enrolled image that is probably of another class.
struct MisplacedImage {
  int64_t example = 0;  ///< see ExampleInfo
  std::string source;   ///< where it came from
  std::string class_name;
  double probability = 0;  ///< of its class, by the other images, given that it is of one of the classes
  std::string likelier;    ///< the most probable class
  double likelier_probability = 0;
};

/// Two classes that are often confused.
struct ConfusedClasses {
  std::string first, second;
  int64_t asked = 0;     ///< held-out images of both, one of each moment
  int64_t mistaken = 0;  ///< of these, those for which the other class is more probable
  bool same = false;     ///< whether as many are mistaken as by guessing: probably one class under two names
};

/// An image that is in two classes.
struct SharedImage {
  int64_t example = 0;  ///< the lower id
  std::string class_name;
  int64_t twin = 0;
  std::string twin_class;
  std::string source;       ///< of `example`
  std::string twin_source;  ///< of `twin`
  bool copy = false;        ///< the same file; else almost the same picture
};

/// Leave-one-out answers of a class's images.
struct LeftOutClass {
  std::string name;
  int64_t asked = 0;       ///< held-out images, one of each moment
  int64_t right = 0;       ///< of those, classified right
  double probability = 0;  ///< of the right class, on average
};

/// A check of the labels of the enrolled images: each moment is classified by the others.
struct LabelCheck {
  int64_t asked = 0;      ///< held-out moments; 0 if no class has two or there is only one class
  double false_rate = 0;  ///< expected share of the correctly placed images that are in `misplaced`, if probabilities
                          ///< are calibrated
  std::vector<MisplacedImage> misplaced;  ///< least probable first, without confirmed ones (confirm_examples)
  std::vector<ConfusedClasses> confused;  ///< most mistaken first
  std::vector<SharedImage> shared;
  std::vector<LeftOutClass> classes;  ///< with held-out images, the least certain first: they need more images most
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
