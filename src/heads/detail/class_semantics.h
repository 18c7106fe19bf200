#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "fewshot/method.h"
#include "heads/episode_batch.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

/// Returns rows [..., w] at unit length times the root of w, so that values are of size 1.
at::Tensor rows_of_size_one(const at::Tensor& rows);

/// Returns what a method reads of the knowledge of each class, as one vector:
///   words       its embedding
///   attributes  its row of attributes
///   both        the one after the other
/// each at unit length times the root of its width, so that values are of size 1. A class without a description has
/// a row of zeros.
/// [c, s], of classes numbered by `class_names`, over the attributes that the method was fitted with. Throws Error if
/// the knowledge names none of the classes.
at::Tensor class_semantics(const std::string& kind, const KnowledgeTable& knowledge,
                           const std::vector<std::string>& class_names, const std::vector<std::string>& attributes);

/// Returns the rows [..., s] of `rows` [c, s], or the numbers [...] of [c], of classes int64 [...].
at::Tensor rows_at(const at::Tensor& rows, const at::Tensor& classes);

/// Returns [..., 1]: whether anything is known of a class, by its row [..., s].
at::Tensor is_known(const at::Tensor& semantics);

/// Returns the knowledge that a method is fitted with. Throws UsageError if there is none.
const KnowledgeTable& knowledge_of(const FitInputs& inputs, const std::string& method);

/// Returns the classes of a batch, int64 [b, n]. Throws Error for a batch without them.
const at::Tensor& classes_of(const EpisodeBatch& batch);

}  // namespace protocom
