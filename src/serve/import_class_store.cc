#include <utility>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/serve/class_store.h"
#include "protocom/serve/create_recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// `given`, or the file that the store names.
fs::path find(const FileReference& reference, const char* what, const fs::path& store, const fs::path& given) {
  return reference.path.empty() ? fs::path() : locate(reference, what, store, given);
}

NewRecognizer parts_of(const ClassStore& store, const fs::path& path, NewRecognizer parts) {
  parts.backbone = find(store.backbone, "backbone", path, parts.backbone);
  parts.model = find(store.model, "model", path, parts.model);
  parts.fitted = find(store.fitted, "fitted", path, parts.fitted);
  parts.knowledge = find(store.knowledge, "knowledge", path, parts.knowledge);
  parts.preprocessing = store.preprocessing;
  return parts;
}

Enrolee enrolee_of(const StoredClass& stored) {
  Enrolee enrolee{stored.name, stored.description};
  if (stored.features.defined()) {
    enrolee.examples.features = stored.features;
    enrolee.examples.hashes = stored.image_hashes;
  }
  return enrolee;
}

}  // namespace

void import_class_store(const fs::path& store, const fs::path& path, const NewRecognizer& parts,
                        const Provenance& provenance) {
  const ClassStore read = read_class_store(store);
  check_absent(path);
  write_file_with(path, [&](const fs::path& temporary) {
    create_recognizer(temporary, parts_of(read, store, parts), provenance);
    RecognizerFile file(temporary);
    std::vector<Enrolee> enrolees;
    for (const StoredClass& one : read.classes) enrolees.push_back(enrolee_of(one));
    if (!enrolees.empty()) file.enrol(enrolees);
    for (const StoredClass& one : read.classes) {
      if (!one.features.defined() && one.count > 0) file.add_moments(one);
    }
    file.compact();
  });
}

}  // namespace protocom
