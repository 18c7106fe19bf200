#include "io/mat_file.h"

#include <matio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "io/detail/fortran_order.h"
#include "io/detail/mat_layout.h"

namespace protocom {
namespace {

using Variable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

/// Ignores a message, which the library would print. It is a `char*`, in newer versions a `const char*`.
template <typename Char>
void ignore_message(int /*level*/, Char* /*message*/) {}

uint64_t count_of(const matvar_t& variable) {
  uint64_t count = 1;
  bool overflows = variable.dims == nullptr;
  for (int i = 0; !overflows && i < variable.rank; ++i)
    overflows = __builtin_mul_overflow(count, uint64_t{variable.dims[i]}, &count);
  return overflows ? UINT64_MAX : count;
}

template <typename T>
Array columns_of(const matvar_t& variable) {
  const auto rows = static_cast<int64_t>(variable.dims[0]), columns = static_cast<int64_t>(variable.dims[1]);
  const auto* from = static_cast<const T*>(variable.data);
  const std::vector<double> by_columns(from, from + rows * columns);
  Array values = Array::uninitialised({rows, columns}, NumberType::kFloat64);
  to_c_order(by_columns.data(), values.shape(), values.mutable_data<double>());
  return values;
}

/// Returns nothing for a variable without numbers.
Array read_numbers(const matvar_t& variable) {
  switch (variable.class_type) {
    case MAT_C_DOUBLE:
      return columns_of<double>(variable);
    case MAT_C_SINGLE:
      return columns_of<float>(variable);
    case MAT_C_INT8:
      return columns_of<int8_t>(variable);
    case MAT_C_UINT8:
      return columns_of<uint8_t>(variable);
    case MAT_C_INT16:
      return columns_of<int16_t>(variable);
    case MAT_C_UINT16:
      return columns_of<uint16_t>(variable);
    case MAT_C_INT32:
      return columns_of<int32_t>(variable);
    case MAT_C_UINT32:
      return columns_of<uint32_t>(variable);
    case MAT_C_INT64:
      return columns_of<int64_t>(variable);
    case MAT_C_UINT64:
      return columns_of<uint64_t>(variable);
    default:
      return {};
  }
}

std::string text_of(const matvar_t* cell, const std::string& where) {
  if (cell == nullptr || cell->class_type != MAT_C_CHAR || cell->rank != 2 || (cell->dims[0] > 1 && cell->dims[1] > 0))
    fail("{}: expected a text in each cell", where);
  const size_t length = cell->data_size > 0 ? cell->nbytes / static_cast<size_t>(cell->data_size) : 0;
  if (length == 0 || cell->data == nullptr) return "";
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    uint32_t code = 0;
    if (cell->data_type == MAT_T_UINT16 || cell->data_type == MAT_T_UTF16)
      code = static_cast<const uint16_t*>(cell->data)[i];
    else
      code = static_cast<const uint8_t*>(cell->data)[i];
    if (cell->data_type == MAT_T_UTF8)
      text += static_cast<char>(code);
    else
      append_utf8(text, code);
  }
  return text;
}

}  // namespace

struct MatFile::Impl {
  std::filesystem::path path;
  std::unique_ptr<mat_t, int (*)(mat_t*)> file{nullptr, Mat_Close};

  [[nodiscard]] std::string where(const std::string& name) const { return path.string() + ": '" + name + "'"; }

  [[nodiscard]] Variable read(const std::string& name) const {
    Variable variable(Mat_VarReadInfo(file.get(), name.c_str()), Mat_VarFree);
    if (variable == nullptr) fail("{} has no variable '{}'", path.string(), name);
    if (Mat_VarReadDataAll(file.get(), variable.get()) != 0) fail("{}: damaged or truncated", where(name));
    return variable;
  }
};

MatFile::MatFile(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  check_mat_layout(path);
  Mat_LogInitFunc("protocom", &ignore_message);
  impl_->file.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (impl_->file == nullptr)
    fail("{} is not a MATLAB file of version 5 to 7: save it by save(..., '-v7')", path.string());
}

MatFile::~MatFile() = default;

bool MatFile::has(const std::string& name) const {
  return Variable(Mat_VarReadInfo(impl_->file.get(), name.c_str()), Mat_VarFree) != nullptr;
}

Array MatFile::matrix(const std::string& name) const {
  const Variable variable = impl_->read(name);
  if (variable->rank != 2 || variable->isComplex != 0)
    fail("{}: expected a matrix of real numbers", impl_->where(name));
  if (count_of(*variable) == 0) return Array::zeros({0, 0}, NumberType::kFloat64);
  const Array values = variable->data == nullptr ? Array() : read_numbers(*variable);
  if (!values.defined()) fail("{}: expected a matrix of numbers", impl_->where(name));
  return values;
}

std::vector<std::string> MatFile::texts(const std::string& name) const {
  const Variable variable = impl_->read(name);
  if (variable->class_type != MAT_C_CELL || (variable->data == nullptr && count_of(*variable) > 0))
    fail("{}: expected a cell array of texts", impl_->where(name));
  std::vector<std::string> all;
  auto* const* cells = static_cast<matvar_t* const*>(variable->data);
  for (uint64_t i = 0; i < count_of(*variable); ++i) all.push_back(text_of(cells[i], impl_->where(name)));
  return all;
}

}  // namespace protocom
