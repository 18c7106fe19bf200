#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <optional>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "eval/test_figures.h"
#include "images.h"
#include "methods.h"
#include "recognizer/class_groups.h"
#include "recognizer/class_words.h"
#include "recognizer/create_recognizer.h"
#include "recognizer/enrol_sources.h"
#include "recognizer/export_loss.h"
#include "recognizer/export_onnx.h"
#include "recognizer/occlusion.h"
#include "recognizer/results_json.h"
#include "recognizer/series.h"
#include "recognizer/shared_recognizer.h"
#include "report/test_files.h"
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
  options.coverage = given["coverage"].cast<std::optional<double>>();
  options.roll_up = given["roll_up"].cast<std::optional<double>>();
  options.groups = given["groups"].cast<std::map<std::string, std::string>>();
  options.shares = given["shares"].cast<std::map<std::string, double>>();
  return options;
}

/// Takes (file, least confidence, kinds, margin), as Boxes has them.
BoxChoice box_choice(const py::object& given) {
  const auto [file, least, kinds, margin] =
      given.cast<std::tuple<fs::path, double, std::vector<std::string>, double>>();
  return {file, least, kinds, margin};
}

/// Takes (question, annotator, classes_from).
ListChoices list_choices(const py::object& given) {
  const auto [question, annotator, classes_from] = given.cast<std::tuple<std::string, std::string, std::string>>();
  return {question, annotator, classes_from};
}

RecognizerParts parts_of(const py::dict& given) {
  RecognizerParts parts;
  parts.boxes = box_choice(given["boxes"]);
  parts.lists = list_choices(given["lists"]);
  const auto path = [&](const char* name) { return given[name].cast<fs::path>(); };
  parts.backbone = path("backbone");
  parts.model = path("model");
  parts.fitted = path("fitted");
  parts.space = path("space");
  parts.knowledge = path("knowledge");
  parts.text_encoder = path("text_encoder");
  parts.images = path("images");
  parts.attributes = path("attributes");
  const auto unlabelled = given["unlabelled"].cast<std::vector<fs::path>>();
  parts.unlabelled.assign(unlabelled.begin(), unlabelled.end());
  parts.device = given["device"].cast<std::string>();
  parts.output = given["output"].cast<std::string>();
  parts.preprocessing = given["preprocess"].cast<std::string>();
  parts.backbone_inside = !given["external_backbone"].cast<bool>();
  parts.half_features = given["half_features"].cast<bool>();
  parts.moments = given["moments"].cast<std::string>();
  if (!given["thumbnails"].cast<bool>()) parts.thumbnail_side = 0;
  return parts;
}

/// Returns the result of `work`, which has exclusive use of the recognizer while other Python threads run.
template <typename Work>
auto called(SharedRecognizer& own, const Work& work) {
  return unlocked([&] { return own.call(work); });
}

json answers_json(const std::vector<Answer>& answers) {
  json all = json::array();
  for (const Answer& answer : answers) all.push_back(answer_json(answer));
  return all;
}

json enrol_folder(SharedRecognizer& own, const EnrolSources& sources, Progress& progress) {
  json made = enrolment_json(own.enrol(sources, progress));
  made["expected"] =
      own.call([](Recognizer& recognizer) { return sentence_of(recognizer.expected_accuracy(), "enrolled images"); });
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
    all.push_back({{"example", entry.id},
                   {"class", entry.class_name},
                   {"source", entry.source},
                   {"time", entry.time},
                   {"hash", entry.hash},
                   {"confirmed", entry.confirmed}});
  return all;
}

/// Description of a class: a dict of its name, attributes, descriptions and the text encoder for these.
class Said {
 public:
  explicit Said(const py::dict& given) : encoder_(given["text_encoder"].cast<std::shared_ptr<TextEncoder>>()) {
    said_.name = given["name"].cast<std::string>();
    said_.attributes = given["attributes"].cast<std::vector<std::string>>();
    said_.descriptions = given["descriptions"].cast<std::vector<std::string>>();
  }
  /// Takes as long as the descriptions need to be encoded.
  [[nodiscard]] ClassToDescribe request() const {
    ClassToDescribe request{said_};
    if (!said_.descriptions.empty()) describe_in_words(*encoder_, request);
    return request;
  }

 private:
  ClassRequest said_;
  SharedTextEncoder encoder_;
};

using BoundRecognizer = py::class_<SharedRecognizer, std::shared_ptr<SharedRecognizer>>;

