#pragma once
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

/// Networks of LibTorch as ONNX: what one computes for a batch is recorded, operator by operator, and written out.
namespace protocom::recorded {

/// Sizes of a tensor. An axis that grows with the images has minus its length for one image.
using Lengths = std::vector<int64_t>;

/// A value of two recordings of one network with different numbers of images.
struct Item {
  bool is_known = false;      ///< no image changes it
  c10::IValue known, other;   ///< in the two recordings; they differ where the number of images counts
  std::string name;           ///< unless known, the name in the graph that is written
  std::vector<Item> members;  ///< of a list of tensors that are not all known
  int64_t parts_axis = -1;    ///< of a tensor that is cut into parts: along this axis
};

/// Whether an IValue is the same for every number of images.
bool is_fixed(const Item& item);

}  // namespace protocom::recorded
