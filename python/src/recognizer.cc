#include "recognizer/recognizer.h"

#include <ATen/ATen.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <mutex>
#include <optional>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "images.h"
#include "images/image_files.h"
#include "methods.h"
#include "recognizer/answer_json.h"
#include "recognizer/class_words.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/enrol_requests.h"
#include "texts.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

RecognizerOptions recognizer_options(const py::dict& given) {
  RecognizerOptions options;
  options.method = given["method"].cast<std::string>();
  options.together = given["together"].cast<bool>();
  options.device = given["device"].cast<std::string>();
  options.top = given["top"].cast<int64_t>();
  options.nearest = given["nearest"].cast<int64_t>();
  options.attributes = given["attributes"].cast<int64_t>();
  options.shares = given["shares"].cast<std::map<std::string, double>>();
  return options;
}

RecognizerParts parts_of(const py::dict& given) {
  RecognizerParts parts;
  const auto path = [&](const char* name) { return given[name].cast<fs::path>(); };
  parts.backbone = path("backbone");
  parts.model = path("model");
  parts.fitted = path("fitted");
  parts.space = path("space");
  parts.knowledge = path("knowledge");
  parts.text_encoder = path("text_encoder");
  parts.images = path("images");
  parts.attributes = path("attributes");
  parts.unlabelled = given["unlabelled"].cast<std::vector<std::string>>();
  parts.device = given["device"].cast<std::string>();
  parts.output = given["output"].cast<std::string>();
  parts.preprocessing = given["preprocess"].cast<std::string>();
  parts.backbone_inside = !given["external_backbone"].cast<bool>();
  parts.half_features = given["half_features"].cast<bool>();
  if (!given["thumbnails"].cast<bool>()) parts.thumbnail_side = 0;
  return parts;
}

json enrolment_json(const Enrolment& done) {
  json made = {{"classes", json::array()}, {"unreadable", json::array()}, {"skipped", done.skipped.describe()}};
  for (const EnrolledClass& enrolled : done.classes)
    made["classes"].push_back({{"class", enrolled.now.name},
                               {"new", enrolled.is_new},
                               {"added", enrolled.added},
                               {"images", enrolled.now.images}});
  for (const UnreadableFile& file : done.unreadable) made["unreadable"].push_back(file.reason);
  return made;
}

json calibration_json(const Calibration& made) {
  json fields = to_json(made);
  fields["accepted"] = made.accepted;
  return fields;
}

/// What was extracted elsewhere, as enrolments take it.
NewExamples examples_of(const at::Tensor& features) { return examples_of_features(features, "memory"); }

/// float32 [n, d], as a recognizer's file keeps it.
at::Tensor checked_features(const Recognizer& recognizer, const at::Tensor& features) {
  const int64_t dim = recognizer.file().settings().feature_dim;
  if (features.dim() != 2 || features.size(0) == 0 || features.size(1) != dim ||
      !at::isFloatingType(features.scalar_type()))
    fail("features should be float32 [n, {}], as the recognizer's backbone makes them; found {} [{}]", dim,
         c10::toString(features.scalar_type()), fmt::join(features.sizes(), ", "));
  return features.to(at::kFloat);
}

/// A recognizer for many threads, one at a time.
class SharedRecognizer {
 public:
  SharedRecognizer(const fs::path& path, const RecognizerOptions& options)
      : recognizer_(Recognizer::open(path, options)) {}

  /// The result of `work`, which runs while other Python threads do.
  template <typename Work>
  auto call(const Work& work) {
    return unlocked([&] {
      const std::lock_guard lock(mutex_);
      return work(recognizer_);
    });
  }

 private:
  std::mutex mutex_;
  Recognizer recognizer_;
};

json answers_json(const std::vector<Answer>& answers) {
  json all = json::array();
  for (const Answer& answer : answers) all.push_back(answer_json(answer));
  return all;
}

json classify(Recognizer& recognizer, const std::vector<GivenImage>& given) {
  constexpr size_t kBatch = 64;
  std::vector<at::Tensor> features;
  for (size_t i = 0; i < given.size(); i += kBatch) {
    const std::vector<GivenImage> some(given.begin() + static_cast<std::ptrdiff_t>(i),
                                       given.begin() + static_cast<std::ptrdiff_t>(std::min(i + kBatch, given.size())));
    std::vector<SquareImage> squares = square_images(some, recognizer.file().settings().preprocessing);
    features.push_back(recognizer.features_of(take_images(squares)));
  }
  if (features.empty()) fail("there is no image to classify");
  return answers_json(recognizer.classify_features(at::cat(features)));
}