void bind_questions(BoundRecognizer& bound) {
  bound
      .def("classify",
           [](SharedRecognizer& own, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             return python_of(unlocked([&] { return answers_json(own.classify(own.features_of(pointers(given)))); }));
           })
      .def("classify_features",
           [](SharedRecognizer& own, const py::object& features) {
             const ArrayView rows(features, "features");
             return python_of(unlocked([&] { return answers_json(own.classify(rows.array())); }));
           })
      .def("explain",
           [](SharedRecognizer& own, const py::list& images, const std::string& class_name) {
             const std::vector<GivenImage> given = given_images(images);
             return python_of(unlocked([&] {
               const std::vector<SquareImage> squares = square_images(pointers(given), own.settings().preprocessing);
               return own.call([&](Recognizer& recognizer) {
                 recognizer.class_names();  // reports errors in the classes first
                 const Array features = recognizer.features_of(covered_in_turn(squares.at(0).image));
                 return occlusion_json(occlusion_of(recognizer, features, class_name));
               });
             }));
           })
      .def("features_of",
           [](SharedRecognizer& own, const py::list& images) {
             const std::vector<GivenImage> given = given_images(images);
             return numpy_of(unlocked([&] { return own.features_of(pointers(given)); }));
           })
      .def("read", [](SharedRecognizer& own, const py::list& images) {
        const std::vector<GivenImage> given = given_images(images);
        return unlocked([&] {
          ExamplesInParts read;
          read.add(own.examples_of(pointers(given)));
          return read;
        });
      });
}

/// Binds what a recognizer tells of itself.
void bind_facts(BoundRecognizer& bound) {
  bound.def("classes", [](SharedRecognizer& own) { return python_of(called(own, &classes_json)); })
      .def("examples",
           [](SharedRecognizer& own, const std::string& name) {
             return python_of(called(own, [&](Recognizer& recognizer) { return examples_json(recognizer, name); }));
           })
      .def(
          "thumbnail",
          [](SharedRecognizer& own, int64_t example) {
            return py::bytes(called(own, [&](Recognizer& recognizer) { return recognizer.file().thumbnail(example); }));
          })
      .def("method",
           [](SharedRecognizer& own) {
             return called(own, [](Recognizer& recognizer) { return recognizer.method().label(); });
           })
      .def("feature_dim",
           [](SharedRecognizer& own) {
             return called(own, [](Recognizer& recognizer) { return recognizer.file().settings().feature_dim; });
           })
      .def("calibration",
           [](SharedRecognizer& own) {
             return python_of(called(own, [](Recognizer& recognizer) {
               return recognizer.calibration() ? to_json(*recognizer.calibration()) : json(nullptr);
             }));
           })
      .def("unlabelled",
           [](SharedRecognizer& own) {
             return called(own, [](Recognizer& recognizer) { return recognizer.file().count_unlabelled(); });
           })
      .def("expected_accuracy", [](SharedRecognizer& own) {
        return called(
            own, [](Recognizer& recognizer) { return sentence_of(recognizer.expected_accuracy(), "enrolled images"); });
      });
}

/// Binds a test, and the comparison of two on the same images.
void bind_tests(py::module_& module, BoundRecognizer& bound) {
  py::class_<TestResult>(module, "TestResult")
      .def("fields", [](const TestResult& own) { return python_of(test_json(own)); })
      .def("sentence", [](const TestResult& own) { return accuracy_sentence(own); })
      .def("compare",
           [](const TestResult& own, const TestResult& other) {
             const TestComparison made = compare_tests(other, own);
             json fields = comparison_json(made);
             fields["sentence"] = comparison_sentence(made);
             return python_of(fields);
           })
      .def("write_csv", [](const TestResult& own, const fs::path& path,
                           const TestResult* other) { unlocked([&] { write_test_csv(path, own, other); }); })
      .def("write_page", [](const TestResult& own, const fs::path& path, const TestResult* other, int64_t worst) {
        unlocked([&] { write_test_page(path, own, other, worst); });
      });
  bound
      .def("test",
           [](SharedRecognizer& own, const ExamplesInParts& images, const std::vector<std::string>& labels,
              const std::vector<int64_t>& numbers, const std::vector<std::string>& unreadable) {
             return unlocked([&] {
               TestResult made = own.test(ExamplesInParts(images).joined(), labels, numbers);
               for (const std::string& reason : unreadable) made.unreadable.push_back({{}, reason});
               return made;
             });
           })
      .def("test_features",
           [](SharedRecognizer& own, const py::object& features, const std::vector<std::string>& labels) {
             const ArrayView rows(features, "features");
             return unlocked([&] { return own.test(own.examples_of(rows.array()), labels); });
           })
      .def("test_at", [](SharedRecognizer& own, const fs::path& path, const py::object& boxes, const py::object& lists,
                         py::object callback) {
        PythonProgress progress(std::move(callback));
        const BoxChoice chosen_boxes = box_choice(boxes);
        const ListChoices chosen_lists = list_choices(lists);
        return unlocked([&] {
          EnrolSources sources = sources_at(path);
          sources.boxes = chosen_boxes;
          sources.lists = chosen_lists;
          return own.test(sources, progress);
        });
      });
}

