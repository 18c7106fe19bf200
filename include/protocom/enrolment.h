#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "protocom/class_info.h"
#include "protocom/error.h"
#include "protocom/skipped_files.h"

namespace protocom::v0 {

/// The result of enrolling a class.
struct EnrolledClass {
  bool is_new = false;
  int64_t added = 0;  ///< number of new images
  int64_t held = 0;   ///< number of images that the class already had
  ClassInfo now;      ///< the class as it is afterwards
  /// Its previous attributes, if its description was replaced.
  std::optional<std::vector<AttributeWeight>> replaced = {};
};

/// The result of an enrolment.
struct Enrolment {
  std::vector<EnrolledClass> classes;      ///< in the order given, without those that could not be enrolled
  int64_t given = 0;                       ///< number of readable images, and of features
  SkippedFiles skipped;                    ///< files of folders that are not images
  std::vector<UnreadableFile> unreadable;  ///< what could not be read; everything else is enrolled
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::EnrolledClass;
using v0::Enrolment;
}  // namespace protocom
