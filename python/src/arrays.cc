#include "arrays.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"

namespace protocom::python {
namespace {

std::optional<at::ScalarType> type_of(const py::array& array) {
  if (py::isinstance<py::array_t<float>>(array)) return at::kFloat;
  if (py::isinstance<py::array_t<double>>(array)) return at::kDouble;
  if (py::isinstance<py::array_t<int64_t>>(array)) return at::kLong;
  if (py::isinstance<py::array_t<int32_t>>(array)) return at::kInt;
  if (py::isinstance<py::array_t<uint8_t>>(array)) return at::kByte;
  return std::nullopt;
}

bool is_plain(const py::array& array) {
  constexpr int kNeeded = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  return (array.flags() & kNeeded) == kNeeded;
}

py::dtype dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return py::dtype::of<float>();
    case at::kDouble:
      return py::dtype::of<double>();
    case at::kLong:
      return py::dtype::of<int64_t>();
    case at::kByte:
      return py::dtype::of<uint8_t>();
    default:
      fail("there is no array of the type {}", c10::toString(type));
  }
}

}  // namespace

ArrayView::ArrayView(const py::object& array, const char* what) {
  if (array.is_none()) return;
  py::array given = py::array::ensure(array);
  if (!given) throw py::error_already_set();
  const std::optional<at::ScalarType> type = type_of(given);
  if (!type)
    fail("{} should be an array of float32 or float64 (labels: int64), found {}", what,
         py::str(given.dtype()).cast<std::string>());
  if (!is_plain(given)) given = py::array::ensure(given, py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_);
  const std::vector<int64_t> sizes(given.shape(), given.shape() + given.ndim());
  tensor_ = at::from_blob(const_cast<void*>(given.data()), sizes, at::TensorOptions(*type));
  kept_ = std::move(given);
}

bool is_plain_rows(const py::object& array, int64_t dim) {
  static PyTypeObject* const kArrayType = py::detail::npy_api::get().PyArray_Type_;
  if (Py_TYPE(array.ptr()) != kArrayType) return false;
  const auto given = py::reinterpret_borrow<py::array>(array);
  if (given.ndim() != 2 || given.shape(0) == 0 || given.shape(1) != dim || !is_plain(given)) return false;
  return py::isinstance<py::array_t<float>>(given) || py::isinstance<py::array_t<double>>(given);
}

at::Tensor copy_of(const py::object& array, const char* what) {
  const ArrayView view(array, what);
  return view.tensor().defined() ? view.tensor().clone() : at::Tensor();
}

py::object array_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return py::none();
  auto kept = std::make_unique<at::Tensor>(tensor.contiguous());
  const std::vector<py::ssize_t> sizes(kept->sizes().begin(), kept->sizes().end());
  // Strides are given: pybind11 before 2.12 takes an element's size from where NumPy 2 has something else.
  std::vector<py::ssize_t> strides;
  for (const int64_t stride : kept->strides())
    strides.push_back(static_cast<py::ssize_t>(stride) * static_cast<py::ssize_t>(kept->element_size()));
  void* data = kept->data_ptr();
  const py::dtype type = dtype_of(kept->scalar_type());
  const py::capsule owner(kept.release(), [](void* owned) { delete static_cast<at::Tensor*>(owned); });
  return py::array(type, sizes, strides, data, owner);
}

py::object copied_array(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  const std::vector<py::ssize_t> sizes(plain.sizes().begin(), plain.sizes().end());
  py::array_t<float> made(sizes);
  std::copy_n(plain.data_ptr<float>(), plain.numel(), made.mutable_data());
  return std::move(made);
}

}  // namespace protocom::python
