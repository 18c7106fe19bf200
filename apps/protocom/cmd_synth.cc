#include "cli.h"
#include "demo/synthetic.h"

namespace protocom::cli {
namespace {

struct SynthArguments {
  std::string out, sheet;
  SyntheticOptions world;
  SyntheticSheetOptions sheet_options;
};

void run_synth(const SynthArguments& options) {
  const SyntheticWorld world(options.world);
  if (!options.sheet.empty()) check_writable(options.sheet);
  write_synthetic(options.out, world, progress());
  if (!options.sheet.empty()) write_file(options.sheet, encode_png(synthetic_sheet(world, options.sheet_options)));
  const std::string out = options.out;
  print_table({{"classes (base / val / novel)", fmt::format("{} / {} / {}", options.world.base_classes,
                                                            options.world.val_classes, options.world.novel_classes)},
               {"images", fmt::format("{} of {} x {} pixels",
                                      static_cast<int64_t>(world.classes().size()) * options.world.images_per_class,
                                      options.world.image_size, options.world.image_size)},
               {"attributes", std::to_string(SyntheticWorld::attribute_names().size())},
               {"split", out + "/split.csv"},
               {"attribute table", out + "/attributes.csv"}});
}

void add_synth_command(CLI::App& app) {
  auto options = std::make_shared<SynthArguments>();
  CLI::App* command = add_command(app, "synth", "Generate the synthetic data set: creatures composed of parts",
                                  "protocom synth creatures --sheet creatures.png");
  SyntheticOptions& world = options->world;
  add_output_option(*command, "out", options->out, "Folder to make: <class>/<image>.jpg, split.csv, attributes.csv")
      ->required();
  command->add_option("--image-size", world.image_size, "Side of the square images, pixels");
  command->add_option("--images-per-class", world.images_per_class, "Images of each class");
  command->add_option("--base", world.base_classes, "Base classes");
  command->add_option("--val", world.val_classes, "Validation classes");
  command->add_option("--novel", world.novel_classes, "Novel classes");
  command->add_option("--visibility", world.part_visibility, "Probability that an image shows a part its class has");
  command->add_option("--seed", world.seed, "Seed of all random draws");
  add_output_option(*command, "--sheet", options->sheet, "Also write a contact sheet (PNG)");
  add_word(*command, "--sheet-split", options->sheet_options.split, &parse_split,
           "Classes on the sheet: base, val or novel");
  command->add_option("--sheet-classes", options->sheet_options.max_classes, "How many classes the sheet shows");
  command->add_option("--sheet-cell", options->sheet_options.cell_size, "Side of each picture on the sheet, pixels");
  command->callback([options] { run_synth(*options); });
}

const Command kSynth{Group::kDataSets, 30, &add_synth_command};

}  // namespace
}  // namespace protocom::cli
