#include "images.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <mutex>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "datasets/boxes.h"
#include "encoders/extract.h"
#include "images/image_files.h"
#include "images/skipped_files.h"
#include "methods.h"

namespace protocom::python {
namespace {

Image pixels_of(const py::handle& given) {
  const ArrayView view(py::reinterpret_borrow<py::object>(given), "an image");
  const Array& pixels = view.array();
  if (pixels.dim() != 3 || pixels.size(2) != 3 || pixels.type() != NumberType::kUInt8 || pixels.numel() == 0)
    fail("an image must be uint8 [height, width, 3] in RGB, found {} [{}]", to_string(pixels.type()),
         fmt::join(pixels.shape(), ", "));
  const auto* first = pixels.data<uint8_t>();
  return {pixels.size(0), pixels.size(1), std::vector<uint8_t>(first, first + pixels.numel())};
}

GivenImage given_image(const py::handle& given) {
  if (py::isinstance<py::str>(given)) return {given.cast<std::filesystem::path>(), {}, {}};
  if (py::isinstance<py::bytes>(given)) return {{}, given.cast<std::string>(), {}};
  return {{}, {}, pixels_of(given)};
}

/// An encoder shared by many threads, one pass at a time.
class SharedBackbone {
 public:
  SharedBackbone(const std::filesystem::path& path, const std::string& preprocessing, const std::string& output,
                 std::string device) {
    EncoderFileOptions asked;
    asked.output = output;
    if (!preprocessing.empty()) asked.preprocessing = parse_preprocessing(preprocessing);
    options_.device = std::move(device);
    encoder_ = open_encoder(path, asked);
    freeze_for(*encoder_, options_);
  }

  [[nodiscard]] const Encoder& encoder() const { return *encoder_; }

  /// Returns float32 [n, d].
  Array extract(const GivenImages& images, Progress& progress) {
    return extract_given_images(*encoder_, images, options_, mutex_, progress);
  }

 private:
  std::mutex mutex_;
  ExtractOptions options_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace

std::vector<GivenImage> given_images(const py::list& images) {
  std::vector<GivenImage> given;
  for (const py::handle& image : images) given.push_back(given_image(image));
  return given;
}

GivenImages pointers(const std::vector<GivenImage>& images) {
  GivenImages all;
  for (const GivenImage& image : images) all.push_back(&image);
  return all;
}

void bind_images(py::module_& module) {
  module.def("is_image_name", [](const std::filesystem::path& path) { return is_image_name(path); });
  module.def("crops", [](const std::vector<std::filesystem::path>& photos, const std::filesystem::path& file,
                         double min_confidence, const std::vector<std::string>& kinds, double margin) {
    py::list made;
    const std::vector<Crop> crops = unlocked([&] {
      const BoxFile boxes = read_boxes({file, min_confidence, kinds, margin});
      return crop_photos(find_images(std::vector<std::string>(photos.begin(), photos.end())).paths, boxes, file);
    });
    for (const Crop& crop : crops)
      made.append(py::make_tuple(crop.name.string(), crop.photo.string(), crop.kind, crop.confidence));
    return made;
  });
  py::class_<SharedBackbone, std::shared_ptr<SharedBackbone>>(module, "Backbone")
      .def(py::init([](const std::filesystem::path& path, const std::string& preprocessing, const std::string& output,
                       std::string device) {
        return unlocked(
            [&] { return std::make_shared<SharedBackbone>(path, preprocessing, output, std::move(device)); });
      }))
      .def_property_readonly("dim", [](const SharedBackbone& own) { return own.encoder().dim(); })
      .def_property_readonly("image_size", [](const SharedBackbone& own) { return own.encoder().image_size(); })
      .def_property_readonly("preprocessing",
                             [](const SharedBackbone& own) { return describe(own.encoder().preprocessing()); })
      .def("extract", [](SharedBackbone& own, const py::list& images, py::object callback) {
        const std::vector<GivenImage> given = given_images(images);
        PythonProgress progress(std::move(callback));
        return numpy_of(unlocked([&] { return own.extract(pointers(given), progress); }));
      });
}

}  // namespace protocom::python
