#include "arrays.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"

namespace protocom::python {
namespace {

std::optional<NumberType> type_of(const py::array& array) {
  if (py::isinstance<py::array_t<float>>(array)) return NumberType::kFloat32;
  if (py::isinstance<py::array_t<double>>(array)) return NumberType::kFloat64;
  if (py::isinstance<py::array_t<int64_t>>(array)) return NumberType::kInt64;
  if (py::isinstance<py::array_t<int32_t>>(array)) return NumberType::kInt32;
  if (py::isinstance<py::array_t<uint8_t>>(array)) return NumberType::kUInt8;
  if (py::isinstance<py::array_t<int8_t>>(array)) return NumberType::kInt8;
  return std::nullopt;
}

bool is_plain(const py::array& array) {
  constexpr int kNeeded = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  return (array.flags() & kNeeded) == kNeeded;
}

py::dtype dtype_of(NumberType type) {
  switch (type) {
    case NumberType::kFloat32:
      return py::dtype::of<float>();
    case NumberType::kFloat64:
      return py::dtype::of<double>();
    case NumberType::kInt64:
      return py::dtype::of<int64_t>();
    case NumberType::kUInt8:
      return py::dtype::of<uint8_t>();
    case NumberType::kInt8:
      return py::dtype::of<int8_t>();
    default:
      fail("numbers of type {} are not supported by NumPy", to_string(type));
  }
}

}  // namespace

ArrayView::ArrayView(const py::object& array, const char* what) {
  if (array.is_none()) return;
  py::array given = py::array::ensure(array);
  if (!given) throw py::error_already_set();
  const std::optional<NumberType> type = type_of(given);
  if (!type)
    fail("{} must be an array of float32 or float64 (labels: int64), found {}", what,
         py::str(given.dtype()).cast<std::string>());
  if (!is_plain(given)) given = py::array::ensure(given, py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_);
  const std::vector<int64_t> sizes(given.shape(), given.shape() + given.ndim());
  void* data = const_cast<void*>(given.data());
  array_ = Array::view(data, sizes, *type, std::shared_ptr<const void>(data, [](const void*) {}));
  kept_ = std::move(given);
}

bool is_plain_rows(const py::object& array, int64_t dim) {
  static PyTypeObject* const kArrayType = py::detail::npy_api::get().PyArray_Type_;
  if (Py_TYPE(array.ptr()) != kArrayType) return false;
  const auto given = py::reinterpret_borrow<py::array>(array);
  if (given.ndim() != 2 || given.shape(0) == 0 || given.shape(1) != dim || !is_plain(given)) return false;
  return py::isinstance<py::array_t<float>>(given) || py::isinstance<py::array_t<double>>(given);
}

Array copy_of(const py::object& array, const char* what) {
  const ArrayView view(array, what);
  return view.array().defined() ? view.array().copy() : Array();
}

py::object numpy_of(const Array& array) {
  if (!array.defined()) return py::none();
  const std::vector<py::ssize_t> sizes(array.shape().begin(), array.shape().end());
  // Strides are passed explicitly: pybind11 before 2.12 reads an element's size from where NumPy 2 has something else.
  std::vector<py::ssize_t> strides(sizes.size());
  py::ssize_t stride = size_of(array.type());
  for (size_t i = sizes.size(); i-- > 0; stride *= std::max<py::ssize_t>(1, sizes[i])) strides[i] = stride;
  auto kept = std::make_unique<Array>(array);
  void* data = kept->mutable_raw();
  const py::capsule owner(kept.release(), [](void* owned) { delete static_cast<Array*>(owned); });
  return py::array(dtype_of(array.type()), sizes, strides, data, owner);
}

py::object read_only_numpy_of(const Array& array) {
  py::object made = numpy_of(array);
  if (!made.is_none()) made.attr("setflags")(py::arg("write") = false);
  return made;
}

py::object copied_numpy(const Array& array) {
  const std::vector<py::ssize_t> sizes(array.shape().begin(), array.shape().end());
  py::array_t<float> made(sizes);
  std::copy_n(array.data<float>(), array.numel(), made.mutable_data());
  return std::move(made);
}

}  // namespace protocom::python
