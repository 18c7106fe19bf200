#pragma once
#include <memory>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// Which attributes classes have, and embeddings of both. Copies share what they hold; it never changes.
class PROTOCOM_API Knowledge {
 public:
  /// Of a table: association [c, a] in [0, 1], how much class i has attribute j. The embeddings follow from it. Throws
  /// Error for sizes that differ, names that are empty or repeat, and values outside [0, 1].
  Knowledge(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
            const Rows& association);
  /// A file of `protocom knowledge`. Throws Error.
  static Knowledge read(const std::string& path);
  /// Throws Error.
  void save(const std::string& path) const;

  [[nodiscard]] const std::vector<std::string>& classes() const;
  [[nodiscard]] const std::vector<std::string>& attributes() const;
  /// [c, a]
  [[nodiscard]] Matrix association() const;
  /// Classes without attributes, attributes that no class has.
  [[nodiscard]] const Warnings& warnings() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit Knowledge(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// The trained network that completes prototypes by knowledge of their classes (`protocom complete`).
class PROTOCOM_API CompletionModel {
 public:
  /// Throws Error.
  static CompletionModel read(const std::string& path);

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit CompletionModel(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace protocom::v0
