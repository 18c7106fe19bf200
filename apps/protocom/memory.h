#pragma once

namespace protocom::cli {

/// Has glibc keep the memory of large tensors for the next ones. By default it gives every block above 32 MiB back to
/// the system when it is freed, so that each forward pass has its pages mapped and cleared anew: half of the time of
/// `extract` at 224 x 224 on a virtual machine. What lies free at the heap's end is given back from 1 GiB on. Does
/// nothing with another C library, or where MALLOC_MMAP_MAX_ or MALLOC_TRIM_THRESHOLD_ say otherwise. Call it first.
void keep_freed_memory();

}  // namespace protocom::cli
