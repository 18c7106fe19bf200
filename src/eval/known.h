#pragma once
#include "protocom/eval/evaluate.h"

namespace protocom {

/// The context of methods, with the base features where one of them needs any. The inputs must outlive it.
class Known {
 public:
  Known(const EvaluateInputs& inputs, const Methods& methods);
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  [[nodiscard]] const MethodContext& context() const { return context_; }

 private:
  LabelledFeatures base_;
  MethodContext context_;
};

}  // namespace protocom
