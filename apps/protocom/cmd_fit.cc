#include "cli.h"
#include "evaluation_inputs.h"
#include "file_options.h"
#include "protocom/data/feature_preprocessing.h"
#include "protocom/eval/fit.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom::cli {
namespace {

struct FitArguments {
  EvaluationFiles files;
  std::string out;
  std::string knowledge_use = "auto";
  FitOptions fit;
};

KnowledgeUse use_of(const std::string& name) {
  if (name == "always") return KnowledgeUse::kAlways;
  return name == "never" ? KnowledgeUse::kNever : KnowledgeUse::kAuto;
}

void run_fit(const CLI::App& command, const FitArguments& options) {
  make_method(options.fit.method);  // a wrong name is said before files are read
  check_writable(options.out);
  const EvaluationData data = read_files(options.files, Split::kBase);
  Provenance provenance = provenance_of(command, options.fit.seed);
  options.files.add_to(provenance);
  const EvaluateInputs inputs = data.inputs();
  FitOptions fit = options.fit;
  fit.knowledge_use = use_of(options.knowledge_use);
  const FittedMethod fitted = fit_method({inputs.features, inputs.knowledge, inputs.maps}, fit, progress());
  write_fitted_method(options.out, fitted, provenance, preprocessing_details(options.files.features));
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
  add_data_options(*command, options->files);
  command
      ->add_option(
          "--knowledge-use", options->knowledge_use,
          "Whether plda uses --knowledge: auto (where it gains on held-out classes), always (as classes without "
          "images need), never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_option("--out", options->out, "File to write")->type_name(kOutput)->required();
  command->add_option("--seed", options->fit.seed, "Seed of everything that is drawn");
  command->callback([command, options] { run_fit(*command, *options); });
}

const Command kFit{Order::kFit, &add_fit_command};

}  // namespace
}  // namespace protocom::cli
