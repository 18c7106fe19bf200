#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/array.h"

namespace protocom {

/// Matrices of numbers that stay in their file: float32 [n, d] whose rows the system reads when they are touched and
/// may drop again, so that they may be more than the memory. Reading one back gives the file's bytes as they are then.

/// Bytes from which matrices of float32 stay in their file: 1 GiB, unless a test wants less.
int64_t mapped_from();
void set_mapped_from(int64_t bytes);

/// The matrix of a `.npy` of little-endian float16, float32 or float64 in C order, where it lies; numbers that are no
/// float32, or lie at odd places, go through a nameless temporary file of the system's folder for these, piece by
/// piece. Nothing if the array is another one or smaller than mapped_from() as float32.
std::optional<Array> map_npy_rows(const std::filesystem::path& path);
/// The same of a member of an `.npz` that is stored, not deflated. Its checksum is not compared.
std::optional<Array> map_npz_rows(const std::filesystem::path& path, const std::string& member);
/// The same of an array of read_safetensors().
std::optional<Array> map_array_rows(const Array& array);

/// Whether this is such a matrix, or rows of one as it gives them without a copy.
bool is_mapped(const Array& rows);
/// The pages of such rows leave the process's memory until they are touched again. Does nothing for others.
void forget_pages(const Array& rows);

}  // namespace protocom
