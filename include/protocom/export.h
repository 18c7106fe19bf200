#pragma once

/// Marks the symbols that libprotocom.so exports; all others are hidden.
#if defined(__GNUC__)
#define PROTOCOM_API __attribute__((visibility("default")))
#else
#define PROTOCOM_API
#endif

namespace protocom {

/// The inline namespace of the library: programs write `protocom::Recognizer`; the symbols contain the number. It
/// increases with that of libprotocom.so.0, when programs must be recompiled.
namespace v0 {}

// Some modules define types in `protocom` under names of public ones, so the library is built without this import.
// Public headers of types that the modules share import them individually.
#ifndef PROTOCOM_BUILDING
using namespace v0;
#endif

}  // namespace protocom
