#include <ATen/ATen.h>

#include "cli.h"
#include "dataset_options.h"
#include "protocom/serve/enrol.h"

namespace protocom::cli {
namespace {

struct Options {
  std::string store, backbone, model, fitted, knowledge, vectors, preprocess;
  std::string wordnet = kWordNetFolder;
  EnrolRequest request;
};

void print_enrolment(const Options& options, const Enrolment& done) {
  const StoredClass& enrolled = *done.store.find(options.request.description.name);
  const ClassDescription& description = enrolled.description;
  print_table({{"class", enrolled.name + (description.title.empty() ? "" : " (" + description.title + ")")},
               {"images", fmt::format("{} ({} new)", enrolled.count, done.added)},
               {"attributes", std::to_string(description.association.count_nonzero().item<int64_t>())},
               {"embedding from", description.embedding_source},
               {"classes in the store", std::to_string(done.store.classes.size())}});
  if (done.added < done.given) logger().info("images that the class already holds do not count twice");
  if (done.skipped.total() > 0) fmt::print("{}\n", done.skipped.describe());
  for (const UnreadableFile& one : done.unreadable) logger().error("{}", one.reason);
  if (!done.unreadable.empty())
    fail("{} of the images could not be read; the other {} are enrolled", done.unreadable.size(), done.given);
}

void run_enrol(const CLI::App& command, Options& options) {
  check_writable(options.store);
  EnrolRequest& request = options.request;
  request.description.vectors = options.vectors;
  request.description.wordnet = options.wordnet;
  if (!options.preprocess.empty()) request.preprocessing = parse_preprocessing(options.preprocess);
  request.files = {options.backbone, options.model, options.fitted, options.knowledge};
  print_enrolment(options, enrol(options.store, request, provenance_of(command, /*seed=*/0), progress()));
}

void add_enrol_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "enrol", "Add a class, or images of it, to a class store",
                  "protocom enrol pets.store --class okapi okapi1.jpg okapi2.jpg --attributes \"hoof,tail\" \\\n"
                  "      --backbone encoder.pt --fitted plda.npz --knowledge knowledge.npz\n"
                  "  protocom enrol pets.store --class okapi more-okapis/");
  command->add_option("store", options->store, "Class store; made when it is not there")->required();
  command->add_option("images", options->request.images, "Images of the class, or folders of them")->required();
  command->add_option("--class", options->request.description.name, "Name of the class")->required();
  CLI::Option* attributes = command
                                ->add_option("--attributes", options->request.description.attributes,
                                             "What the class has, by the knowledge's names")
                                ->delimiter(',')
                                ->expected(1)  // a,b,c in one argument: what follows is an image
                                ->take_all();
  command
      ->add_option("--synset", options->request.description.synset,
                   "Its WordNet synset (n02391049, zebra.n.01), instead of attributes")
      ->excludes(attributes);
  command->add_option("--backbone", options->backbone, "Backbone; an existing store knows its own");
  CLI::Option* model = command->add_option("--model", options->model,
                                           "Completion model (protocom complete); an existing store knows its own");
  command
      ->add_option("--fitted", options->fitted,
                   "Fitted method (protocom fit), instead of a completion model; an existing store knows its own")
      ->excludes(model);
  command->add_option("--knowledge", options->knowledge,
                      "Knowledge file that the model or method was made with; an existing store knows its own");
  command->add_option("--vectors", options->vectors,
                      "Word vectors the knowledge was made with, to embed the class's name");
  command->add_option("--wordnet", options->wordnet, "Folder of the WordNet database, for --synset");
  command->add_option("--preprocess", options->preprocess, kPreprocessHelp);
  command->add_option("--device", options->request.extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([command, options] { run_enrol(*command, *options); });
}

const Command kRegister{Order::kEnrol, &add_enrol_command};

}  // namespace
}  // namespace protocom::cli
