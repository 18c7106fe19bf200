#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// The tensors of what a method learned, by name: one list of them writes a state and reads it. Sizes that are given
/// are those expected of what is read; -1: any. Reading throws Error for a tensor that is missing or does not fit.
class StateFields {
 public:
  static StateFields writing_to(MethodState& state) { return {&state, nullptr}; }
  static StateFields reading_from(const MethodState& state) { return {nullptr, &state}; }

  /// float32.
  void tensor(const std::string& name, at::Tensor& value, std::vector<int64_t> shape);
  /// A UnitSpace or a MapSpace.
  template <typename Space>
  void space(std::shared_ptr<const Space>& value) {
    if (written_ != nullptr)
      value->add_to(*written_);
    else
      value = std::make_shared<Space>(*read_);
  }

 private:
  StateFields(MethodState* written, const MethodState* read) : written_(written), read_(read) {}

  MethodState* written_;
  const MethodState* read_;
};

}  // namespace protocom
