#include "cli.h"
#include "evaluation_inputs.h"
#include "file_options.h"
#include "protocom/data/feature_preprocessing.h"
#include "protocom/eval/fit.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom::cli {
namespace {

struct FitArguments {
  std::string out;
  FitOptions fit;
};

KnowledgeUse use_of(const std::string& name) {
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

void add_fit_command(CLI::App& app) {
  auto options = std::make_shared<FitArguments>();
  auto files = std::make_shared<EvaluationFiles>();
  CLI::App* command =
      add_command(app, "fit", "Fit a method on the base classes of features",
                  "protocom fit --features features.npz --knowledge knowledge.npz --out plda.npz\n"
                  "protocom fit --method restore-net --features features.npz --out restore-net.npz\n"
                  "protocom evaluate --features features.npz --methods mean,restore-net --fitted restore-net.npz");
  command->add_option("--method", options->fit.method, "Method with its parameters, see protocom methods")
      ->each([](const std::string& text) { make_method(text); });  // a wrong name is said before files are read
  add_data_options(*command, *files);
  command
      ->add_option_function<std::string>(
          "--knowledge-use", [options](const std::string& word) { options->fit.knowledge_use = use_of(word); },
          "Whether plda uses --knowledge: auto (where it gains on held-out classes), always (as classes without "
          "images need), never")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_option("--out", options->out, "File to write")->type_name(kOutput)->required();
  command->add_option("--seed", options->fit.seed, "Seed of everything that is drawn");
  command->callback([command, options, files] {
    check_writable(options->out);
    run_fit(*command, *options, read_files(*files, Split::kBase));
  });
}

const Command kFit{Group::kTraining, 40, &add_fit_command};

}  // namespace
}  // namespace protocom::cli