NewExamples examples_of(Recognizer& recognizer, const std::vector<GivenImage>& given) {
  std::vector<SquareImage> squares = square_images(given, recognizer.file().settings().preprocessing);
  NewExamples examples;
  for (const SquareImage& image : squares) {
    examples.hashes.push_back(image.hash);
    examples.sources.push_back(image.source);
    examples.thumbnails.push_back(recognizer.thumbnail_of(image.image));
  }
  if (!squares.empty()) examples.features = recognizer.features_of(take_images(squares));
  return examples;
}

json enrol(Recognizer& recognizer, const ClassRequest& request, NewExamples examples) {
  ClassEnrolment enrolment = recognizer.describe(request);
  enrolment.examples = std::move(examples);
  Enrolment done;
  done.classes = recognizer.file().enrol({enrolment});
  return enrolment_json(done);
}

json enrol_folder(Recognizer& recognizer, const fs::path& folder, const fs::path& table, Progress& progress) {
  std::vector<EnrolRequest> requests = requests_of_folder(folder, "enrol_folder");
  if (!table.empty()) take_attributes(table, requests);
  json made = enrolment_json(recognizer.enrol(requests, progress));
  made["expected"] = sentence_of(recognizer.expected_accuracy(), "enrolled images");
  return made;
}

json classes_json(const Recognizer& recognizer) {
  json all = json::array();
  for (const ClassInfo& entry : recognizer.file().list_classes())
    all.push_back({{"class", entry.name}, {"title", entry.title}, {"images", entry.images}});
  return all;
}

json examples_json(const Recognizer& recognizer, const std::string& name) {
  json all = json::array();
  for (const ExampleInfo& entry : recognizer.file().list_examples(name))
    all.push_back({{"example", entry.id}, {"class", entry.class_name}, {"source", entry.source}});
  return all;
}

/// What is said of a class: a dict of its name, attributes, descriptions and the text encoder for these.
class Said {
 public:
  explicit Said(const py::dict& given)
      : descriptions_(given["descriptions"].cast<std::vector<std::string>>()),
        encoder_(given["text_encoder"].cast<std::shared_ptr<TextEncoder>>()) {
    request_.name = given["name"].cast<std::string>();
    request_.attributes = given["attributes"].cast<std::vector<std::string>>();
  }
  /// Takes as long as the descriptions need.
  [[nodiscard]] ClassRequest request() const {
    ClassRequest request = request_;
    if (!descriptions_.empty()) describe_in_words(*encoder_, descriptions_, request);
    return request;
  }

 private:
  ClassRequest request_;
  std::vector<std::string> descriptions_;
  SharedTextEncoder encoder_;
};

using BoundRecognizer = py::class_<SharedRecognizer, std::shared_ptr<SharedRecognizer>>;

void bind_questions(BoundRecognizer& bound) {
  bound
      .def("classify",
           [](SharedRecognizer& own, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             return python_of(own.call([&](Recognizer& recognizer) { return classify(recognizer, given); }));
           })
      .def("classify_features",
           [](SharedRecognizer& own, const py::object& features) {
             const ArrayView rows(features, "features");
             return python_of(own.call([&](Recognizer& recognizer) {
               return answers_json(recognizer.classify_features(checked_features(recognizer, rows.tensor())));
             }));
           })
      .def("features_of",
           [](SharedRecognizer& own, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             return array_of(own.call([&](Recognizer& recognizer) { return examples_of(recognizer, given).features; }));
           })
      .def("classes", [](SharedRecognizer& own) { return python_of(own.call(&classes_json)); })
      .def("examples",
           [](SharedRecognizer& own, const std::string& name) {
             return python_of(own.call([&](Recognizer& recognizer) { return examples_json(recognizer, name); }));
           })
      .def("thumbnail",
           [](SharedRecognizer& own, int64_t example) {
             return py::bytes(own.call([&](Recognizer& recognizer) { return recognizer.file().thumbnail(example); }));
           })
      .def("method",
           [](SharedRecognizer& own) {
             return own.call([](Recognizer& recognizer) { return recognizer.method().label(); });
           })
      .def("feature_dim",
           [](SharedRecognizer& own) {
             return own.call([](Recognizer& recognizer) { return recognizer.file().settings().feature_dim; });
           })
      .def("calibration",
           [](SharedRecognizer& own) {
             return python_of(own.call([](Recognizer& recognizer) {
               return recognizer.calibration() ? calibration_json(*recognizer.calibration()) : json(nullptr);
             }));
           })
      .def("unlabelled",
           [](SharedRecognizer& own) {
             return own.call([](Recognizer& recognizer) { return recognizer.file().count_unlabelled(); });
           })
      .def("expected_accuracy", [](SharedRecognizer& own) {
        return own.call(
            [](Recognizer& recognizer) { return sentence_of(recognizer.expected_accuracy(), "enrolled images"); });
      });
}

