#pragma once
#include <optional>
#include <vector>

#include "datasets/image_list.h"
#include "io/csv.h"

/// Tables with a column of zeros and ones for each class, such as ISIC's ground truth and Roboflow's _classes.csv.
namespace protocom::class_columns {

/// Returns the images of which exactly one column is 1; others are left out and logged. Nothing for another table:
/// besides the column of images it must have two columns or more, all of zeros and ones, and a row with exactly one 1.
std::optional<std::vector<ListedImage>> list_of_columns(const CsvTable& table);

}  // namespace protocom::class_columns
