#include "images.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <mutex>

#include "arrays.h"
#include "base/error.h"
#include "base/parallel.h"
#include "calls.h"
#include "encoders/extract.h"
#include "io/files.h"
#include "methods.h"

namespace protocom::python {
namespace {

Image pixels_of(const py::handle& given) {
  const ArrayView view(py::reinterpret_borrow<py::object>(given), "an image");
  const at::Tensor& pixels = view.tensor();
  if (pixels.dim() != 3 || pixels.size(2) != 3 || pixels.scalar_type() != at::kByte || pixels.numel() == 0)
    fail("an image should be uint8 [height, width, 3] in RGB, found {} [{}]", c10::toString(pixels.scalar_type()),
         fmt::join(pixels.sizes(), ", "));
  const auto* first = pixels.data_ptr<uint8_t>();
  return {pixels.size(0), pixels.size(1), std::vector<uint8_t>(first, first + pixels.numel())};
}

GivenImage given_image(const py::handle& given) {
  if (py::isinstance<py::str>(given)) return {given.cast<std::filesystem::path>(), {}, {}};
  if (py::isinstance<py::bytes>(given)) return {{}, given.cast<std::string>(), {}};
  return {{}, {}, pixels_of(given)};
}

SquareImage square_image(const GivenImage& given, size_t number, const Preprocessing& preprocessing) {
  if (!given.pixels.rgb.empty()) {
    const std::string_view bytes(reinterpret_cast<const char*>(given.pixels.rgb.data()), given.pixels.rgb.size());
    return {resize_and_crop(given.pixels, preprocessing), hash_bytes(bytes), "memory"};
  }
  const bool is_file = !given.path.empty();
  const std::string where = is_file ? given.path.string() : fmt::format("image {}", number);
  const std::string bytes = is_file ? read_file(given.path) : given.bytes;
  try {
    return {decode_square_image(bytes, preprocessing), hash_bytes(bytes), is_file ? where : "memory"};
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
  }
}

/// An encoder for one thread at a time.
class SharedBackbone {
 public:
  SharedBackbone(const std::filesystem::path& path, const std::string& preprocessing, const std::string& output,
                 std::string device) {
    BackboneFileOptions asked;
    asked.output = output;
    if (!preprocessing.empty()) asked.preprocessing = parse_preprocessing(preprocessing);
    options_.device = std::move(device);
    backbone_ = open_backbone(path, asked);
    freeze_for(*backbone_, options_);
  }

  [[nodiscard]] const Backbone& backbone() const { return *backbone_; }

  /// float32 [n, d]
  at::Tensor extract(const std::vector<GivenImage>& images, Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (images.empty()) fail("there is no image to extract features of");
    const auto total = static_cast<int64_t>(images.size());
    progress.start("extract", total);
    std::vector<at::Tensor> parts;
    for (int64_t i = 0; i < total; i += options_.batch) {
      const int64_t end = std::min(i + options_.batch, total);
      std::vector<SquareImage> some =
          square_images({images.begin() + i, images.begin() + end}, backbone_->preprocessing());
      parts.push_back(extract_square_features(*backbone_, take_images(some), options_));
      progress.advance(end, "");
    }
    progress.finish();
    return at::cat(parts);
  }

 private:
  std::mutex mutex_;
  ExtractOptions options_;
  std::unique_ptr<Backbone> backbone_;
};

}  // namespace

std::vector<GivenImage> given_images(const py::list& images) {
  std::vector<GivenImage> given;
  for (const py::handle& image : images) given.push_back(given_image(image));
  return given;
}

std::vector<SquareImage> square_images(const std::vector<GivenImage>& images, const Preprocessing& preprocessing) {
  std::vector<SquareImage> squares(images.size());
  parallel_for(0, static_cast<int64_t>(images.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      squares[i] = square_image(images[i], i, preprocessing);
  });
  return squares;
}

std::vector<Image> take_images(std::vector<SquareImage>& images) {
  std::vector<Image> taken;
  for (SquareImage& image : images) taken.push_back(std::move(image.image));
  return taken;
}

void bind_images(py::module_& module) {
  py::class_<SharedBackbone, std::shared_ptr<SharedBackbone>>(module, "Backbone")
      .def(py::init([](const std::filesystem::path& path, const std::string& preprocessing, const std::string& output,
                       std::string device) {
        return unlocked(
            [&] { return std::make_shared<SharedBackbone>(path, preprocessing, output, std::move(device)); });
      }))
      .def_property_readonly("dim", [](const SharedBackbone& own) { return own.backbone().dim(); })
      .def_property_readonly("image_size", [](const SharedBackbone& own) { return own.backbone().image_size(); })
      .def_property_readonly("preprocessing",
                             [](const SharedBackbone& own) { return describe(own.backbone().preprocessing()); })
      .def("extract", [](SharedBackbone& own, const py::list& images, py::object callback) {
        const std::vector<GivenImage> given = given_images(images);
        PythonProgress progress(std::move(callback));
        return array_of(unlocked([&] { return own.extract(given, progress); }));
      });
}

}  // namespace protocom::python
