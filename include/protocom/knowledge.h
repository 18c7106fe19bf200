#pragma once
#include <memory>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// The attributes of classes, and embeddings of both classes and attributes. Immutable; copies share their memory.
class PROTOCOM_API Knowledge {
 public:
  /// Builds knowledge from a table: association [c, a] in [0, 1], the weight of attribute j for class i. The embeddings
  /// are computed from it. Throws Error for sizes that differ, empty or duplicate names, and values outside [0, 1].
  Knowledge(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
            const Rows& association);
  /// Reads a file of `protocom knowledge`. Throws Error.
  static Knowledge read(const std::string& path);
  /// Throws Error.
  void save(const std::string& path) const;

  [[nodiscard]] const std::vector<std::string>& classes() const;
  [[nodiscard]] const std::vector<std::string>& attributes() const;
  /// The weights of the attributes, [c, a].
  [[nodiscard]] Matrix association() const;
  /// Warnings about classes without attributes and attributes that no class has.
  [[nodiscard]] const Warnings& warnings() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit Knowledge(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// A trained network that predicts prototypes from knowledge and few images (`protocom complete`).
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
