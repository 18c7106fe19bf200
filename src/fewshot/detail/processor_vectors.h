#pragma once
#include <cstdint>
#include <cstring>

#include "fewshot/vector_form.h"

// Vectors of a processor's registers, for inner loops that are compiled once for each form of vector_form.h. Every
// function is inlined into one wrapper per form, whose target attribute then decides the instructions. Such loops are
// therefore written with the compiler's vector types and without lambdas or std:: algorithms, which would keep the
// baseline's target; and they are in an anonymous namespace here too, so each source compiles its own.
namespace protocom {
namespace {  // NOLINT(google-build-namespaces)

#define PROTOCOM_INLINE inline __attribute__((always_inline))

using Float4 __attribute__((vector_size(16))) = float;
using Float8 __attribute__((vector_size(32))) = float;
using Float16 __attribute__((vector_size(64))) = float;
using Int4 __attribute__((vector_size(16))) = int32_t;
using Int8 __attribute__((vector_size(32))) = int32_t;
using Int16 __attribute__((vector_size(64))) = int32_t;
using Double2 __attribute__((vector_size(16))) = double;
using Double4 __attribute__((vector_size(32))) = double;
using Double8 __attribute__((vector_size(64))) = double;
using Long2 __attribute__((vector_size(16))) = int64_t;
using Long4 __attribute__((vector_size(32))) = int64_t;
using Long8 __attribute__((vector_size(64))) = int64_t;

/// A processor: its vector type, and the rows and columns of a product that its registers hold.
struct Baseline {
  using Vector = Float4;
  using Ints = Int4;
  using Doubles = Double2;
  using Longs = Long2;
  static constexpr int kDotRows = 2;
  static constexpr int kSums = 5;
  static constexpr int kDenseRows = 5;
};
struct Avx2 {
  using Vector = Float8;
  using Ints = Int8;
  using Doubles = Double4;
  using Longs = Long4;
  static constexpr int kDotRows = 2;
  static constexpr int kSums = 5;
  static constexpr int kDenseRows = 5;
};
struct Avx512 {
  using Vector = Float16;
  using Ints = Int16;
  using Doubles = Double8;
  using Longs = Long8;
  static constexpr int kDotRows = 4;
  static constexpr int kSums = 10;
  static constexpr int kDenseRows = 10;
};

// Templates take the processor, not its vector: a vector type loses its attributes as a template's argument.

template <typename Cpu>
constexpr int64_t kLanes = sizeof(typename Cpu::Vector) / sizeof(float);

/// A vector at any address in rows of floats.
template <typename Cpu>
struct __attribute__((packed, may_alias)) Unaligned {
  typename Cpu::Vector vector;
};

template <typename Cpu>
PROTOCOM_INLINE const Unaligned<Cpu>& at(const float* values) {
  return *reinterpret_cast<const Unaligned<Cpu>*>(values);
}

template <typename Cpu>
PROTOCOM_INLINE Unaligned<Cpu>& at(float* values) {
  return *reinterpret_cast<Unaligned<Cpu>*>(values);
}

PROTOCOM_INLINE float lane_sum(const Float4& vector) { return (vector[0] + vector[2]) + (vector[1] + vector[3]); }

PROTOCOM_INLINE float lane_sum(const Float8& vector) {
  Float4 halves[2];
  std::memcpy(halves, &vector, sizeof(vector));
  const Float4 sum = halves[0] + halves[1];
  return lane_sum(sum);
}

PROTOCOM_INLINE float lane_sum(const Float16& vector) {
  Float8 halves[2];
  std::memcpy(halves, &vector, sizeof(vector));
  const Float8 sum = halves[0] + halves[1];
  return lane_sum(sum);
}

// Steps of lane_sum() for several vectors at once. Each adds the two halves of every part of two vectors.

/// Results: [a's 8 | b's 8].
PROTOCOM_INLINE void sum_halves(const Float16& a, const Float16& b, Float16& sum) {
  sum = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

/// Reduces four parts of 8 to four parts of 4, in order.
PROTOCOM_INLINE void sum_quarters(const Float16& a, const Float16& b, Float16& sum) {
  sum = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
        __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}

/// Reduces two vectors of four parts of 4: each part of the result has two numbers of a, then two of b.
PROTOCOM_INLINE void sum_twos(const Float16& a, const Float16& b, Float16& sum) {
  sum = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
        __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}

/// Reduces two such results: each part has four numbers, two of each vector.
PROTOCOM_INLINE void sum_ones(const Float16& a, const Float16& b, Float16& sum) {
  sum = __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
        __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}

template <typename Cpu>
constexpr int64_t kDoubles = sizeof(typename Cpu::Doubles) / sizeof(double);

template <typename Cpu>
struct __attribute__((packed, may_alias)) UnalignedDoubles {
  typename Cpu::Doubles vector;
};

template <typename Cpu>
PROTOCOM_INLINE const UnalignedDoubles<Cpu>& at(const double* values) {
  return *reinterpret_cast<const UnalignedDoubles<Cpu>*>(values);
}

template <typename Cpu>
PROTOCOM_INLINE UnalignedDoubles<Cpu>& at(double* values) {
  return *reinterpret_cast<UnalignedDoubles<Cpu>*>(values);
}

/// Computes e^x for x <= 0 to 2 units in the last place: 2^n times a polynomial (Cephes' expf) of the remainder.
template <typename Cpu>
PROTOCOM_INLINE void exponentiate(float* values) {
  using Vector = typename Cpu::Vector;
  using Ints = typename Cpu::Ints;
  constexpr float kSmallest = -87.0F;    // below, e^x would be subnormal
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, kept in the low bits
  const Vector limit = Vector{} + kSmallest;
  Vector x = at<Cpu>(values).vector;
  x = x < limit ? limit : x;
  const Vector shifted = x * 1.44269504F + kShift;
  const Vector n = shifted - kShift;
  const Vector r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  Vector polynomial = r * 1.9875691500e-4F + 1.3981999507e-3F;
  polynomial = polynomial * r + 8.3334519073e-3F;
  polynomial = polynomial * r + 4.1665795894e-2F;
  polynomial = polynomial * r + 1.6666665459e-1F;
  polynomial = polynomial * r + 5.0000001201e-1F;
  polynomial = polynomial * (r * r) + r + 1.0F;
  Ints bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4b400000 + 127) << 23;
  Vector power;
  std::memcpy(&power, &bits, sizeof(power));
  at<Cpu>(values).vector = polynomial * power;
}

}  // namespace
}  // namespace protocom

