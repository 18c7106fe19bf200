#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/core/progress.h"
#include "protocom/data/image_files.h"
#include "protocom/features/extract.h"
#include "protocom/nn/backbone.h"
#include "protocom/serve/class_store.h"
#include "protocom/serve/describe_class.h"
#include "protocom/serve/store_model.h"

namespace protocom {

/// What is to be enrolled.
struct EnrolRequest {
  ClassRequest description;         ///< the class's name, and what is said about it
  std::vector<std::string> images;  ///< files, or folders that are walked (find_images)
  StoreFiles files;
  std::optional<Preprocessing> preprocessing = {};  ///< of a new store, where neither backbone nor model says it
  ExtractOptions extract;
};

/// What an enrolment did.
struct Enrolment {
  ClassStore store;                        ///< as it was written
  int64_t given = 0;                       ///< images that could be read
  int64_t added = 0;                       ///< of them, that the class did not hold already
  SkippedFiles skipped;                    ///< files of folders that are no images
  std::vector<UnreadableFile> unreadable;  ///< what could not be read; the rest is enrolled
};

/// Adds a class, or images of it, to the store at `path`, which is made when it is not there. Other processes may enrol
/// into the same store at the same time: images are embedded first, then the store is read, changed and written under a
/// StoreLock. An image that cannot be read does not stop the others. Throws Error, and leaves the store as it was, when
/// no image can be read, the store was made from other files in the meantime, or a class that is already there is
/// described anew; UsageError when a new store lacks one of its files; and what describe_class, add_class and
/// add_images throw.
Enrolment enrol(const std::filesystem::path& path, const EnrolRequest& request, const Provenance& provenance,
                Progress& progress);

}  // namespace protocom
