#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// The learned tensors of a method, by name: one list of them both writes and reads a state. Given sizes are those
/// expected when reading; -1: any. Reading throws Error for a tensor that is missing or does not fit.
class StateFields {
 public:
  static StateFields writing_to(MethodState& state) { return {&state, nullptr}; }
  static StateFields reading_from(const MethodState& state) { return {nullptr, &state}; }

  /// Lists a float32 tensor.
  void tensor(const std::string& name, at::Tensor& value, std::vector<int64_t> shape);
  /// Lists a UnitSpace or a MapSpace.
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
