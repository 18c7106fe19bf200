#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/core/preprocessing.h"

namespace protocom {

/// A file that a store depends on and what it held when the store was made.
struct FileReference {
  std::filesystem::path path;  ///< absolute
  std::string hash;            ///< hash_file of it

  /// The file as it is now.
  static FileReference to(const std::filesystem::path& path);
};

/// What a class brings to a store besides its images.
struct ClassDescription {
  std::string title;             ///< display name; may be empty
  at::Tensor association;        ///< its row of R over ClassStore::attributes, float32 [a], in [0, 1]
  at::Tensor embedding;          ///< h_k, float32 [e]
  std::string embedding_source;  ///< where that came from, see NewClass::embedding_source
};

/// An enrolled class: its description, the moments of its images' features and, in the store of a fitted method, each
/// feature. No image is kept.
struct StoredClass {
  std::string name;
  ClassDescription description;
  int64_t count = 0;                      ///< images
  at::Tensor sum;                         ///< of their features, float64 [d]
  at::Tensor sum_squares;                 ///< float64 [d]
  at::Tensor features;                    ///< float32 [count, d] where ClassStore::keeps_features, else undefined
  std::vector<std::string> image_hashes;  ///< hash_file of each image, so that none counts twice
};

/// The classes somebody has enrolled, in one file: all that classification needs besides the backbone and the
/// completion model or fitted method, which the store names and recognises by their hashes.
struct ClassStore {
  FileReference backbone;
  FileReference model;                  ///< the completion model; of an empty path where there is a fitted method
  FileReference fitted;                 ///< the fitted method; of an empty path where there is a completion model
  FileReference knowledge;              ///< only enrolment reads it; of an empty path: none
  Preprocessing preprocessing;          ///< of every image
  int64_t feature_dim = 0;              ///< d
  std::vector<std::string> attributes;  ///< [a], those that the model or the method knows
  std::vector<StoredClass> classes;     ///< in the order of their enrolment

  /// A fitted method may see each image in a space of its own, where the moments of features are not enough.
  [[nodiscard]] bool keeps_features() const { return !fitted.path.empty(); }
  /// nullptr when there is no such class.
  [[nodiscard]] const StoredClass* find(const std::string& name) const;
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

/// Holds other processes off a store while it lives, so that reading, changing and writing it is one step. It locks the
/// folder the store lies in and leaves no file behind. Throws Error when the folder cannot be made or locked.
class StoreLock {
 public:
  explicit StoreLock(const std::filesystem::path& store);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  int folder_ = -1;
};

/// Where a referenced file is: `replacement` if given, else the path in the reference, else a file of that name beside
/// the store. Throws Error when there is none or when what is there is another file than the store was made with (by
/// its hash); `what` names it in messages ("backbone").
std::filesystem::path locate(const FileReference& reference, const std::string& what,
                             const std::filesystem::path& store, const std::filesystem::path& replacement);

}  // namespace protocom
