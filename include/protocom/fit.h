#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/features.h"
#include "protocom/knowledge.h"
#include "protocom/progress.h"

namespace protocom::v0 {

/// Options for fitting a method.
struct FitOptions {
  std::optional<Knowledge> knowledge = {};  ///< for methods that use it
  uint64_t seed = 1;
  bool sees_val = true;  ///< whether it may choose settings on the val classes, as most methods do
};

/// A method fitted on base classes. Immutable; copies share their memory.
class PROTOCOM_API Fitted {
 public:
  /// Reads a file of `protocom fit` or save(). Throws Error.
  static Fitted read(const std::string& path);
  /// Throws Error.
  void save(const std::string& path) const;
  /// Returns its space alone, usable for any classes. Throws Error for a method without a space.
  [[nodiscard]] Fitted space() const;

  /// The method's name with parameters, "plda:prior=none".
  [[nodiscard]] std::string method() const;
  /// Dimension d of the features that it was fitted on.
  [[nodiscard]] int64_t dim() const;
  /// The names of the base classes.
  [[nodiscard]] const std::vector<std::string>& trained_on() const;
  /// What the fit found, in sentences.
  [[nodiscard]] const std::vector<std::string>& findings() const;
  [[nodiscard]] const Warnings& warnings() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }
  explicit Fitted(std::shared_ptr<const Impl> impl);  ///< for the library itself

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Fits a method on the base classes of `features`; takes up to a minute on small sets. Deterministic. `method`: a name
/// with parameters (see methods()), "plda", "am3:shots=5". Throws UsageError for a method that needs no fitting or
/// lacks knowledge, Error without base classes.
PROTOCOM_API Fitted fit(const std::string& method, const FeatureSet& features, const FitOptions& options = {},
                        const Progress& progress = {});

}  // namespace protocom::v0
