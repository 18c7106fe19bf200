#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/episode_batch.h"
#include "knowledge/knowledge_table.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// As `all`, with other classes.
EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes);

/// Classes `begin` to `end` as one episode without queries, their numbers as its classes: each image's feature, padded
/// to the class of the most and masked. Throws Error naming a class whose tensors are of other shapes.
EpisodeBatch supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end);

/// What is known of the classes; the attributes' own embeddings are not enrolled and 0. Throws Error naming a class
/// whose vectors are of another length than the first's.
KnowledgeTable table_of(const EnrolledClasses& enrolled);

}  // namespace protocom
