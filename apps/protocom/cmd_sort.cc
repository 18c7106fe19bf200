#include <algorithm>
#include <map>
#include <set>

#include "answer_printer.h"
#include "cli.h"
#include "file_options.h"
#include "image_arguments.h"
#include "protocom/core/error.h"
#include "protocom/serve/recognizer.h"
#include "standard_streams.h"
#include "terminal_table.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct SortArguments {
  std::string recognizer, out;
  std::vector<std::string> images;
  RecognizerOptions recognizing;
  bool link = false;
};

constexpr size_t kLongestFolder = 200;

/// The name as that of a folder that lies in the one of the answers, whatever it is.
std::string as_folder(const std::string& name) {
  std::string folder = excerpt(name, kLongestFolder);
  const auto is_no_letter = [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; };
  std::replace_if(folder.begin(), folder.end(), is_no_letter, '_');
  return folder.empty() || folder.front() == '.' ? "_" + folder : folder;
}

/// A folder for each class, of its own where two names would be one: "a_b", "a_b-2", in the order of enrolment.
class ClassFolders {
 public:
  explicit ClassFolders(const RecognizerFile& file) {
    for (const ClassEntry& entry : file.list_classes()) add(entry.name);
  }

  /// Of the class that the image was taken for, or of those that are of none.
  const std::string& of(const Answer& answer) {
    static const std::string kNobody = kNoneOfThese;
    if (answer.none_of_these.value_or(false)) return kNobody;
    return add(answer.ranking.front().name);  // enrolled meanwhile, or there
  }

 private:
  const std::string& add(const std::string& name) {
    const auto [found, is_new] = folders_.emplace(name, as_folder(name));
    for (int64_t n = 2; is_new && !taken_.insert(found->second).second; ++n)
      found->second = fmt::format("{}-{}", as_folder(name), n);
    return found->second;
  }

  std::map<std::string, std::string> folders_;
  std::set<std::string> taken_ = {kNoneOfThese};
};

/// A name that is not taken: "1.jpg", "1-2.jpg", ...
fs::path free_place(const fs::path& folder, const fs::path& image) {
  fs::path place = folder / image.filename();
  for (int64_t n = 2; fs::exists(fs::symlink_status(place)); ++n)
    place = folder / fmt::format("{}-{}{}", image.stem().string(), n, image.extension().string());
  return place;
}

void put(const SortArguments& options, const fs::path& image, const std::string& folder) {
  const fs::path into = fs::path(options.out) / folder;
  std::error_code error;
  fs::create_directories(into, error);
  const fs::path place = free_place(into, image);
  if (options.link)
    fs::create_symlink(fs::absolute(image), place, error);
  else
    fs::copy_file(image, place, error);
  if (error) fail("cannot put {} at {}: {}", image.string(), place.string(), error.message());
}

/// What came into a folder.
struct Sorted {
  int64_t images = 0;
  double least = 2.0;  ///< probability of the image that is the least certain
  fs::path image;

  void take(const fs::path& taken, const Answer& answer) {
    ++images;
    const double sure =
        answer.none_of_these.value_or(false) && answer.none ? *answer.none : answer.ranking.front().probability;
    if (sure >= least) return;
    least = sure;
    image = taken;
  }
};

void print_sorted(const std::map<std::string, Sorted>& sorted) {
  const std::vector<TerminalColumn> columns = {
      {"class", 13}, {"images", 6, false, true}, {"least certain", 13, false, true}, {"which is", 14, true, false, 1}};
  std::vector<std::vector<TerminalCell>> rows;
  for (const auto& [folder, own] : sorted) {
    rows.push_back({{folder, folder == kNoneOfThese ? Tone::kFaint : Tone::kStrong},
                    {std::to_string(own.images)},
                    {fmt::format("{:.3f}", own.least), tone_of(own.least)},
                    {own.image.string(), Tone::kFaint}});
  }
  print_coloured(terminal_table(columns, rows, results_terminal()));
}

void run_sort(SortArguments& options) {
  options.recognizing.nearest = 0;
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const FoundImages found = find_images(with_listed(options.images));
  ClassFolders folders(recognizer.file());
  std::map<std::string, Sorted> sorted;
  const auto take = [&](const fs::path& image, const Answer& answer) {
    const std::string& folder = folders.of(answer);
    put(options, image, folder);
    sorted[folder].take(image, answer);
  };
  const std::vector<UnreadableFile> unreadable = recognizer.classify(found.paths, take, progress());
  print_sorted(sorted);
  account_for(found, unreadable);
}

void add_sort_command(CLI::App& app) {
  auto options = std::make_shared<SortArguments>();
  CLI::App* command = add_command(app, "sort", "Copy or link images into a folder for each class",
                                  "protocom sort birds.pcm holiday/ --out sorted --link");
  command->add_option("recognizer", options->recognizer, "Recognizer")->type_name(kInput)->required();
  command
      ->add_option("images", options->images,
                   "Images, or folders that are walked; -: their names are read from the standard input")
      ->type_name(kInput)
      ->required();
  command->add_option("--out", options->out, "Folder of the classes' folders; files that are there stay")
      ->type_name(kOutput)
      ->required();
  command->add_flag("--link", options->link, "Symbolic links instead of copies");
  command->add_option("--batch", options->recognizing.extract.batch, "Images per forward pass")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  command->add_option("--device", options->recognizing.extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([options] { run_sort(*options); });
}

const Command kSort{Group::kOwnPhotos, 40, &add_sort_command};

}  // namespace
}  // namespace protocom::cli
