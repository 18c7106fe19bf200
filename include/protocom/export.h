#pragma once

/// Marks what libprotocom.so exports; all its other symbols are hidden.
#if defined(__GNUC__)
#define PROTOCOM_API __attribute__((visibility("default")))
#else
#define PROTOCOM_API
#endif

namespace protocom {

/// The inline namespace of the library: programs write `protocom::Recognizer`, symbols have the number. It increases
/// with that of libprotocom.so.0, when programs must be compiled again.
namespace v0 {}

// Modules of the library have classes of their own in this namespace that some headers name too. A header whose types
// are the modules' own names them here by itself.
#ifndef PROTOCOM_BUILDING
using namespace v0;
#endif

}  // namespace protocom
