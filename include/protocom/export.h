#pragma once

/// Marks what libprotocom.so exports; all its other symbols are hidden.
#if defined(__GNUC__)
#define PROTOCOM_API __attribute__((visibility("default")))
#else
#define PROTOCOM_API
#endif

namespace protocom {

/// Where the names of the library lie: programs write `protocom::Recognizer`, symbols have the number. It rises when a
/// program that was compiled before no longer fits, as the number of libprotocom.so.0 does.
namespace v0 {}

// The library itself has names of its own in this namespace.
#ifndef PROTOCOM_BUILDING
using namespace v0;
#endif

}  // namespace protocom
