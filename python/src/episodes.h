#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "datasets/episodes.h"

namespace protocom::python {

namespace py = pybind11;

using SharedFeatures = std::shared_ptr<const FeatureSet>;

/// Episodes and the features that their rows index.
struct Episodes {
  SharedFeatures features;
  EpisodeList list;
};

void bind_episodes(py::module_& module);

}  // namespace protocom::python
