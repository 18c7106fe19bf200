#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/array.h"

namespace protocom::python {

namespace py = pybind11;

/// A NumPy array as an array of the library on the same memory, valid during this object's lifetime: no copy if it is
/// contiguous. float32, float64, int64, int32, uint8 and int8 of the machine's byte order, of any shape; None is an
/// undefined array. Throws Error for another type, naming `what`.
class ArrayView {
 public:
  ArrayView(const py::object& array, const char* what);
  [[nodiscard]] const Array& array() const { return array_; }

 private:
  py::object kept_;
  Array array_;
};

/// Returns whether it is itself a NumPy array of float32 or float64 in the machine's byte order, [n, dim] and
/// contiguous, n > 0.
bool is_plain_rows(const py::object& array, int64_t dim);

/// Returns a copy that owns its memory, for keeping.
Array copy_of(const py::object& array, const char* what);

/// Returns an array's memory as a NumPy array, which keeps it alive; None if it is undefined.
py::object numpy_of(const Array& array);
/// Returns a read-only NumPy array on that memory: the library goes on using it, and it may be a file's.
py::object read_only_numpy_of(const Array& array);
/// Returns a new NumPy array with these numbers, float32: cheaper than keeping the array alive if there are few of
/// them.
py::object copied_numpy(const Array& array);

}  // namespace protocom::python
