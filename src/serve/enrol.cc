#include "protocom/serve/enrol.h"

#include <optional>
#include <utility>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/log.h"
#include "protocom/data/image_files.h"
#include "protocom/features/embed.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A store without classes over the files that the request names.
ClassStore make_store(const fs::path& path, const EnrolRequest& request) {
  const StoreFiles& files = request.files;
  const auto missing = [&](const char* name) {
    fail_usage(
        "{} does not exist yet: to make it, --backbone, --fitted (of protocom fit) or --model (of protocom complete), "
        "and --knowledge are needed ({} is missing)",
        path.string(), name);
  };
  if (files.backbone.empty()) missing("--backbone");
  if (files.model.empty() && files.fitted.empty()) missing("--fitted or --model");
  if (!files.model.empty() && !files.fitted.empty())
    fail_usage("a store has a completion model or a fitted method: give --model or --fitted, not both");
  if (!files.model.empty() && files.knowledge.empty()) missing("--knowledge");
  ClassStore store;
  store.backbone = FileReference::to(files.backbone);
  if (!files.model.empty()) store.model = FileReference::to(files.model);
  if (!files.fitted.empty()) store.fitted = FileReference::to(files.fitted);
  if (!files.knowledge.empty()) store.knowledge = FileReference::to(files.knowledge);
  return store;
}

ClassStore open_store(const fs::path& path, const EnrolRequest& request) {
  return fs::exists(path) ? read_class_store(path) : make_store(path, request);
}

bool same_files(const ClassStore& a, const ClassStore& b) {
  return a.backbone.hash == b.backbone.hash && a.model.hash == b.model.hash && a.fitted.hash == b.fitted.hash &&
         a.knowledge.hash == b.knowledge.hash;
}

bool says_something(const ClassRequest& request) { return !request.attributes.empty() || !request.synset.empty(); }

/// The description of a class that is new to the store, or described although it is not.
std::optional<ClassDescription> describe(const fs::path& path, const EnrolRequest& request, ClassStore& store) {
  const StoreModel model = read_store_model(store, path, request.files);
  store.attributes = model.attributes();
  const ClassRequest& said = request.description;
  if (store.knowledge.path.empty()) {
    if (!store.attributes.empty())
      fail_usage("the method was fitted with knowledge of the classes: give the same file with --knowledge");
    return describe_without_knowledge(said);
  }
  const fs::path knowledge = locate(store.knowledge, "knowledge", path, request.files.knowledge);
  if (!says_something(said) && store.find(said.name) != nullptr) return std::nullopt;
  return describe_class(read_knowledge(knowledge), model, said);
}

/// The backbone of a store, with the preprocessing that was chosen when it was made: what the model's features had,
/// else what the user says. A new store's model has to take what its backbone gives: said before anything is written.
std::unique_ptr<Backbone> open_store_backbone(const fs::path& path, const EnrolRequest& request, ClassStore& store) {
  const fs::path file = locate(store.backbone, "backbone", path, request.files.backbone);
  ForeignBackbone said;
  if (fs::exists(path)) {
    said.preprocessing = store.preprocessing;
    return open_backbone(file, said);
  }
  const StoreModel model = read_store_model(store, path, request.files);
  said.preprocessing = request.preprocessing ? request.preprocessing : model.preprocessing;
  auto backbone = open_backbone(file, said);
  if (model.feature_dim() != backbone->dim()) {
    fail("the backbone gives features of {} dimensions, the {} takes {}: it was made with another backbone",
         backbone->dim(), model.fitted ? "fitted method" : "completion model", model.feature_dim());
  }
  if (const auto trained = model.preprocessing; trained && !(*trained == backbone->preprocessing()))
    logger().warn("images are brought to '{}', those of the model's features were '{}'",
                  describe(backbone->preprocessing()), describe(*trained));
  store.preprocessing = backbone->preprocessing();
  store.feature_dim = backbone->dim();
  return backbone;
}

/// Features of the images by the store's backbone, whose sizes a new store takes over.
EnrolledImages embed(const fs::path& path, const EnrolRequest& request, ClassStore& store, Enrolment& done,
                     Progress& progress) {
  const auto backbone = open_store_backbone(path, request, store);
  FoundImages found = find_images(request.images);
  EmbeddedFiles embedded = embed_files(*backbone, found.paths, request.extract, progress);
  done.skipped = std::move(found.skipped);
  done.unreadable = std::move(found.unreadable);
  done.unreadable.insert(done.unreadable.end(), embedded.unreadable.begin(), embedded.unreadable.end());
  if (embedded.paths.empty()) fail("{}; nothing was enrolled", done.unreadable.front().reason);
  done.given = embedded.features.size(0);
  return {std::move(embedded.features), std::move(embedded.hashes)};
}

}  // namespace

Enrolment enrol(const fs::path& path, const EnrolRequest& request, const Provenance& provenance, Progress& progress) {
  const std::string& name = request.description.name;
  ClassStore opened = open_store(path, request);
  std::optional<ClassDescription> description = describe(path, request, opened);
  Enrolment done;
  const EnrolledImages images = embed(path, request, opened, done, progress);

  const StoreLock lock(path);
  // Another process may have enrolled something in the meantime: what counts is the store as it is now.
  done.store = fs::exists(path) ? read_class_store(path) : opened;
  if (!same_files(done.store, opened)) fail("{}: another process has just made it from other files", path.string());
  const bool is_new = done.store.find(name) == nullptr;
  if (is_new) {
    add_class(done.store, name, std::move(description).value());
  } else if (says_something(request.description)) {
    fail(
        "{} already has a class '{}'; its attributes cannot be changed, leave --attributes and --synset out to add "
        "images",
        path.string(), name);
  }
  done.added = add_images(done.store, name, images);
  if (is_new || done.added > 0) write_class_store(path, done.store, provenance);
  return done;
}

}  // namespace protocom
