#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/core/preprocessing.h"
#include "protocom/serve/enrolled_classes.h"

namespace protocom {

/// A file that a store depends on and what it held when the store was made.
struct FileReference {
  std::filesystem::path path;  ///< absolute
  std::string hash;            ///< hash_file of it

  /// The file as it is now.
  static FileReference to(const std::filesystem::path& path);
};

/// The classes somebody has enrolled, in one file: all that classification needs besides the backbone and the
/// completion model or fitted method, which the store names and recognises by their hashes.
struct ClassStore : EnrolledClasses {
  FileReference backbone;
  FileReference model;          ///< the completion model; of an empty path where there is a fitted method
  FileReference fitted;         ///< the fitted method; of an empty path where there is a completion model
  FileReference knowledge;      ///< only enrolment reads it; of an empty path: none
  Preprocessing preprocessing;  ///< of every image

  /// A fitted method may see each image in a space of its own, where the moments of features are not enough.
  [[nodiscard]] bool keeps_features() const { return !fitted.path.empty(); }
};

/// Images of one class, as features.
struct EnrolledImages {
  at::Tensor features;              ///< float32 [n, d]
  std::vector<std::string> hashes;  ///< [n], hash_file of each image
};

/// Adds a class without images. Throws Error when the store has it already or the description's vectors are not float32
/// on the CPU or do not fit the store.
void add_class(ClassStore& store, const std::string& name, ClassDescription description);

/// Adds the features of images to a class of the store; images it already holds are left out. Returns how many were
/// added. Throws Error for an unknown class, another number of rows than hashes, features of another dimension or ones
/// that are NaN or infinite.
int64_t add_images(ClassStore& store, const std::string& name, const EnrolledImages& images);

/// Writes one npz (docs/formats.md, "class-store"), atomically. Throws Error.
void write_class_store(const std::filesystem::path& path, const ClassStore& store, const Provenance& provenance);

/// Reads and checks a store. Throws Error.
ClassStore read_class_store(const std::filesystem::path& path);

/// Where a referenced file is: `replacement` if given, else the path in the reference, else a file of that name beside
/// the store. Throws Error when there is none or when what is there is another file than the store was made with (by
/// its hash); `what` names it in messages ("backbone").
std::filesystem::path locate(const FileReference& reference, const std::string& what,
                             const std::filesystem::path& store, const std::filesystem::path& replacement);

}  // namespace protocom