void bind_labels(py::module_& module, BoundRecognizer& bound) {
  bound
      .def(
          "suggest",
          [](SharedRecognizer& own, const ExamplesInParts& images, int64_t count, const std::vector<int64_t>& numbers) {
            return python_of(unlocked(
                [&] { return suggestions_json(own.suggest(ExamplesInParts(images).joined(), count, numbers)); }));
          })
      .def("suggest_features",
           [](SharedRecognizer& own, const py::object& features, int64_t count) {
             const ArrayView rows(features, "features");
             return python_of(
                 unlocked([&] { return suggestions_json(own.suggest(own.examples_of(rows.array()), count)); }));
           })
      .def("check_labels", [](SharedRecognizer& own, py::object callback) {
        PythonProgress progress(std::move(callback));
        return python_of(
            called(own, [&](Recognizer& recognizer) { return label_check_json(recognizer.check_labels(progress)); }));
      });
  module.def("read_class_groups", [](const fs::path& table) { return read_class_groups(table); });
  module.def("group_photos", [](const std::vector<fs::path>& photos, const std::string& by, double gap) {
    return group_photos(photos, parse_series(by), gap).groups;
  });
}

json export_json(const OnnxExport& made) {
  const auto path = [](const std::string& file) { return file.empty() ? json(nullptr) : json(file); };
  return {{"model", made.model},     {"labels", made.labels},   {"data", path(made.data)},
          {"page", path(made.page)}, {"input", made.input},     {"outputs", made.outputs},
          {"bytes", made.bytes},     {"classes", made.classes}, {"measured", nullptr}};
}

json export_loss_json(const ExportLoss& loss) {
  const LeftOutComparison& answers = loss.answers;
  const auto share = [&](int64_t right) {
    return answers.asked == 0 ? json(nullptr) : json(static_cast<double>(right) / static_cast<double>(answers.asked));
  };
  return {{"bytes_float32", loss.bytes},
          {"milliseconds_float32", loss.times.whole},
          {"milliseconds", loss.times.smaller},
          {"engine", loss.times.engine},
          {"photos", answers.asked},
          {"accuracy_float32", share(answers.right)},
          {"accuracy", share(answers.right_by_others)},
          {"changed", answers.changed},
          {"sentence", sentence_of(loss)}};
}

void bind_export(BoundRecognizer& bound) {
  bound.def("export_onnx", [](SharedRecognizer& own, const fs::path& path, const py::dict& given,
                              const std::vector<std::string>& images, py::object callback) {
    PythonProgress progress(std::move(callback));
    OnnxExportOptions options;
    options.features = given["features"].cast<bool>();
    options.uint8 = given["uint8"].cast<bool>();
    options.half = given["half"].cast<bool>();
    options.int8 = given["int8"].cast<bool>();
    options.page = given["page"].cast<std::string>();
    options.runtime = given["runtime"].cast<std::string>();
    options.with_feature = given["with_feature"].cast<bool>();
    options.external_data = given["external_data"].cast<bool>();
    return python_of(called(own, [&](Recognizer& recognizer) {
      json made = export_json(export_onnx(recognizer, path, options));
      if (!options.features && (options.half || options.int8))
        made["measured"] = export_loss_json(export_loss(recognizer, options, images, progress));
      return made;
    }));
  });
}

void bind_unlabelled(BoundRecognizer& bound) {
  bound
      .def("check_learns_from_unlabelled",
           [](SharedRecognizer& own) { unlocked([&] { own.check_learns_from_unlabelled(); }); })
      .def("add_unlabelled",
           [](SharedRecognizer& own, const ExamplesInParts& images) {
             return unlocked([&] { return own.add_unlabelled(ExamplesInParts(images).joined()); });
           })
      .def("add_unlabelled_features",
           [](SharedRecognizer& own, const py::object& features) {
             const ArrayView rows(features, "features");
             return unlocked([&] { return own.add_unlabelled(own.examples_of(rows.array())); });
           })
      .def("remove_unlabelled", [](SharedRecognizer& own) {
        return called(own, [](Recognizer& recognizer) { return recognizer.file().remove_all_unlabelled(); });
      });
}

