#include <numeric>

#include "base/json_text.h"
#include "cli.h"
#include "dataset_options.h"
#include "datasets/contact_sheet.h"
#include "datasets/inspect.h"

namespace protocom::cli {
namespace {

/// Further findings are only counted; --json lists all.
constexpr size_t kMostLines = 20;

struct InspectArguments {
  DatasetOptions dataset;
  std::string sheet, json;
  SheetOptions sheet_options;
  bool strict = false;
  bool all_classes = false;
};

std::string to_text(const Spread& spread) { return fmt::format("{} / {} / {}", spread.min, spread.median, spread.max); }

std::string ratio_of(const Spread& spread) {
  return spread.min > 0 ? fmt::format("{:.1f}", static_cast<double>(spread.max) / static_cast<double>(spread.min))
                        : "-";
}

void print_splits(const Inspection& found) {
  std::vector<std::vector<std::string>> rows = {
      {"split", "classes", "images", "images per class (min / median / max)", "largest : smallest"}};
  for (const Split split : kAllSplits) {
    const std::vector<int64_t> counts = found.counts_of(split);
    const Spread spread = spread_of(counts);
    rows.push_back({std::string(to_string(split)), std::to_string(counts.size()),
                    std::to_string(std::accumulate(counts.begin(), counts.end(), int64_t{0})),
                    counts.empty() ? "-" : to_text(spread), ratio_of(spread)});
  }
  print_table(rows);
}

void print_classes(const Inspection& found) {
  std::vector<std::vector<std::string>> rows = {{"class", "split", "images", "unreadable", "title"}};
  for (const ClassSummary& c : found.classes) {
    rows.push_back(
        {c.name, std::string(to_string(c.split)), std::to_string(c.images), std::to_string(c.unreadable), c.title});
  }
  fmt::print("\n");
  print_table(rows);
}

void print_findings(const std::string& what, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  fmt::print("\n{}: {}\n", what, lines.size());
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) fmt::print("  {}\n", lines[i]);
  if (lines.size() > kMostLines) fmt::print("  ... and {} more (--json lists all)\n", lines.size() - kMostLines);
}

void print_report(const Inspection& found, const InspectArguments& options) {
  print_splits(found);
  fmt::print("\nwidth  {} pixels (min / median / max)\nheight {}\n", to_text(found.width), to_text(found.height));
  if (options.all_classes) print_classes(found);
  std::vector<std::string> unreadable;
  for (const ImageFault& fault : found.unreadable) unreadable.push_back(fault.id + ": " + fault.reason);
  print_findings("unreadable images", unreadable);
  for (const auto& [kind, what] : {std::pair{DuplicateKind::kAcrossSplits, "LEAK: the same image in two splits"},
                                   std::pair{DuplicateKind::kAcrossClasses, "the same image in two classes of a split"},
                                   std::pair{DuplicateKind::kWithinClass, "the same image twice in a class"}}) {
    std::vector<std::string> lines;
    for (const DuplicateGroup& group : found.duplicates) {
      if (group.kind == kind) lines.push_back(fmt::format("{}", fmt::join(group.ids, " = ")));
    }
    print_findings(what, lines);
  }
  print_findings("classes without images (ignored)", found.empty_classes);
  if (found.skipped.total() > 0) fmt::print("\n{}\n", found.skipped.describe());
  if (!found.damage.empty()) fmt::print("\nDAMAGED: {}\n", found.damage);
  if (found.is_clean()) fmt::print("\nno unreadable images, no image in two splits\n");
}

template <typename Images>
void inspect(const Images& images, const InspectArguments& options) {
  const Inspection found = inspect_images(images, progress());
  if (!options.sheet.empty()) write_file(options.sheet, encode_png(make_contact_sheet(images, options.sheet_options)));
  if (!options.json.empty()) {
    write_file(options.json, json_text(found.to_json(), 2) + "\n");
  }
  print_report(found, options);
  if (options.strict && !found.is_clean()) {
    fail("{}: found {} unreadable images and {} images in two splits{}", options.dataset.images,
         found.unreadable.size(), found.duplicates_of(DuplicateKind::kAcrossSplits),
         found.damage.empty() ? "" : ", damaged content");
  }
}

void run_inspect(const InspectArguments& options) {
  for (const std::string& file : {options.sheet, options.json}) {
    if (!file.empty()) check_writable(file);
  }
  if (is_pack(options.dataset.images)) return inspect(read_pack(options.dataset.images), options);
  ImageDatasetOptions dataset = options.dataset.to_library();
  dataset.split_use = SplitUse::kOptional;
  inspect(list_images(options.dataset.images, dataset), options);
}

void add_inspect_command(CLI::App& app) {
  auto options = std::make_shared<InspectArguments>();
  CLI::App* command =
      add_command(app, "inspect", "Check a dataset: counts, sizes, unreadable images, leaks between splits",
                  "protocom inspect photos --split split.csv --sheet sheet.png");
  add_dataset_options(*command, options->dataset, "Folder of the images, or a pack");
  add_output_option(*command, "--sheet", options->sheet, "Also write a contact sheet of random images (PNG)");
  command->add_option("--sheet-classes", options->sheet_options.classes, "Approximate number of classes on the sheet");
  command->add_option("--sheet-images", options->sheet_options.images_per_class, "Images of each class on the sheet");
  command->add_option("--sheet-tile", options->sheet_options.tile, "Side of each picture on the sheet, pixels");
  command->add_option("--seed", options->sheet_options.seed, "Seed of the choice of images");
  add_output_option(*command, "--json", options->json, "Also write all findings as JSON");
  command->add_flag("--classes", options->all_classes, "List every class");
  command->add_flag("--strict", options->strict, "Exit with 1 if an image is unreadable or in two splits");
  command->callback([options] { run_inspect(*options); });
}

const Command kInspect{Group::kDataSets, 10, &add_inspect_command};

}  // namespace
}  // namespace protocom::cli
