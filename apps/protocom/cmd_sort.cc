#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "answer_printer.h"
#include "base/json_text.h"
#include "cli.h"
#include "image_arguments.h"
#include "io/output_lock.h"
#include "io/unfinished.h"
#include "job.h"
#include "recognizer/recognizer.h"
#include "shared_work.h"
#include "standard_streams.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct SortArguments {
  std::string recognizer, out;
  std::vector<std::string> images;
  RecognizerOptions recognizing;
  bool link = false;
  ResumeLines resume = ResumeLines::kNo;
};

constexpr size_t kLongestFolder = 200;

/// Returns the name as that of a folder inside the output folder, whatever characters it has.
std::string as_folder(const std::string& name) {
  std::string folder = excerpt(name, kLongestFolder);
  const auto is_no_letter = [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; };
  std::replace_if(folder.begin(), folder.end(), is_no_letter, '_');
  return folder.empty() || folder.front() == '.' ? "_" + folder : folder;
}

/// The answer that decides on an image's folder, with its probability.
struct Verdict {
  std::string class_name;
  bool none = false;
  double sure = 0;
};

Verdict judge_answer(const Answer& answer) {
  const RankedClass& first = answer.ranking.front();
  const bool none = answer.none_of_these.value_or(false);
  return {first.name, none, none && answer.none ? *answer.none : first.probability};
}

/// Returns a line; names need not be UTF-8.
std::string line_of(const Verdict& verdict) {
  return json_text(
      nlohmann::json{{"class", hex_of(verdict.class_name)}, {"none", verdict.none}, {"sure", verdict.sure}});
}

Verdict verdict_in(std::string_view line) {
  const nlohmann::json all = json_from_text(line);
  return {from_hex(all.at("class").get_ref<const std::string&>()), all.at("none"), all.at("sure")};
}

/// A folder for each class, made unique if two names coincide: "a_b", "a_b-2", in order of enrolment.
class ClassFolders {
 public:
  explicit ClassFolders(const RecognizerFile& file) {
    for (const ClassInfo& entry : file.list_classes()) add(entry.name);
  }

  /// Returns the folder of the predicted class, or that for none of the classes.
  const std::string& of(const Verdict& verdict) {
    static const std::string kNone = kNoneOfThese;
    if (verdict.none) return kNone;
    return add(verdict.class_name);  // enrolled meanwhile, or there
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

/// Returns a name that is not taken: "1.jpg", "1-2.jpg", ...
fs::path free_place(const fs::path& folder, const fs::path& image) {
  fs::path place = folder / image.filename();
  for (int64_t n = 2; fs::exists(fs::symlink_status(place)); ++n)
    place = folder / fmt::format("{}-{}{}", image.stem().string(), n, image.extension().string());
  return place;
}

fs::path place_for(const SortArguments& options, const fs::path& image, const std::string& folder) {
  return free_place(fs::path(options.out) / folder, image);
}

/// Moves a file to a place where nothing is, also if another program puts something there at this moment.
void move_if_free(const fs::path& from, const fs::path& place, std::error_code& error) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, place.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EINVAL || errno == ENOSYS) return fs::rename(from, place, error);  // a file system without it
  error.assign(errno, std::generic_category());
}

/// Makes the output folder. Returns what to lock, so that its file is inside: the user may only write there.
fs::path make_out(const SortArguments& options) {
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error) fail("cannot create the folder {}: {}", options.out, error.message());
  return fs::path(options.out) / "";
}

void put(const SortArguments& options, const fs::path& image, const fs::path& place) {
  std::error_code error;
  // A link would lead the images of a class out of the folder that was named.
  if (fs::is_symlink(fs::symlink_status(place.parent_path(), error)))
    fail("cannot write into {}: it is a symbolic link; remove it, or choose another --out",
         place.parent_path().string());
  fs::create_directories(place.parent_path(), error);
  if (options.link) {
    fs::create_symlink(fs::absolute(image), place, error);
  } else {
    UnfinishedPath copy(temporary_beside(place));  // a full disk or a kill leaves no partial photo
    fs::copy_file(image, copy.path(), error);
    if (!error) move_if_free(copy.path(), place, error);
    if (!error) copy.release();
  }
  if (error) fail("cannot put {} at {}: {}", image.string(), place.string(), error.message());
}