void bind_enrolment(BoundRecognizer& bound) {
  bound
      .def("enrol",
           [](SharedRecognizer& own, const py::dict& stated, const ExamplesInParts& images) {
             const Said said(stated);
             return python_of(
                 unlocked([&] { return enrolment_json(own.enrol(said.request(), ExamplesInParts(images).joined())); }));
           })
      .def("enrol_features",
           [](SharedRecognizer& own, const py::dict& stated, const py::object& features) {
             const ArrayView rows(features, "features");
             const Said said(stated);
             return python_of(
                 unlocked([&] { return enrolment_json(own.enrol(said.request(), own.examples_of(rows.array()))); }));
           })
      .def("enrol_folder",
           [](SharedRecognizer& own, const fs::path& folder, const fs::path& table, const py::object& boxes,
              const py::object& lists, py::object callback) {
             PythonProgress progress(std::move(callback));
             EnrolSources sources;
             sources.folder = folder;
             sources.table = table;
             sources.boxes = box_choice(boxes);
             sources.lists = list_choices(lists);
             return python_of(unlocked([&] { return enrol_folder(own, sources, progress); }));
           })
      .def("calibrate", [](SharedRecognizer& own, const py::object& others, bool similar,
                           std::optional<double> false_accept, py::object callback) {
        const ArrayView rows(others, "features");
        PythonProgress progress(std::move(callback));
        CalibrationOptions options;
        options.false_accept = false_accept;
        options.similar = similar;
        return python_of(unlocked([&] { return to_json(own.calibrate(rows.array(), options, progress)); }));
      });
}

void bind_corrections(BoundRecognizer& bound) {
  bound
      .def("rename",
           [](SharedRecognizer& own, const std::string& name, const std::string& to) {
             called(own, [&](Recognizer& recognizer) { recognizer.file().rename_class(name, to); });
           })
      .def("merge",
           [](SharedRecognizer& own, const std::string& name, const std::string& into) {
             called(own, [&](Recognizer& recognizer) { recognizer.file().merge_class(name, into); });
           })
      .def("remove",
           [](SharedRecognizer& own, const std::string& name) {
             called(own, [&](Recognizer& recognizer) { recognizer.file().remove_class(name); });
           })
      .def("remove_examples",
           [](SharedRecognizer& own, const std::vector<int64_t>& ids) {
             called(own, [&](Recognizer& recognizer) { recognizer.file().remove_examples(ids); });
           })
      .def("confirm_examples",
           [](SharedRecognizer& own, const std::vector<int64_t>& ids) {
             called(own, [&](Recognizer& recognizer) { recognizer.file().confirm_examples(ids); });
           })
      .def("move_examples",
           [](SharedRecognizer& own, const std::vector<int64_t>& ids, const std::string& into) {
             return called(own, [&](Recognizer& recognizer) { return recognizer.file().move_examples(ids, into); });
           })
      .def("undo",
           [](SharedRecognizer& own) {
             return called(own, [](Recognizer& recognizer) { return recognizer.file().undo().what; });
           })
      .def("redo", [](SharedRecognizer& own) {
        return called(own, [](Recognizer& recognizer) { return recognizer.file().redo().what; });
      });
}

}  // namespace

void bind_recognizer(py::module_& module) {
  // Examples that a recognizer keeps of images read in several calls.
  py::class_<ExamplesInParts, std::shared_ptr<ExamplesInParts>>(module, "ReadImages")
      .def(py::init<>())
      .def("add", [](ExamplesInParts& own, const ExamplesInParts& more) { own.add(ExamplesInParts(more).joined()); });
  BoundRecognizer bound(module, "Recognizer");
  bound.def(py::init([](const fs::path& path, const py::dict& given) {
    const RecognizerOptions options = recognizer_options(given);
    return unlocked([&] { return std::make_shared<SharedRecognizer>(path, options); });
  }));
  bind_questions(bound);
  bind_facts(bound);
  bind_tests(module, bound);
  bind_labels(module, bound);
  bind_export(bound);
  bind_unlabelled(bound);
  bind_enrolment(bound);
  bind_corrections(bound);
  module.def("create_recognizer", [](const fs::path& path, const py::dict& given) {
    const RecognizerParts parts = parts_of(given);
    Provenance provenance;
    provenance.command = "recognizer create";
    unlocked([&] { create_recognizer(path, parts, provenance); });
  });
}

}  // namespace protocom::python
