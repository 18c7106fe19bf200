#include <optional>

#include "cli.h"
#include "evaluation_inputs.h"
#include "protocom/data/feature_preprocessing.h"
#include "protocom/eval/fit.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom::cli {
namespace {

struct FitArguments {
  std::string features, maps, knowledge, class_split, out;
  FitOptions fit;
};

void run_fit(const CLI::App& command, const FitArguments& options) {
  make_method(options.fit.method);  // a wrong name is said before files are read
  check_writable(options.out);
  FeatureFileOptions file_options;
  if (!options.class_split.empty()) file_options.split = options.class_split;
  const FeatureSet features = read_features(options.features, file_options);
  std::optional<Knowledge> knowledge;
  if (!options.knowledge.empty()) knowledge = read_knowledge(options.knowledge);
  std::optional<FeatureMaps> maps;
  if (!options.maps.empty()) maps = read_feature_maps(options.maps);
  Provenance provenance = provenance_of(command, options.fit.seed);
  add_input(provenance, "features", options.features);
  add_input(provenance, "feature-maps", options.maps);
  add_input(provenance, "knowledge", options.knowledge);
  add_input(provenance, "class-split", options.class_split);
  const FittedMethod fitted =
      fit_method({features, knowledge ? &*knowledge : nullptr, maps ? &*maps : nullptr}, options.fit, progress());
  write_fitted_method(options.out, fitted, provenance, preprocessing_details(options.features));
  print_table({{"method", fitted.method->label()},
               {"base classes", std::to_string(fitted.trained_on.size())},
               {"written to", options.out}});
  for (const std::string& finding : fitted.findings) fmt::print("{}\n", finding);
}

void add_fit_command(CLI::App& app) {
  auto options = std::make_shared<FitArguments>();
  CLI::App* command =
      add_command(app, "fit", "Fit a method on the base classes of features",
                  "protocom fit --features features.npz --knowledge knowledge.npz --out plda.npz\n"
                  "protocom fit --method restore-net --features features.npz --out restore-net.npz\n"
                  "protocom evaluate --features features.npz --methods mean,restore-net --fitted restore-net.npz");
  command->add_option("--method", options->fit.method, "Method with its parameters, see protocom methods");
  command->add_option("--features", options->features, "Features of all splits (npz, or npy with --class-split)")
      ->required();
  command->add_option("--feature-maps", options->maps, kMapsText);
  command->add_option("--knowledge", options->knowledge, "Knowledge file, for methods that need it");
  command->add_option("--class-split", options->class_split, "Split that replaces the features' own (CSV class,split)");
  command->add_option("--out", options->out, "File to write")->required();
  command->add_option("--seed", options->fit.seed, "Seed of everything that is drawn");
  command->callback([command, options] { run_fit(*command, *options); });
}

const Command kFit{Order::kFit, &add_fit_command};

}  // namespace
}  // namespace protocom::cli
