#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/array.h"

namespace protocom {

/// Matrices that stay in their file: float32 [n, d] whose rows the system reads when they are accessed and may drop
/// again, so that they may exceed the memory. Rereading a row gives the file's present bytes.

/// Returns the size in bytes from which matrices of float32 stay in their file: 1 GiB, unless a test sets less.
int64_t mapped_from();
void set_mapped_from(int64_t bytes);

/// Returns the matrix of a `.npy` of little-endian float16, float32 or float64 in C order, in place; numbers that are
/// not float32, or not aligned, are copied piece by piece to an unnamed file in the system's temporary folder. Nothing
/// for another array or one smaller than mapped_from() as float32.
std::optional<Array> map_npy_rows(const std::filesystem::path& path);
/// Does so for a member of an `.npz` that is stored, not deflated. Its checksum is not compared.
std::optional<Array> map_npz_rows(const std::filesystem::path& path, const std::string& member);
/// Does so for an array of read_safetensors().
std::optional<Array> map_array_rows(const Array& array);

/// Whether this is such a matrix, or rows of one without a copy.
bool is_mapped(const Array& rows);
/// Releases the memory of such rows until they are accessed again. Does nothing for others.
void forget_pages(const Array& rows);

}  // namespace protocom
