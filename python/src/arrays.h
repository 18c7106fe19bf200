#pragma once
#include <ATen/core/Tensor.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace protocom::python {

namespace py = pybind11;

/// An array as a tensor on the same memory, which the caller keeps alive as long as the tensor: no copy where the array
/// is contiguous. float32, float64, int64, int32 and uint8 of the machine's byte order, of any shape; None is an
/// undefined tensor. Throws Error for another type, which `what` names.
class ArrayView {
 public:
  ArrayView(const py::object& array, const char* what);
  [[nodiscard]] const at::Tensor& tensor() const { return tensor_; }

 private:
  py::object kept_;
  at::Tensor tensor_;
};

/// Whether it is a NumPy array itself, float32 or float64 of the machine's byte order, [n, dim] and contiguous, n > 0.
bool is_plain_rows(const py::object& array, int64_t dim);

/// A copy of its own, for what is kept.
at::Tensor copy_of(const py::object& array, const char* what);

/// The tensor's memory as an array, which keeps the tensor; None where it is undefined.
py::object array_of(const at::Tensor& tensor);
/// A new array with the numbers of a float32 tensor: cheaper than to keep the tensor where there are few of them.
py::object copied_array(const at::Tensor& tensor);

}  // namespace protocom::python
