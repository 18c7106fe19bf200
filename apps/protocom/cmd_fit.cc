#include "cli.h"
#include "dataset_options.h"
#include "datasets/feature_preprocessing.h"
#include "datasets/feature_rows.h"
#include "encoders/embed.h"
#include "encoders/installed_encoders.h"
#include "eval/fit.h"
#include "eval/fit_space.h"
#include "evaluation_inputs.h"
#include "knowledge/knowledge.h"

namespace protocom::cli {
namespace {

struct FitArguments {
  std::string out, unlabelled, backbone, preprocess;
  FitRecipe fit;
  ExtractOptions extract;
};

/// Features of unlabelled images, and the images' preprocessing.
struct UnlabelledImages {
  Array features;
  nlohmann::json details = nlohmann::json::object();
};

KnowledgeUse parse_use(const std::string& name) {
  if (name == "always") return KnowledgeUse::kAlways;
  return name == "never" ? KnowledgeUse::kNever : KnowledgeUse::kAuto;
}

void run_fit(const CLI::App& command, const FitArguments& options, const EvaluationData& data) {
  Provenance provenance = provenance_of(command, options.fit.seed);
  data.files.add_to(provenance);
  const EvaluateInputs inputs = data.inputs();
  const FittedMethod fitted = fit_method({inputs.features, inputs.knowledge, inputs.maps}, options.fit, progress());
  write_fitted_method(options.out, fitted, provenance, preprocessing_details(data.files.features));
  print_table({{"method", fitted.method->label()},
               {"base classes", std::to_string(fitted.trained_on.size())},
               {"written to", options.out}});
  for (const std::string& finding : fitted.findings) fmt::print("{}\n", finding);
}

UnlabelledImages embedded_folder(const FitArguments& options) {
  EncoderFileOptions asked;
  if (!options.preprocess.empty()) asked.preprocessing = parse_preprocessing(options.preprocess);
  const auto encoder = open_encoder(chosen_encoder(options.backbone), asked);
  const EmbeddedFiles read =
      embed_files(*encoder, find_images({options.unlabelled}).paths, options.extract, progress());
  for (const UnreadableFile& file : read.unreadable) logger().warn("{}", file.reason);
  if (read.numbers.empty()) fail("none of the photos can be read");
  return {read.features, {{"preprocessing", to_json(encoder->preprocessing())}}};
}

/// Reads a file of features, with or without classes, or a folder of photos.
UnlabelledImages unlabelled_images(const FitArguments& options) {
  if (std::filesystem::is_directory(options.unlabelled)) return embedded_folder(options);
  if (!options.backbone.empty() || !options.preprocess.empty())
    fail_usage("{} holds features: leave out --backbone and --preprocess", options.unlabelled);
  return {read_feature_rows(options.unlabelled), preprocessing_details(options.unlabelled)};
}

void run_fit_space(const CLI::App& command, const FitArguments& options) {
  if (options.fit.method != FitRecipe().method) fail_usage("--unlabelled makes a space of 'plda': leave out --method");
  const UnlabelledImages images = unlabelled_images(options);
  Provenance provenance = provenance_of(command, options.fit.seed);
  const FittedMethod space = fit_space(images.features, options.fit.seed, progress());
  write_fitted_method(options.out, space, provenance, images.details);
  print_table({{"space", "for recognizer create --space and evaluate --space"},
               {"unlabelled photos", std::to_string(images.features.size(0))},
               {"written to", options.out}});
}

void add_unlabelled_options(CLI::App& command, FitArguments& options) {
  CLI::Option* unlabelled = add_input_option(command, "--unlabelled", options.unlabelled,
                                             "Instead of --features: a folder of unlabelled photos, or their features; "
                                             "fits a space for --space, with groups of similar photos as classes")
                                ->excludes(command.get_option("--features"))
                                ->excludes(command.get_option("--knowledge"));
  command.get_option("--features")->required(false);
  add_input_option(command, "--backbone", options.backbone, kBackboneHelp)->needs(unlabelled);
  command.add_option("--preprocess", options.preprocess, kPreprocessHelp)->needs(unlabelled);
  add_device(command, options.extract.device)->needs(unlabelled);
}

void add_fit_command(CLI::App& app) {
  auto options = std::make_shared<FitArguments>();
  auto files = std::make_shared<EvaluationFiles>();
  CLI::App* command =
      add_command(app, "fit", "Fit a method on the base classes of features",
                  "protocom fit --features features.npz --knowledge knowledge.npz --out plda.npz\n"
                  "protocom fit --unlabelled many-photos --out space.npz\n"
                  "protocom fit --method restore-net --features features.npz --out restore-net.npz\n"
                  "protocom evaluate --features features.npz --methods mean,restore-net --fitted restore-net.npz");
  command->add_option("--method", options->fit.method, "Method with its parameters, see protocom methods")
      ->each([](const std::string& text) { make_method(text); });  // fails for a wrong name before files are read
  add_data_options(*command, *files);
  command
      ->add_option_function<std::string>(
          "--knowledge-use", [options](const std::string& word) { options->fit.knowledge_use = parse_use(word); },
          "Whether plda uses --knowledge: auto (if it gains on held-out classes), always (needed for classes without "
          "images), never")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add_unlabelled_options(*command, *options);
  add_output_option(*command, "--out", options->out, "File to write")->required();
  command->add_option("--seed", options->fit.seed, "Seed of all random draws");
  command->callback([command, options, files] {
    check_writable(options->out);
    if (!options->unlabelled.empty()) return run_fit_space(*command, *options);
    if (files->features.empty()) fail_usage("--features is required, or --unlabelled");
    run_fit(*command, *options, read_files(*files, Split::kBase));
  });
}

const Command kFit{Group::kTraining, 40, &add_fit_command};

}  // namespace
}  // namespace protocom::cli
