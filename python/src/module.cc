#include <pybind11/pybind11.h>

#include "base/blas_kernels.h"
#include "base/error.h"
#include "base/plugin.h"
#include "base/threads.h"
#include "calls.h"
#include "encoders/engine.h"
#include "encoders/onnxruntime/library.h"
#include "methods.h"

PYBIND11_MODULE(_core, module) {
  using namespace protocom::python;
  module.doc() = "The C++ library behind the package protocom; its names may change.";
  protocom::choose_blas_kernels();
  translate_errors();
  collect_log();
  module.def("threads", [] { return protocom::thread_count(); });
  module.def("set_threads", [](int threads) {
    if (threads < 1) protocom::fail_usage("threads must be at least 1, found {}", threads);
    protocom::set_threads(threads);
  });
  module.def("torch_is_loaded", [] { return protocom::torch_plugin_is_loaded(); });
  module.def("set_engine", [](const std::string& name) { protocom::set_engine(protocom::parse_engine(name)); });
  module.def("prefer_onnxruntime", [](const std::string& folder) { protocom::onnxruntime::Library::prefer(folder); });
  bind_methods(module);
  bind_tasks(module);
  bind_evaluation(module);
  bind_images(module);
  bind_texts(module);
  bind_recognizer(module);
  bind_training(module);
}
