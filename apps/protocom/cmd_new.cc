#include <algorithm>

#include "base/text.h"
#include "cli.h"
#include "dataset_options.h"
#include "enrol_report.h"
#include "io/unfinished.h"
#include "made_recognizer.h"
#include "recognizer/create_recognizer.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

/// Returns "my-photos.pcm" for "../my-photos/", in the current folder.
std::string recognizer_name_for(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // a trailing slash
  const std::string name = whole.filename().string();
  if (name.empty())
    fail_usage("{} has no name for the recognizer: use `protocom recognizer create FILE`", folder.string());
  return name + ".pcm";
}

/// Quotes a name as one word for a shell.
std::string quoted(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  return is_plain ? name : "'" + replaced(name, "'", R"('\'')") + "'";
}

/// Refuses a folder with a single class, which is probably not the intended one.
void refuse_one_class(const Enrolment& enrolled, const fs::path& folder) {
  if (enrolled.classes.size() > 1) return;
  fail("{} has photos of only one class, '{}': expected a subfolder for each of two or more classes", folder.string(),
       enrolled.classes.empty() ? "" : enrolled.classes.front().now.name);
}

void run_new(const CLI::App& command, const RecognizerParts& parts) {
  const std::string file = recognizer_name_for(parts.images);
  if (fs::exists(fs::symlink_status(file)))
    fail("{} is already there: remove it, or name the new one (protocom recognizer create NEW.pcm --images {})", file,
         quoted(parts.images.string()));
  check_writable(file);
  const std::optional<Enrolment> enrolled =
      create_recognizer(file, parts, provenance_of(command, /*seed=*/0), progress());
  UnfinishedPath made(file);
  refuse_one_class(enrolled.value_or(Enrolment()), parts.images);
  made.release();
  print_made(file, parts, *enrolled);
  fmt::print("\nCreated {0}.\nClassify photos:   protocom classify {1} PHOTOS\nOpen its page:     protocom serve {1}\n",
             file, quoted(file));
  check_all_read(*enrolled);
}

void add_new_command(CLI::App& app) {
  auto parts = std::make_shared<RecognizerParts>();
  CLI::App* command =
      add_command(app, "new", "Make FOLDER.pcm from a folder of photos; `protocom FOLDER` does the same",
                  "protocom new my-photos\n"
                  "protocom my-photos --backbone dinov2-small");
  add_input_option(*command, "folder", parts->images,
                   "Folder with a subfolder of photos for each class, or with photos and a CSV image,class")
      ->required();
  add_input_option(*command, "--backbone", parts->backbone, kBackboneHelp);
  add_list_choices(*command, parts->lists);
  add_box_options(*command, parts->boxes);
  command->add_option("--preprocess", parts->preprocessing, kPreprocessHelp);
  add_device(*command, parts->device);
  command->callback([command, parts] { run_new(*command, *parts); });
}

const Command kNew{Group::kOwnPhotos, 5, &add_new_command};

}  // namespace
}  // namespace protocom::cli