/// What was put into a folder.
struct Sorted {
  int64_t images = 0;
  double least = 2.0;  ///< lowest probability of an image
  fs::path image;

  void take(const fs::path& taken, const Verdict& verdict) {
    ++images;
    if (verdict.sure >= least) return;
    least = verdict.sure;
    image = taken;
  }
};

void print_sorted(const std::map<std::string, Sorted>& sorted) {
  const std::vector<TerminalColumn> columns = {{"class", 13},
                                               {"images", 6, false, true},
                                               {"lowest probability", 18, false, true},
                                               {"photo", 14, true, false, 1}};
  std::vector<std::vector<TerminalCell>> rows;
  for (const auto& [folder, own] : sorted) {
    rows.push_back({{folder, folder == kNoneOfThese ? Tone::kFaint : Tone::kStrong},
                    {std::to_string(own.images)},
                    {fmt::format("{:.3f}", own.least), confidence_tone(own.least)},
                    {own.image.string(), Tone::kFaint}});
  }
  print_coloured(terminal_table(columns, rows, results_terminal()));
}

/// Parses the number of an image and its place; nothing if the line was cut off or changed.
std::optional<std::pair<size_t, fs::path>> noted_in(std::string_view line) {
  const nlohmann::json all = json_from_text(line);
  if (!all.is_object() || !all.contains("number") || !all["number"].is_number_unsigned()) return std::nullopt;
  if (!all.contains("place") || !all["place"].is_string()) return std::nullopt;
  try {
    return std::pair(all["number"].get<size_t>(), fs::path(from_hex(all["place"].get_ref<const std::string&>())));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Logs where images are put: one line each, written before the image. A later run reads it.
class PlacesLog {
 public:
  explicit PlacesLog(const fs::path& path) : path_(path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
      for_each_line(path, [&](int64_t, std::string_view line) {
        if (const auto noted = noted_in(line)) places_[noted->first] = noted->second;
        return true;
      });
    }
    if (!places_.empty()) last_ = places_.rbegin()->first;
    out_.open(path, std::ios::binary | std::ios::app);
    out_ << '\n';  // after a line that was cut off
  }

  /// Returns the place of an image if it already has one.
  [[nodiscard]] std::optional<fs::path> of(size_t number) const {
    const auto found = places_.find(number);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Whether it is the last image, which may be incomplete.
  [[nodiscard]] bool is_last(size_t number) const { return last_ && *last_ == number; }
  void add(size_t number, const fs::path& place) {
    out_ << json_text(nlohmann::json{{"number", number}, {"place", hex_of(place.string())}}) << '\n' << std::flush;
    if (!out_) fail("cannot write {}", path_.string());
  }

 private:
  fs::path path_;
  std::map<size_t, fs::path> places_;
  std::optional<size_t> last_;
  std::ofstream out_;
};

/// Whether this program could have put the image there: its name, or the same with a number, in the folder of its
/// class. The log may have been written by another program, and the file at that path may be deleted.
bool may_be_place(const fs::path& place, const SortArguments& options, const fs::path& image,
                  const std::string& folder) {
  const std::string name = place.filename().string(), stem = image.stem().string();
  const std::string end = image.extension().string();
  if (place.parent_path() != fs::path(options.out) / folder) return false;
  if (name == image.filename().string()) return true;
  if (name.size() <= stem.size() + end.size() + 1 || name.compare(0, stem.size() + 1, stem + "-") != 0) return false;
  const size_t digits = name.size() - stem.size() - 1 - end.size();
  return name.compare(name.size() - end.size(), end.size(), end) == 0 &&
         name.substr(stem.size() + 1, digits).find_first_not_of("0123456789") == std::string::npos;
}

/// Whether a path is what a killed run left of an image: a part of its copy, or the link.
bool is_unfinished_copy(const fs::path& place, const fs::path& image) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place, error);
  if (fs::is_symlink(status)) return fs::read_symlink(place, error) == fs::absolute(image);
  if (!fs::is_regular_file(status) || fs::file_size(place, error) > fs::file_size(image, error)) return false;
  const MappedFile part(place), whole(image);
  return part.bytes() == whole.bytes().substr(0, part.bytes().size());
}

