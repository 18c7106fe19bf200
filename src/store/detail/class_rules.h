#pragma once
#include "store/detail/database.h"

namespace protocom {

/// A query that counts invalid rows, and a description of them.
struct FileRule {
  const char* query;
  const char* finding;
};

/// Classes, names, descriptions and examples that do not match.
inline constexpr FileRule kClassRules[] = {
    {"SELECT count(*) FROM classes c WHERE c.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM names n WHERE n.class = c.id AND n.removed_by IS NULL)",
     "classes without a name"},
    {"SELECT count(*) FROM classes c WHERE c.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM descriptions d WHERE d.class = c.id AND d.removed_by IS NULL)",
     "classes without a description"},
    {"SELECT count(*) FROM examples e WHERE e.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM classes c WHERE c.id = e.class AND c.removed_by IS NULL)",
     "examples of missing classes"},
    {"SELECT count(*) FROM names n WHERE n.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM classes c WHERE c.id = n.class AND c.removed_by IS NULL)",
     "names of missing classes"},
    {"SELECT count(*) FROM descriptions d WHERE d.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM classes c WHERE c.id = d.class AND c.removed_by IS NULL)",
     "descriptions of missing classes"},
};

/// Throws DatabaseError (kDamaged) for the first of kClassRules that is violated: otherwise damaged rows would be left
/// out silently.
void check_classes_are_whole(const Database& database);

}  // namespace protocom
