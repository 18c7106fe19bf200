#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/array.h"

namespace protocom::python {

namespace py = pybind11;

/// An array of NumPy as one of the library on the same memory, which lives as long as this: no copy where it is
/// contiguous. float32, float64, int64, int32, uint8 and int8 of the machine's byte order, of any shape; None is an
/// undefined array. Throws Error for another type, which `what` names.
class ArrayView {
 public:
  ArrayView(const py::object& array, const char* what);
  [[nodiscard]] const Array& array() const { return array_; }

 private:
  py::object kept_;
  Array array_;
};

/// Whether it is a NumPy array itself, float32 or float64 of the machine's byte order, [n, dim] and contiguous, n > 0.
bool is_plain_rows(const py::object& array, int64_t dim);

/// A copy of its own, for what is kept.
Array copy_of(const py::object& array, const char* what);

/// The memory of an array for NumPy, which keeps it; None if it is undefined.
py::object numpy_of(const Array& array);
/// The same, not to be written to: the library goes on using its memory, which may be a file's.
py::object read_only_numpy_of(const Array& array);
/// A new array of NumPy with these numbers, float32: cheaper than to keep the array if there are few of them.
py::object copied_numpy(const Array& array);

}  // namespace protocom::python