/// Puts images in order, so that names are independent of which process answered.
void put_logged(const SortArguments& options, const fs::path& image, const std::string& folder, size_t number,
                PlacesLog& log) {
  auto before = log.of(number);
  if (before && !may_be_place(*before, options, image, folder)) before.reset();
  if (before && !log.is_last(number)) return;
  std::error_code ignored;
  if (before && is_unfinished_copy(*before, image)) fs::remove(*before, ignored);
  if (before && fs::exists(fs::symlink_status(*before, ignored))) before.reset();  // not of this program
  const fs::path place = before ? *before : place_for(options, image, folder);
  if (!before) log.add(number, place);
  put(options, image, place);
}

/// Classifies each process's share; process 0 puts the images in their places when all are done.
void sort_shared(const CLI::App& command, const SortArguments& options, Recognizer& recognizer) {
  const ProcessGroup& group = job();
  const FoundImages found = group.is_main() ? find_images(with_listed(options.images)) : FoundImages();
  SharedLines lines(group, lines_job(command, recognizer, options.out, options.resume), found.paths);
  const auto to_line = [](const fs::path&, const Answer& answer) { return line_of(judge_answer(answer)); };
  if (!group.is_main()) return classify_shared(recognizer, lines, {to_line, {}});
  ClassFolders folders(recognizer.file());
  std::map<std::string, Sorted> sorted;
  PlacesLog log(lines.note());
  const auto take = [&](size_t number, std::string_view line) {
    const Verdict verdict = verdict_in(line);
    const std::string& folder = folders.of(verdict);
    put_logged(options, lines.files()[number], folder, number, log);
    sorted[folder].take(lines.files()[number], verdict);
  };
  classify_shared(recognizer, lines, {to_line, take});
  const std::vector<UnreadableFile> unreadable = lines.unreadable();
  lines.remove();
  print_sorted(sorted);
  account_for(found, unreadable);
}

void run_sort(const CLI::App& command, SortArguments& options) {
  options.recognizing.nearest = 0;
  options.recognizing.use = FileUse::kRead;
  const bool shared = !job().is_single() || options.resume == ResumeLines::kYes;
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  std::optional<OutputLock> lock;
  if (job().is_main()) lock.emplace(make_out(options));
  if (shared) return sort_shared(command, options, recognizer);
  const FoundImages found = find_images(with_listed(options.images));
  ClassFolders folders(recognizer.file());
  std::map<std::string, Sorted> sorted;
  const auto take = [&](size_t number, const Answer& answer) {
    const fs::path& image = found.paths[number];
    const Verdict verdict = judge_answer(answer);
    const std::string& folder = folders.of(verdict);
    put(options, image, place_for(options, image, folder));
    sorted[folder].take(image, verdict);
  };
  const std::vector<UnreadableFile> unreadable = recognizer.classify(found.paths, take, progress());
  print_sorted(sorted);
  account_for(found, unreadable);
}

void add_sort_command(CLI::App& app) {
  auto options = std::make_shared<SortArguments>();
  CLI::App* command = add_command(app, "sort", "Copy or link images into a folder for each class",
                                  "protocom sort birds.pcm holiday/ --out sorted --link\n"
                                  "torchrun --nproc-per-node 8 --no-python protocom sort birds.pcm archive/ --out "
                                  "sorted --resume");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  add_input_option(*command, "images", options->images,
                   "Images, or folders with their subfolders; -: their names are read from the standard input")
      ->required();
  add_output_option(*command, "--out", options->out, "Folder of the classes' folders; existing files stay")->required();
  add_resume(*command, options->resume, "--out");
  command->add_flag("--link", options->link, "Symbolic links instead of copies");
  add_batch(*command, options->recognizing.batch);
  add_device(*command, options->recognizing.device);
  command->callback([command, options] { run_sort(*command, *options); });
}

const Command kSort{Group::kOwnPhotos, 40, &add_sort_command};

}  // namespace
}  // namespace protocom::cli
