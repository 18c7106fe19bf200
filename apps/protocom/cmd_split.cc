
#include "base/text.h"
#include "cli.h"
#include "dataset_options.h"
#include "datasets/divide_classes.h"

namespace protocom::cli {
namespace {

struct SplitArguments {
  DatasetOptions dataset;
  DivisionOptions division;
  std::string out;
};

/// Returns the number of images of each class.
std::vector<int64_t> counts_of(const ImageDataset& dataset) {
  std::vector<int64_t> counts(dataset.class_names.size(), 0);
  for (const ImageItem& item : dataset.items) ++counts[static_cast<size_t>(item.label)];
  return counts;
}

void print_division(const ImageDataset& dataset, const std::vector<int64_t>& images, const std::vector<Split>& split) {
  std::vector<std::vector<std::string>> rows = {{"split", "classes", "images", "which"}};
  for (const Split side : kAllSplits) {
    std::vector<std::string> names;
    int64_t total = 0;
    for (size_t c = 0; c < split.size(); ++c) {
      if (split[c] != side) continue;
      names.push_back(dataset.class_names[c]);
      total += images[c];
    }
    constexpr size_t kShown = 5;
    rows.push_back(
        {std::string(to_string(side)), std::to_string(names.size()), std::to_string(total), first_of(names, kShown)});
  }
  print_table(rows);
}

void run_split(const SplitArguments& options) {
  check_absent(options.out);
  check_writable(options.out);
  ImageDatasetOptions asked = options.dataset.to_library();
  asked.split_use = SplitUse::kIgnored;
  const ImageDataset dataset = list_images(options.dataset.images, asked);
  const std::vector<int64_t> images = counts_of(dataset);
  const std::vector<Split> split = divide_classes(images, options.division);
  write_file(options.out, split_csv(dataset.class_names, split));
  print_division(dataset, images, split);
  fmt::print(
      "\n{0} written: edit it before measuring if the draw does not suit; other commands read it by --split {0}\n",
      options.out);
}

void add_split_command(CLI::App& app) {
  auto options = std::make_shared<SplitArguments>();
  CLI::App* command = add_command(app, "split", "Split the classes of a folder at random into base, val and novel",
                                  "protocom split photos --out split.csv");
  add_input_option(*command, "images,--images", options->dataset.images, "Folder of the images")->required();
  add_layout(*command, options->dataset);
  add_list_choices(*command, options->dataset.lists);
  command->add_option("--val", options->division.val,
                      "Number of val classes, for choosing settings; 0: none; default: 16 %, of few classes 5, or a "
                      "fifth if that is less");
  command->add_option("--novel", options->division.novel,
                      "Number of novel classes, for measuring accuracy; 0: none; default: 20 %, of few classes 5, or a "
                      "third if that is less");
  command->add_option("--fewest-images", options->division.fewest_images,
                      "Fewest images of a val or novel class; classes with fewer are base");
  command->add_option("--seed", options->division.seed, "Seed of the draw");
  add_output_option(*command, "--out", options->out, "CSV class,split to write")->required();
  command->callback([options] { run_split(*options); });
}

const Command kSplit{Group::kDataSets, 20, &add_split_command};

}  // namespace
}  // namespace protocom::cli
