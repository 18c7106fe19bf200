#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "datasets/image_list.h"
#include "io/csv.h"
#include "protocom/photo_choices.h"

/// Exports of Label Studio (https://labelstud.io/guide/export): annotators' answers to questions about images.
namespace protocom::label_studio {

/// Reads its JSON (tasks with annotations) or JSON-MIN (an object of image and answers for each annotation). Skipped
/// tasks and images whose annotators disagree are left out and logged. Throws Error if several questions are answered
/// and `choices` names none, and for an unknown question or annotator.
std::vector<ListedImage> list_of_tasks(const nlohmann::json& tasks, const std::filesystem::path& path,
                                       const ListChoices& choices);

/// Whether a table is its CSV, with one row per annotation.
bool is_export(const CsvTable& table);
/// Reads such a CSV likewise.
std::vector<ListedImage> list_of_rows(const CsvTable& table, const ListChoices& choices);

}  // namespace protocom::label_studio
