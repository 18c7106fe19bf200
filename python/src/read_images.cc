#include "read_images.h"

#include <memory>
#include <string>
#include <utility>

namespace protocom::python {
namespace {

void append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& one : more) all.push_back(std::move(one));
}

}  // namespace

void ReadImages::add(NewExamples more) {
  if (more.hashes.empty()) return;
  features_.push_back(std::move(more.features));
  append(rest_.hashes, std::move(more.hashes));
  append(rest_.sources, std::move(more.sources));
  append(rest_.thumbnails, std::move(more.thumbnails));
}

NewExamples ReadImages::joined() const {
  NewExamples all = rest_;
  if (!features_.empty()) all.features = Array::joined(features_);
  return all;
}

void bind_read_images(py::module_& module) {
  py::class_<ReadImages, std::shared_ptr<ReadImages>>(module, "ReadImages")
      .def(py::init<>())
      .def("add", [](ReadImages& own, const ReadImages& more) { own.add(more.joined()); });
}

}  // namespace protocom::python
