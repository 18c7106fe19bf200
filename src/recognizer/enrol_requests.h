#pragma once
#include <filesystem>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/feature_set.h"
#include "knowledge/class_texts.h"
#include "protocom/photo_choices.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Makes a request for each subfolder of a folder, named after it, with the images below it; or for each class of a
/// list (is_list_file). Images beside the subfolders and files in folders that no walk enters are counted as left out,
/// in the first request. With ListChoices::classes_from, makes a request for each keyword instead (list_by_keywords).
/// Throws Error if there are neither subfolders nor a list of images (image_list_in), and if the subfolders are splits
/// (train, test, ...) rather than classes.
std::vector<EnrolRequest> requests_of_folder(const std::filesystem::path& folder, const ListChoices& lists = {});

/// Does the same with boxes instead of photos: a request for each kind of box if the file's kinds are classes, else for
/// each of the folder's classes. Without a choice, uses the boxes that lie beside the photos (boxes_beside). Throws
/// what requests_of_folder, read_boxes and crop_photos throw.
std::vector<EnrolRequest> requests_of_boxed_folder(const std::filesystem::path& folder, const BoxChoice& choice,
                                                   const ListChoices& lists,
                                                   SplitPurpose purpose = SplitPurpose::kTraining);

/// Replaces the requests' photos by their boxes. Classes whose photos have no box are left out and logged. Throws what
/// read_boxes and crop_photos throw.
void replace_by_boxes(const BoxChoice& choice, std::vector<EnrolRequest>& requests);

/// Makes a request for each class name in a list of images (read_image_list), with its images, which are searched below
/// the list's folder. Classes are in the order of their first mention; an empty cell is a class without that image.
/// Throws Error with file and line.
std::vector<EnrolRequest> requests_of_csv(const std::filesystem::path& csv, const ListChoices& lists = {});

/// Makes a request for each class of a features file (read_features) that has images there, in the file's order; with
/// `class_name`, one request of that name for all images. Throws Error like read_features.
std::vector<EnrolRequest> requests_of_features(const FeatureSet& features, const std::string& class_name);

/// The image files of all requests in one list, and which request each belongs to.
struct RequestFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<size_t> owner;  ///< [paths], number of the request
  SkippedFiles skipped;
  std::vector<UnreadableFile> unreadable;  ///< files that are not readable images

  /// Adds files that turned out unreadable; the reason of a box gets its row (EnrolRequest::rows) in front.
  void add_unreadable(const std::vector<UnreadableFile>& files, const std::vector<EnrolRequest>& requests);
};

/// Walks the folders of requests. A request without an image does not stop the others.
RequestFiles find_files(const std::vector<EnrolRequest>& requests);

/// Returns whether a folder of this name ("none", "blank", ...) contains photos of none of the classes.
bool is_none_of_the_classes(const std::string& name);

/// Returns the classes' names, in the order of the requests.
std::vector<std::string> names_of_requests(const std::vector<EnrolRequest>& requests);

/// Gives each class the attributes that a table (read_attributes) has for it, with their weights; attributes that the
/// knowledge lacks are left out, as they are when knowledge is made from the same table. Throws Error if the table
/// names none of the classes, UsageError if one of its classes has attributes already.
void add_attributes_of_table(const std::filesystem::path& table, std::vector<EnrolRequest>& requests);

/// Gives each class the vector of its texts, `vectors` float32 [c, e]. Throws Error if the texts name none of the
/// classes; names that no request has are logged.
void set_text_vectors(const ClassTexts& texts, const Array& vectors, std::vector<EnrolRequest>& requests);

}  // namespace protocom
