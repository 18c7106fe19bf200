#include <ATen/ATen.h>

#include "cli.h"
#include "images_from.h"
#include "protocom/core/files.h"
#include "protocom/features/extract.h"
#include "protocom/serve/class_store.h"
#include "protocom/serve/describe_class.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string store, backbone, model, knowledge, vectors;
  ClassRequest request;
  std::string wordnet = kWordNetFolder;
  std::vector<std::string> images;
  int64_t image_size = BackboneOptions().image_size;
  ExtractOptions extract;
};

/// A store without classes over the files the command names.
ClassStore make_store(const Options& options) {
  for (const auto& [name, path] :
       {std::pair{"backbone", options.backbone}, {"model", options.model}, {"knowledge", options.knowledge}}) {
    if (path.empty())
      fail_usage("{} does not exist yet: to make it, --backbone, --model and --knowledge are needed (--{} is missing)",
                 options.store, name);
  }
  ClassStore store;
  store.backbone = FileReference::to(options.backbone);
  store.model = FileReference::to(options.model);
  store.knowledge = FileReference::to(options.knowledge);
  store.image_size = options.image_size;
  return store;
}

ClassStore open_store(const Options& options) {
  return fs::exists(options.store) ? read_class_store(options.store) : make_store(options);
}

bool same_files(const ClassStore& a, const ClassStore& b) {
  return a.backbone.hash == b.backbone.hash && a.model.hash == b.model.hash && a.knowledge.hash == b.knowledge.hash;
}

EnrolledImages embed_images(const Options& options, ClassStore& store) {
  BackboneOptions backbone_options;
  backbone_options.image_size = store.image_size;
  const auto backbone =
      read_backbone(locate(store.backbone, "backbone", options.store, options.backbone), backbone_options);
  store.image_size = backbone->image_size();
  store.feature_dim = backbone->dim();
  const LoadedImages loaded = load_readable(find_images(options.images), store.image_size);
  if (!loaded.unreadable.empty()) fail("{}; nothing was enrolled", loaded.unreadable.front().reason);
  EnrolledImages images;
  for (const fs::path& path : loaded.paths) images.hashes.push_back(hash_file(path));
  images.features = extract_features(*backbone, loaded.images, options.extract);
  return images;
}

void report(const Options& options, const ClassStore& store, int64_t given, int64_t added) {
  const StoredClass& enrolled = *store.find(options.request.name);
  const ClassDescription& description = enrolled.description;
  print_table({{"class", enrolled.name + (description.title.empty() ? "" : " (" + description.title + ")")},
               {"images", fmt::format("{} ({} new)", enrolled.count, added)},
               {"attributes", std::to_string(description.association.count_nonzero().item<int64_t>())},
               {"embedding from", description.embedding_source},
               {"classes in the store", std::to_string(store.classes.size())}});
  if (added < given) logger().info("images that the class already holds do not count twice");
}

void run_enrol(const CLI::App& command, Options& options) {
  options.request.vectors = options.vectors;
  options.request.wordnet = options.wordnet;
  check_writable(options.store);
  ClassStore opened = open_store(options);
  const CompletionModel model = read_completion_model(locate(opened.model, "model", options.store, options.model));
  const fs::path knowledge = locate(opened.knowledge, "knowledge", options.store, options.knowledge);
  const bool described = !options.request.attributes.empty() || !options.request.synset.empty();
  ClassDescription description;
  if (described || opened.find(options.request.name) == nullptr) {
    description = describe_class(read_knowledge(knowledge), model, options.request);
  }
  const EnrolledImages images = embed_images(options, opened);
  opened.attributes = model.attributes;

  Provenance provenance = provenance_of(command, /*seed=*/0);
  const StoreLock lock(options.store);
  // Another process may have enrolled something in the meantime: what counts is the store as it is now.
  ClassStore store = fs::exists(options.store) ? read_class_store(options.store) : opened;
  if (!same_files(store, opened)) fail("{}: another process has just made it from other files", options.store);
  if (store.find(options.request.name) == nullptr) {
    add_class(store, options.request.name, std::move(description));
  } else if (described) {
    fail(
        "{} already has a class '{}'; its attributes cannot be changed, leave --attributes and --synset out to add "
        "images",
        options.store, options.request.name);
  }
  const int64_t added = add_images(store, options.request.name, images);
  write_class_store(options.store, store, provenance);
  report(options, store, images.features.size(0), added);
}

void add_enrol_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "enrol", "Add a class, or images of it, to a class store",
                  "protocom enrol pets.store --class okapi okapi1.jpg okapi2.jpg --attributes \"hoof,tail\" \\\n"
                  "      --backbone out/backbone.npz --model out/model.npz --knowledge out/knowledge.npz\n"
                  "  protocom enrol pets.store --class okapi more-okapis/");
  command->add_option("store", options->store, "Class store; made when it is not there")->required();
  command->add_option("images", options->images, "Images of the class, or folders of them")->required();
  command->add_option("--class", options->request.name, "Name of the class")->required();
  CLI::Option* attributes =
      command->add_option("--attributes", options->request.attributes, "What the class has, by the knowledge's names")
          ->delimiter(',')
          ->expected(1)  // a,b,c in one argument: what follows is an image
          ->take_all();
  command
      ->add_option("--synset", options->request.synset,
                   "Its WordNet synset (n02391049, zebra.n.01), instead of attributes")
      ->excludes(attributes);
  command->add_option("--backbone", options->backbone, "Backbone; an existing store knows its own");
  command->add_option("--model", options->model, "Completion model; an existing store knows its own");
  command->add_option("--knowledge", options->knowledge, "Knowledge file; an existing store knows its own");
  command->add_option("--vectors", options->vectors,
                      "Word vectors the knowledge was made with, to embed the class's name");
  command->add_option("--wordnet", options->wordnet, "Folder of the WordNet database, for --synset");
  command
      ->add_option("--image-size", options->image_size,
                   "Side of the images for a backbone that does not say it itself, pixels")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", options->extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([command, options] { run_enrol(*command, *options); });
}

const Command kRegister{Order::kEnrol, &add_enrol_command};

}  // namespace
}  // namespace protocom::cli
