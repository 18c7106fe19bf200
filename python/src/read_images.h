#pragma once
#include <pybind11/pybind11.h>

#include <vector>

#include "store/recognizer_file.h"

namespace protocom::python {

namespace py = pybind11;

/// What a recognizer keeps of images that were read in several calls, in their order.
class ReadImages {
 public:
  /// Adds those of one call.
  void add(NewExamples more);
  /// All of them; without any, features are undefined.
  [[nodiscard]] NewExamples joined() const;

 private:
  std::vector<Array> features_;  // [n, d] of each call
  NewExamples rest_;             // of all calls, without features
};

void bind_read_images(py::module_& module);

}  // namespace protocom::python