// NOLINTBEGIN(bugprone-macro-parentheses): types, attributes and lists in parentheses take none.
#define PROTOCOM_FORM(Processor, ATTRIBUTE, name, result, parameters, body, arguments) \
  ATTRIBUTE result name##_##Processor parameters {                                     \
    using Cpu [[maybe_unused]] = Processor;                                            \
    return body arguments;                                                             \
  }

/// Compiles `body arguments`, with the processor as Cpu, for every form of this program. `name`_form(), a function of
/// `parameters`, is the form in use.
#if defined(__x86_64__)
#define PROTOCOM_FORMS(name, result, parameters, body, arguments)                                             \
  namespace {                                                                                                 \
  PROTOCOM_FORM(Baseline, , name, result, parameters, body, arguments)                                        \
  PROTOCOM_FORM(Avx2, __attribute__((target("avx2,fma"))), name, result, parameters, body, arguments)         \
  PROTOCOM_FORM(Avx512, __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"))), name, result, \
                parameters, body, arguments)                                                                  \
  auto name##_form() {                                                                                        \
    static constexpr decltype(&name##_Baseline) kForms[] = {&name##_Baseline, &name##_Avx2, &name##_Avx512};  \
    return kForms[vector_form()];                                                                             \
  }                                                                                                           \
  }
#else
#define PROTOCOM_FORMS(name, result, parameters, body, arguments)      \
  namespace {                                                          \
  PROTOCOM_FORM(Baseline, , name, result, parameters, body, arguments) \
  auto name##_form() { return &name##_Baseline; }                      \
  }
#endif

/// Does the same and defines the function `name` itself.
#define PROTOCOM_KERNEL(name, result, parameters, body, arguments) \
  PROTOCOM_FORMS(name, result, parameters, body, arguments)        \
  result name parameters { return name##_form() arguments; }
// NOLINTEND(bugprone-macro-parentheses)
