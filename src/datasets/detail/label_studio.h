#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "datasets/image_list.h"
#include "io/csv.h"
#include "protocom/photo_choices.h"

/// Exports of Label Studio (https://labelstud.io/guide/export): who answered which question about which image.
namespace protocom::label_studio {

/// Its JSON (tasks with annotations) and JSON-MIN (an object of image and answers for each annotation). Tasks that
/// were skipped and images whose annotators disagree are left out and logged. Throws Error if several questions are
/// answered and `choices` names none, and for a question or an annotator that is not there.
std::vector<ListedImage> list_of_tasks(const nlohmann::json& tasks, const std::filesystem::path& path,
                                       const ListChoices& choices);

/// Whether a table is its CSV, with a row for each annotation.
bool is_export(const CsvTable& table);
/// The same of that.
std::vector<ListedImage> list_of_rows(const CsvTable& table, const ListChoices& choices);

}  // namespace protocom::label_studio
