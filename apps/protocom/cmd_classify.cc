#include <map>

#include "answer_printer.h"
#include "base/printed_json.h"
#include "box_answers.h"
#include "classify_options.h"
#include "cli.h"
#include "dataset_options.h"
#include "datasets/boxes.h"
#include "features_out.h"
#include "image_arguments.h"
#include "images/image_region.h"
#include "job.h"
#include "recognizer/occlusion.h"
#include "shared_work.h"
#include "xmp_sidecars.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the name of an image for --features-out.
using NameOf = std::function<fs::path(const fs::path&)>;

fs::path same_name(const fs::path& image) { return image; }

/// Takes images that share an answer: those of a series, with its number (from 1), or a single image, with 0.
using TakeGroup = std::function<void(const std::vector<size_t>& images, const Answer& answer, int64_t series)>;

std::vector<UnreadableFile> answer_series(const ClassifyArguments& options, const FoundImages& found,
                                          Recognizer& recognizer, const TakeGroup& take) {
  const SeriesRule rule = parse_series(options.series);
  const Series series = group_photos(found.paths, rule, options.series_gap);
  if (series.alone > 0)
    logger().warn("{} of {} photos have no {}: each is a series of its own", series.alone, found.paths.size(),
                  rule.by == SeriesBy::kColumn ? rule.column : "time");
  std::map<fs::path, size_t> number_of;
  for (size_t i = 0; i < found.paths.size(); ++i) number_of.emplace(found.paths[i], i);
  int64_t number = 0;
  const auto take_photos = [&](const std::vector<fs::path>& photos, const Answer& answer) {
    std::vector<size_t> images;
    for (const fs::path& photo : photos) images.push_back(number_of.at(photo));
    take(images, answer, ++number);
  };
  std::vector<UnreadableFile> unreadable = recognizer.classify_series(series.groups, take_photos, progress());
  logger().info("{} {}, {} series", found.paths.size() - unreadable.size(),
                options.boxes.file.empty() ? "photos" : "boxes", series.groups.size());
  return unreadable;
}

/// Answers each image separately, and writes --features-out.
std::vector<UnreadableFile> answer_each(const ClassifyArguments& options, const FoundImages& found,
                                        Recognizer& recognizer, const TakeGroup& take, const NameOf& named) {
  const auto take_one = [&](size_t image, const Answer& answer) { take({image}, answer, 0); };
  if (options.features_out.empty()) return recognizer.classify(found.paths, take_one, progress());
  FeaturesOut file(options.features_out);
  const auto take_answer = [&](size_t image, const Answer& answer) {
    file.add(named(found.paths[image]).string(), answer);
    take_one(image, answer);
  };
  const auto take_features = [&](const Array& features) { file.add(features); };
  std::vector<UnreadableFile> unreadable =
      recognizer.classify(found.paths, Recognizer::AnswerTakers{take_answer, take_features}, progress());
  file.write(recognizer, options.provenance);
  return unreadable;
}

/// Answers all images, or their series if requested. Returns the unreadable ones.
std::vector<UnreadableFile> answer_images(const ClassifyArguments& options, const FoundImages& found,
                                          Recognizer& recognizer, const TakeGroup& take,
                                          const NameOf& named = &same_name) {
  return options.series.empty() ? answer_each(options, found, recognizer, take, named)
                                : answer_series(options, found, recognizer, take);
}

/// Returns the name of a series in a table; other formats repeat its answer for each photo.
std::string title_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : fmt::format("{} (+{})", names.front(), names.size() - 1);
}

