#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "networks/huggingface/detail/network.h"

/// Reading a checkpoint's tensors by name, and converting them to those of another library.
namespace protocom::huggingface {

/// Splits concatenated queries, keys and values into three tensors: NAME`joined` becomes NAME.q`end`, ...
void split_qkv(Tensors& tensors, const std::string& joined, const std::string& end);

/// Removes tensors whose names begin with `begin`.
void drop(Tensors& tensors, const std::string& begin);

/// Removes a classifier's head, and splits queries, keys and values.
void drop_head_and_split(Tensors& tensors);

/// Returns the tensors whose names begin with `begin`, without that prefix.
Tensors below(const Tensors& tensors, const std::string& begin);

bool has(const Tensors& tensors, const char* name);

/// Returns the sizes of a tensor. Throws Error if it is missing or has another number of dimensions.
at::IntArrayRef tensor_sizes(const Tensors& tensors, const std::string& name, int64_t dims);

/// Returns the config.json of a transformer, derived from the sizes of its tensors; `patches` and `inner` (the first
/// layer of its MLP) are names of weights. Throws Error for widths that no known network has.
nlohmann::json transformer_config(const Tensors& tensors, const char* type, const char* patches, const char* inner);

}  // namespace protocom::huggingface
