#pragma once
#include <filesystem>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/feature_set.h"
#include "knowledge/class_texts.h"
#include "protocom/photo_choices.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// A class for each subfolder of a folder, by its name, with the images below it; or those of a list (is_list_file).
/// Images beside the subfolders and files in folders that no walk enters are counted as left out, in the first request.
/// With ListChoices::classes_from a class for each keyword instead (list_by_keywords). Throws Error if there are
/// neither subfolders nor a list of images (image_list_in), and where the subfolders are splits (train, test, ...)
/// rather than classes.
std::vector<EnrolRequest> requests_of_folder(const std::filesystem::path& folder, const ListChoices& lists = {});

/// The same with boxes in place of the photos: a class for each kind of box where the file's kinds are classes, else
/// the folder's classes. Without a choice the boxes are those that lie beside the photos (boxes_beside). Of a folder of
/// splits with the same classes one counts (split_for), unless the boxes say the classes. Throws what
/// requests_of_folder, read_boxes and crop_photos throw.
std::vector<EnrolRequest> requests_of_boxed_folder(const std::filesystem::path& folder, const BoxChoice& choice,
                                                   const ListChoices& lists,
                                                   SplitPurpose purpose = SplitPurpose::kTraining);

/// Puts the boxes of the requests' photos in their place. Classes of whose photos none has a box are left out and
/// logged. Throws what read_boxes and crop_photos throw.
void replace_by_boxes(const BoxChoice& choice, std::vector<EnrolRequest>& requests);

/// A class for each name of a list of images (read_image_list), with its images, which are searched below the list's
/// folder. Classes are in the order of their first mention; an empty cell is a class without that image. Throws
/// Error with file and line.
std::vector<EnrolRequest> requests_of_csv(const std::filesystem::path& csv, const ListChoices& lists = {});

/// A class for each one of a features file (read_features) that has images there, in the file's order; with a name for
/// all of them one class of that name. Throws Error like read_features.
std::vector<EnrolRequest> requests_of_features(const FeatureSet& features, const std::string& class_name);

/// The image files of all requests in one list, and whose they are.
struct RequestFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<size_t> owner;  ///< [paths], number of the request
  SkippedFiles skipped;
  std::vector<UnreadableFile> unreadable;  ///< files that are not readable images
};

/// Walks the folders of requests. A request without an image does not stop the others.
RequestFiles find_files(const std::vector<EnrolRequest>& requests);

/// The classes' names, in that order.
std::vector<std::string> names_of_requests(const std::vector<EnrolRequest>& requests);

/// Gives each class the attributes that a table (read_attributes) has for it, with their weights; those that the
/// knowledge does not have are left out, as they are where knowledge is made from the same table. Throws Error when the
/// table names none of the classes, UsageError when a class of it has attributes already.
void add_attributes_of_table(const std::filesystem::path& table, std::vector<EnrolRequest>& requests);

/// Gives each class the vector that it has by its texts, `vectors` float32 [c, e]. Throws Error when the texts name
/// none of the classes; names of theirs that no request has are logged.
void set_text_vectors(const ClassTexts& texts, const Array& vectors, std::vector<EnrolRequest>& requests);

}  // namespace protocom
