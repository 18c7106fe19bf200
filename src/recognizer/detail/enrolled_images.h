#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/task_images.h"
#include "knowledge/knowledge_table.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// Returns `all` with other classes.
EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes);

/// Returns the images of classes `begin` to `end`, labelled by the classes' indices among all. Throws Error naming a
/// class whose features have another shape.
TaskImages supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end);

/// Returns the knowledge of the classes; the attributes' own embeddings are not enrolled and are 0. Throws Error naming
/// a class whose vectors differ in length from the first's.
KnowledgeTable table_of(const EnrolledClasses& enrolled);

}  // namespace protocom
