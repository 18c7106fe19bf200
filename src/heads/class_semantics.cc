#include "heads/detail/class_semantics.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {
at::Tensor rows_of_size_one(const at::Tensor& rows) {
  return unit_vectors(rows) * std::sqrt(static_cast<double>(rows.size(1)));
}

at::Tensor class_semantics(const std::string& kind, const KnowledgeTable& knowledge,
                           const std::vector<std::string>& class_names, const std::vector<std::string>& attributes) {
  const KnowledgeTable known = align_knowledge(knowledge, class_names, attributes);
  std::vector<at::Tensor> parts;
  if (kind != "attributes") parts.push_back(rows_of_size_one(tensor_of(known.class_embedding)));
  if (kind != "words") parts.push_back(rows_of_size_one(tensor_of(known.association)));
  return at::cat(parts, 1);
}

at::Tensor rows_at(const at::Tensor& rows, const at::Tensor& classes) {
  std::vector<int64_t> sizes = classes.sizes().vec();
  sizes.insert(sizes.end(), rows.sizes().begin() + 1, rows.sizes().end());
  return rows.index_select(0, classes.flatten()).view(sizes);
}

at::Tensor is_known(const at::Tensor& semantics) { return semantics.ne(0).any(-1, true); }

const KnowledgeTable& knowledge_of(const FitInputs& inputs, const std::string& method) {
  if (inputs.knowledge == nullptr || inputs.class_names == nullptr)
    fail_usage("'{}' needs {}", method, to_string(Need::kKnowledge));
  return *inputs.knowledge;
}

const at::Tensor& classes_of(const EpisodeBatch& batch) {
  if (!batch.classes.defined()) fail("this method needs the class names of each episode");
  return batch.classes;
}

}  // namespace protocom
