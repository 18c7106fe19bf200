#include "protocom/serve/enrol.h"

#include <optional>
#include <utility>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/image_files.h"
#include "protocom/features/embed.h"
#include "protocom/fewshot/completion_model.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A store without classes over the files that the request names.
ClassStore make_store(const fs::path& path, const EnrolRequest& request) {
  const StoreFiles& files = request.files;
  for (const auto& [name, file] :
       {std::pair{"backbone", files.backbone}, {"model", files.model}, {"knowledge", files.knowledge}}) {
    if (file.empty())
      fail_usage("{} does not exist yet: to make it, --backbone, --model and --knowledge are needed (--{} is missing)",
                 path.string(), name);
  }
  ClassStore store;
  store.backbone = FileReference::to(files.backbone);
  store.model = FileReference::to(files.model);
  store.knowledge = FileReference::to(files.knowledge);
  store.image_size = request.image_size;
  return store;
}

ClassStore open_store(const fs::path& path, const EnrolRequest& request) {
  return fs::exists(path) ? read_class_store(path) : make_store(path, request);
}

bool same_files(const ClassStore& a, const ClassStore& b) {
  return a.backbone.hash == b.backbone.hash && a.model.hash == b.model.hash && a.knowledge.hash == b.knowledge.hash;
}

bool says_something(const ClassRequest& request) { return !request.attributes.empty() || !request.synset.empty(); }

/// The description of a class that is new to the store, or described although it is not.
std::optional<ClassDescription> describe(const fs::path& path, const EnrolRequest& request, ClassStore& store) {
  const CompletionModel model = read_completion_model(locate(store.model, "model", path, request.files.model));
  store.attributes = model.attributes;
  const fs::path knowledge = locate(store.knowledge, "knowledge", path, request.files.knowledge);
  const ClassRequest& said = request.description;
  if (!says_something(said) && store.find(said.name) != nullptr) return std::nullopt;
  return describe_class(read_knowledge(knowledge), model, said);
}

/// Features of the images by the store's backbone, whose sizes a new store takes over.
EnrolledImages embed(const fs::path& path, const EnrolRequest& request, ClassStore& store, Progress& progress) {
  BackboneOptions options;
  options.image_size = store.image_size;
  const auto backbone = read_backbone(locate(store.backbone, "backbone", path, request.files.backbone), options);
  store.image_size = backbone->image_size();
  store.feature_dim = backbone->dim();
  EmbeddedFiles embedded = embed_files(*backbone, find_images(request.images), request.extract, progress);
  if (!embedded.unreadable.empty()) fail("{}; nothing was enrolled", embedded.unreadable.front().reason);
  EnrolledImages images;
  for (const fs::path& image : embedded.paths) images.hashes.push_back(hash_file(image));
  images.features = std::move(embedded.features);
  return images;
}

}  // namespace

Enrolment enrol(const fs::path& path, const EnrolRequest& request, const Provenance& provenance, Progress& progress) {
  const std::string& name = request.description.name;
  ClassStore opened = open_store(path, request);
  std::optional<ClassDescription> description = describe(path, request, opened);
  const EnrolledImages images = embed(path, request, opened, progress);

  const StoreLock lock(path);
  // Another process may have enrolled something in the meantime: what counts is the store as it is now.
  Enrolment done{fs::exists(path) ? read_class_store(path) : opened, images.features.size(0), 0};
  if (!same_files(done.store, opened)) fail("{}: another process has just made it from other files", path.string());
  if (done.store.find(name) == nullptr) {
    add_class(done.store, name, std::move(description).value());
  } else if (says_something(request.description)) {
    fail(
        "{} already has a class '{}'; its attributes cannot be changed, leave --attributes and --synset out to add "
        "images",
        path.string(), name);
  }
  done.added = add_images(done.store, name, images);
  write_class_store(path, done.store, provenance);
  return done;
}

}  // namespace protocom
