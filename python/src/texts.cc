#include "texts.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "calls.h"
#include "methods.h"
#include "recognizer/class_words.h"

namespace protocom::python {

void bind_texts(py::module_& module) {
  py::class_<TextEncoder, std::shared_ptr<TextEncoder>>(module, "TextEncoder")
      .def(py::init([](const std::filesystem::path& folder) {
        return unlocked([&] { return std::make_shared<TextEncoder>(open_text_encoder(folder)); });
      }))
      .def_property_readonly("dim", &TextEncoder::dim)
      .def_property_readonly("longest", &TextEncoder::longest)
      .def_property_readonly("compares_with_images", &TextEncoder::compares_with_images)
      .def("encode", [](const TextEncoder& own, const std::vector<std::string>& texts) {
        return numpy_of(unlocked([&] { return encode_texts(own, texts); }));
      });
}

}  // namespace protocom::python
