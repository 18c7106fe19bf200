#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/task_images.h"
#include "knowledge/knowledge_table.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// As `all`, with other classes.
EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes);

/// The images of classes `begin` to `end`, which have the numbers that they have among all. Throws Error naming a class
/// whose features are of another shape.
TaskImages supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end);

/// What is known of the classes; the attributes' own embeddings are not enrolled and 0. Throws Error naming a class
/// whose vectors are of another length than the first's.
KnowledgeTable table_of(const EnrolledClasses& enrolled);

}  // namespace protocom
