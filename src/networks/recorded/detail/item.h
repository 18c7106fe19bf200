#pragma once
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

/// Networks of LibTorch as ONNX: the computation for a batch is recorded, operator by operator, and written.
namespace protocom::recorded {

/// Sizes of a tensor. An axis that grows with the images has minus its length for one image.
using Lengths = std::vector<int64_t>;

/// A value in two recordings of one network with different numbers of images.
struct Item {
  bool is_known = false;      ///< whether it is independent of the images
  c10::IValue known, other;   ///< in the two recordings; they differ if it depends on the number of images
  std::string name;           ///< unless known, the name in the written graph
  std::vector<Item> members;  ///< of a list of tensors that are not all known
  int64_t parts_axis = -1;    ///< axis along which a tensor was split into parts
};

/// Whether an IValue is the same for every number of images.
bool is_fixed(const Item& item);

}  // namespace protocom::recorded
