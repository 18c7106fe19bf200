#pragma once
#include <utility>
#include <vector>

#include "protocom/core/process_group.h"
#include "protocom/eval/evaluate.h"

namespace protocom {

/// What of a list falls to a process: episodes [first, second), and the queries of those, counted over the list.
struct ListShare {
  std::pair<int64_t, int64_t> episodes;
  std::pair<int64_t, int64_t> queries;
};

/// Brings together what each process of a group found. Before, every process has vectors for the whole list of which
/// its share is filled; after, all of them are.
void gather_scores(const ListShare& own, const ProcessGroup& group, std::vector<MethodScores>& methods);

}  // namespace protocom