void bind_unlabelled(BoundRecognizer& bound) {
  bound
      .def("add_unlabelled",
           [](SharedRecognizer& own, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             return own.call([&](Recognizer& recognizer) {
               recognizer.check_learns_from_unlabelled();
               return recognizer.file().add_unlabelled(examples_of(recognizer, given));
             });
           })
      .def("add_unlabelled_features",
           [](SharedRecognizer& own, const py::object& features) {
             const ArrayView rows(features, "features");
             return own.call([&](Recognizer& recognizer) {
               recognizer.check_learns_from_unlabelled();
               return recognizer.file().add_unlabelled(examples_of(checked_features(recognizer, rows.tensor())));
             });
           })
      .def("remove_unlabelled", [](SharedRecognizer& own) {
        return own.call([](Recognizer& recognizer) { return recognizer.file().remove_all_unlabelled(); });
      });
}

void bind_changes(BoundRecognizer& bound) {
  bound
      .def("enrol",
           [](SharedRecognizer& own, const py::dict& stated, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             const Said said(stated);
             return python_of(own.call([&](Recognizer& recognizer) {
               return enrol(recognizer, said.request(), examples_of(recognizer, given));
             }));
           })
      .def("enrol_features",
           [](SharedRecognizer& own, const py::dict& stated, const py::object& features) {
             const ArrayView rows(features, "features");
             const Said said(stated);
             return python_of(own.call([&](Recognizer& recognizer) {
               return enrol(recognizer, said.request(), examples_of(checked_features(recognizer, rows.tensor())));
             }));
           })
      .def("enrol_folder",
           [](SharedRecognizer& own, const fs::path& folder, const fs::path& table, py::object callback) {
             PythonProgress progress(std::move(callback));
             return python_of(
                 own.call([&](Recognizer& recognizer) { return enrol_folder(recognizer, folder, table, progress); }));
           })
      .def("calibrate",
           [](SharedRecognizer& own, const py::list& others, std::optional<double> false_accept, py::object callback) {
             const std::vector<GivenImage> given = given_images(others);
             PythonProgress progress(std::move(callback));
             CalibrationOptions options;
             options.false_accept = false_accept;
             return python_of(own.call([&](Recognizer& recognizer) {
               return calibration_json(
                   recognizer.calibrate_on(examples_of(recognizer, given).features, options, progress));
             }));
           })
      .def("rename",
           [](SharedRecognizer& own, const std::string& name, const std::string& to) {
             own.call([&](Recognizer& recognizer) { recognizer.file().rename_class(name, to); });
           })
      .def("merge",
           [](SharedRecognizer& own, const std::string& name, const std::string& into) {
             own.call([&](Recognizer& recognizer) { recognizer.file().merge_class(name, into); });
           })
      .def("remove",
           [](SharedRecognizer& own, const std::string& name) {
             own.call([&](Recognizer& recognizer) { recognizer.file().remove_class(name); });
           })
      .def("remove_examples",
           [](SharedRecognizer& own, const std::vector<int64_t>& ids) {
             own.call([&](Recognizer& recognizer) { recognizer.file().remove_examples(ids); });
           })
      .def("undo",
           [](SharedRecognizer& own) {
             return own.call([](Recognizer& recognizer) { return recognizer.file().undo().what; });
           })
      .def("redo", [](SharedRecognizer& own) {
        return own.call([](Recognizer& recognizer) { return recognizer.file().redo().what; });
      });
}

}  // namespace

void bind_recognizer(py::module_& module) {
  BoundRecognizer bound(module, "Recognizer");
  bound.def(py::init([](const fs::path& path, const py::dict& given) {
    const RecognizerOptions options = recognizer_options(given);
    return unlocked([&] { return std::make_shared<SharedRecognizer>(path, options); });
  }));
  bind_questions(bound);
  bind_unlabelled(bound);
  bind_changes(bound);
  module.def("create_recognizer", [](const fs::path& path, const py::dict& given) {
    const RecognizerParts parts = parts_of(given);
    Provenance provenance;
    provenance.command = "recognizer create";
    unlocked([&] { create_recognizer(path, parts, provenance); });
  });
}

}  // namespace protocom::python