/// Returns the names of a group's images. For Timelapse, whose table has one row per photo, boxes become their photo.
std::vector<std::string> names_in(const std::vector<size_t>& group, const FoundImages& found,
                                  const ImageArguments& images, const std::string& format) {
  std::vector<std::string> names;
  for (const size_t image : group) {
    const fs::path& path = found.paths[image];
    std::string name = images.named(format == "timelapse" ? region_of(path).file : path).string();
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

/// Replaces the photos by their boxes.
std::vector<Crop> take_boxes(const BoxChoice& boxes, FoundImages& found) {
  const std::vector<fs::path> photos = std::exchange(found.paths, {});
  std::vector<Crop> crops = crop_photos(photos, read_boxes(boxes), boxes.file);
  for (const Crop& crop : crops) {
    found.paths.push_back(crop.name);
    found.places.push_back(crop.where);
  }
  return crops;
}

/// Returns the images, or the boxes of those that have some.
FoundImages images_to_classify(const std::vector<std::string>& paths, const BoxChoice& boxes) {
  FoundImages found = find_images(paths);
  if (!boxes.file.empty()) take_boxes(boxes, found);
  return found;
}

/// Throws Error, with the reasons logged, if no image was answered: no file is written then.
void check_any_answered(const FoundImages& found, const std::vector<UnreadableFile>& unreadable) {
  if (unreadable.size() == found.paths.size()) account_for(found, unreadable);
}

/// Writes the file of boxes with the answers in it.
void answer_boxes(const ClassifyArguments& options) {
  if (!options.out.empty()) check_writable(options.out);
  BoxAnswers answers(options.format, options.boxes);
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  FoundImages found = find_images(with_listed(options.images));
  const std::vector<Crop> boxes = take_boxes(options.boxes, found);
  const auto take = [&](const std::vector<size_t>& group, const Answer& answer, int64_t) {
    for (const size_t image : group) answers.add(boxes[image], answer);
  };
  const std::vector<UnreadableFile> unreadable = answer_images(options, found, recognizer, take);
  check_any_answered(found, unreadable);
  const std::string text = answers.text(recognizer) + "\n";
  options.out.empty() ? fmt::print("{}", text) : write_file(options.out, text);
  account_for(found, unreadable);
}

/// Writes answers as keywords into the sidecars of the photos.
void answer_sidecars(const ClassifyArguments& options) {
  if (!options.out.empty()) fail_usage("--format xmp writes sidecars beside the photos: leave out --out");
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const FoundImages found = images_to_classify(with_listed(options.images), options.boxes);
  XmpSidecars sidecars(recognizer);
  const auto take = [&](const std::vector<size_t>& group, const Answer& answer, int64_t) {
    for (const size_t image : group) sidecars.add(found.paths[image], answer);
  };
  const std::vector<UnreadableFile> unreadable = answer_images(options, found, recognizer, take);
  const int64_t left = sidecars.write();
  account_for(found, unreadable);
  if (left > 0) fail("cannot write keywords into sidecars: {}", left);
}

/// Returns the root folder of Timelapse's paths; paths of other formats stay as given.
fs::path timelapse_root(const ClassifyArguments& options) {
  std::error_code ignored;
  if (options.format != "timelapse") return {};
  if (!options.boxes.file.empty() && options.series.empty())
    fail_usage(
        "--format timelapse has a row for each photo: with --boxes, use --format megadetector for Timelapse, or add "
        "--series");
  if (options.images.size() != 1 || !fs::is_directory(options.images.front(), ignored))
    fail_usage("--format timelapse takes one folder, the root folder of Timelapse's images");
  return options.images.front();
}

/// Writes a file, which appears only when it is complete.
void write_whole(const fs::path& out, const std::function<void(const AnswerPrinter::WriteText&)>& write) {
  write_file_with(out, [&](const fs::path& path) {
    std::ofstream file(path, std::ios::binary);
    write([&](std::string_view text) { file << text; });
    file.close();
    if (!file) fail("cannot write {}", out.string());
  });
}

void print_count(const ClassifyArguments& options, const FoundImages& found,
                 const std::vector<UnreadableFile>& unreadable) {
  print_table(
      {{options.boxes.file.empty() ? "images" : "boxes", std::to_string(found.paths.size() - unreadable.size())},
       {"answers", options.out}});
}

/// Prints each answer immediately, or writes it to `out`, where a table becomes lines of JSON.
void print_answers(const ClassifyArguments& options) {
  if (options.resume == ResumeLines::kYes)
    fail_usage("--resume needs --out, beside which lines of JSON are kept: leave out --series and --format");
  if (!options.series.empty()) parse_series(options.series);  // an error before the encoder is loaded
  const bool to_file = !options.out.empty();
  if (to_file) check_writable(options.out);
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const ImageArguments images(options.images);
  const FoundImages found = images_to_classify(images.paths(), options.boxes);
  AnswerCsv format{options.format, 1, !options.boxes.file.empty(), timelapse_root(options)};
  format.series = !options.series.empty();
  if (to_file && format.format == "table") format.format = "json";
  std::vector<UnreadableFile> unreadable;
  const auto answer_to = [&](const AnswerPrinter::WriteText& write) {
    AnswerPrinter printer(recognizer, format, AnswerPrinter::Layout::kAtTheEnd, write);
    const auto take = [&](const std::vector<size_t>& group, const Answer& answer, int64_t series) {
      const std::vector<std::string> names = names_in(group, found, images, format.format);
      if (format.format == "table") return printer.print(title_of(names), answer);
      for (const std::string& name : names) printer.print(name, answer, series);
    };
    unreadable =
        answer_images(options, found, recognizer, take, [&](const fs::path& path) { return images.named(path); });
    if (to_file) check_any_answered(found, unreadable);
    printer.finish();
  };
  to_file ? write_whole(options.out, answer_to) : answer_to(&print_at_once);
  if (to_file) print_count(options, found, unreadable);
  account_for(found, unreadable);
}

void print_explained(const ClassifyArguments& options, const fs::path& image, const Occlusion& found) {
  if (options.format == "json") {
    nlohmann::json line = occlusion_json(found);
    line["image"] = image.string();
    return fmt::print("{}\n", printed_json(line));
  }
  fmt::print("{}: {} {:.3f}\n{}", image.string(), found.class_name, found.probability, occlusion_text(found));
}

/// Prints the answers with the parts of the photos that determine them.
void explain_answers(const ClassifyArguments& options) {
  if (options.format != "table" && options.format != "json")
    fail_usage("--explain prints a table or json: leave out --format {}", options.format);
  const RecognizerOptions& recognizing = options.recognizing;
  const bool together = recognizing.together || !recognizing.proportions.empty() || !recognizing.shares.empty();
  if (!options.out.empty() || !options.series.empty() || together)
    fail_usage("--explain takes photos one by one: leave out --out, --series and --batch-together");
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const ImageArguments images(options.images);
  const FoundImages found = images_to_classify(images.paths(), options.boxes);
  std::vector<UnreadableFile> unreadable;
  recognizer.class_names();  // errors of the classes are not counted as unreadable photos
  for (const fs::path& image : found.paths) {
    try {
      print_explained(options, images.named(image), find_occlusion(recognizer, image));
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      unreadable.push_back({image.string(), error.what()});
    }
  }
  account_for(found, unreadable);
}

/// Writes all answers as lines of JSON; several processes may share the work, and an interrupted run can resume.
void write_lines(const CLI::App& command, const ClassifyArguments& options) {
  const ProcessGroup& group = job();
  if (group.is_main()) check_writable(options.out);
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const FoundImages found =
      group.is_main() ? images_to_classify(with_listed(options.images), options.boxes) : FoundImages();
  SharedLines lines(group, lines_job(command, recognizer, options.out, options.resume), found.paths);
  const std::string mode(recognizer.method().spec().mode());
  const auto to_line = [&](const fs::path& image, const Answer& answer) {
    return AnswerPrinter::json_line(image, answer, mode);
  };
  if (!group.is_main()) return classify_shared(recognizer, lines, {to_line, {}});
  std::vector<UnreadableFile> unreadable;
  write_whole(options.out, [&](const AnswerPrinter::WriteText& write) {
    classify_shared(recognizer, lines,
                    {to_line, [&](size_t, std::string_view line) { write(std::string(line) + '\n'); }});
    unreadable = lines.unreadable();
    lines.remove();
    check_any_answered(found, unreadable);
  });
  print_count(options, found, unreadable);
  account_for(found, unreadable);
}

void check_features_out(const ClassifyArguments& options, bool as_lines) {
  if (options.explain || !options.series.empty() || as_lines)
    fail_usage("--features-out: leave out --explain, --series and lines of JSON (--out without --format csv)");
  if (!job().is_single()) fail_usage("--features-out needs a single process: leave out torchrun");
}

void run_classify(const CLI::App& command, ClassifyArguments& options) {
  take_shares(options);
  take_groups(options);
  options.provenance = provenance_of(command, /*seed=*/0);
  const bool into_files = BoxAnswers::is_format(options.format) || options.format == "xmp";
  const bool in_turn = into_files || !options.series.empty() || AnswerCsv::is_format(options.format);
  const bool as_lines = !options.out.empty() && !in_turn;
  if (!options.features_out.empty()) check_features_out(options, as_lines);
  if ((into_files || !options.out.empty()) && in_turn && !job().is_single())
    fail_usage("--series and --format {} need a single process: leave out torchrun", options.format);
  if (options.recognizing.coverage && (into_files || options.format == "timelapse"))
    fail_usage("--coverage: --format {} has no place for sets of classes: leave out --coverage", options.format);
  if (options.explain) return explain_answers(options);
  if (BoxAnswers::is_format(options.format)) return answer_boxes(options);
  if (options.format == "xmp") return answer_sidecars(options);
  as_lines ? write_lines(command, options) : print_answers(options);
}

void add_classify_command(CLI::App& app) {
  auto options = std::make_shared<ClassifyArguments>();
  options->recognizing.attributes = 3;
  options->recognizing.use = FileUse::kRead;
  CLI::App* command = add_command(app, "classify", "Rank the classes of a recognizer for each image",
                                  "protocom classify pets.pcm holiday/ --format csv\n"
                                  "torchrun --nproc-per-node 8 --no-python protocom classify pets.pcm archive/ --out "
                                  "answers.jsonl --resume");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer, see protocom recognizer")->required();
  add_input_option(*command, "images", options->images,
                   "Images, or folders with their subfolders; -: the standard input, an image or names of images")
      ->required();
  add_method_options(*command, *options);
  add_box_options(*command, options->boxes);
  add_format_options(*command, *options);
  add_series_options(*command, *options);
  add_answer_options(*command, *options);
  add_batch(*command, options->recognizing.batch);
  add_device(*command, options->recognizing.device);
  command->callback([command, options] { run_classify(*command, *options); });
}

const Command kClassify{Group::kOwnPhotos, 30, &add_classify_command};

}  // namespace
}  // namespace protocom::cli
