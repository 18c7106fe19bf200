#pragma once
#include "eval/evaluate.h"

namespace protocom {

/// Returns the methods that can classify with this many labelled images per class.
Methods able_with(const Methods& methods, int64_t shots);

/// The context of methods, with base features and feature maps if a method needs them. The inputs must outlive it.
class PreparedContext {
 public:
  /// Throws Error if maps are needed and are for other images than the features.
  PreparedContext(const EvaluateInputs& inputs, const Methods& methods);
  PreparedContext(const PreparedContext&) = delete;
  PreparedContext& operator=(const PreparedContext&) = delete;

  [[nodiscard]] const MethodContext& context() const { return context_; }

 private:
  LabelledFeatures base_;
  MethodContext context_;
};

}  // namespace protocom
