#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "networks/huggingface/detail/network.h"

/// Reading a checkpoint's tensors by their names, and bringing them to those of another library.
namespace protocom::huggingface {

/// Queries, keys and values that lie behind one another become three tensors: NAME`joined` becomes NAME.q`end`, ...
void split_qkv(Tensors& tensors, const std::string& joined, const std::string& end);

/// Removes those whose names begin so.
void drop(Tensors& tensors, const std::string& begin);

/// Removes a classifier's head, and splits queries, keys and values.
void drop_head_and_split(Tensors& tensors);

/// Those whose names begin so, without that part of their names.
Tensors below(const Tensors& tensors, const std::string& begin);

bool has(const Tensors& tensors, const char* name);

/// Sizes of a tensor. Throws Error if it is missing or has another number of dimensions.
at::IntArrayRef tensor_sizes(const Tensors& tensors, const std::string& name, int64_t dims);

/// The config.json of a transformer by the sizes of its tensors; `patches` and `inner` (the first layer of its MLP) are
/// names of weights. Throws Error for widths that no known network has.
nlohmann::json transformer_config(const Tensors& tensors, const char* type, const char* patches, const char* inner);

}  // namespace protocom::huggingface
