// SPDX-License-Identifier: Apache-2.0
// Conversions between columns and Arrow's arrays where the layouts differ, one element per thread.
//
// Bound by memory: each reads its input once and writes its output once, no scratch. Every thread of a launch takes the
// same branch on widths and operation.

#include <cstdint>

#include "common/arguments.cuh"

namespace millrace {

enum Operation : int32_t {
  MULTIPLY = 0,   // wraps
  DIVIDE = 1,     // rounds down
  REMAINDER = 2   // of DIVIDE
};

// The arguments of all kernels here; the bit kernels know the widths.
struct ArrowLayoutArguments {
  uint64_t input;
  uint64_t output;
  int64_t elements;
  int64_t operand;
  int32_t operation;
  int32_t input_width;   // 1, 2, 4, 8, or 16 for the low 8 bytes of 16
  int32_t input_signed;
  int32_t output_width;  // 4, 8 or 16
};

// The arguments of narrow_decimals. A decimal fits if its absolute value is below the limit.
struct ArrowDecimalArguments {
  uint64_t input;
  uint64_t output;        // 0 if the decimals are only to be checked
  int64_t elements;
  uint64_t mask;          // 0 if no element is null
  uint64_t limit_low;
  uint64_t limit_high;
  uint64_t refused;       // an int64, -1 before: the first element that is not null and does not fit
  int32_t output_width;   // 4 or 8
  int32_t padding;
};

constexpr int WARP_LANES = 32;

static __device__ __forceinline__ int64_t element_of_thread() {
  return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}

template <typename Value>
static __device__ __forceinline__ Value load(uint64_t address, int64_t element) {
  return reinterpret_cast<const Value*>(address)[element];
}

static __device__ __forceinline__ int64_t load_integer(const ArrowLayoutArguments& arguments, int64_t element) {
  bool is_signed = arguments.input_signed != 0;
  switch (arguments.input_width) {
    case 1:
      return is_signed ? load<int8_t>(arguments.input, element) : load<uint8_t>(arguments.input, element);
    case 2:
      return is_signed ? load<int16_t>(arguments.input, element) : load<uint16_t>(arguments.input, element);
    case 4:
      return is_signed ? static_cast<int64_t>(load<int32_t>(arguments.input, element))
                       : static_cast<int64_t>(load<uint32_t>(arguments.input, element));
    case 8: return load<int64_t>(arguments.input, element);
    default: return load<int64_t>(arguments.input, 2 * element);
  }
}

static __device__ __forceinline__ int64_t operate(const ArrowLayoutArguments& arguments, int64_t value) {
  if (arguments.operation == MULTIPLY) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(arguments.operand));
  }
  int64_t quotient = value / arguments.operand;
  int64_t remainder = value % arguments.operand;
  if (remainder < 0) {
    quotient--;
    remainder += arguments.operand;
  }
  return arguments.operation == DIVIDE ? quotient : remainder;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(ArrowLayoutArguments);
MILLRACE_REPORT_SIZE(ArrowDecimalArguments);

// Bytes, 0 or 1, to bits. The output is padded to whole words of 32 bits.
extern "C" __global__ void pack_bits(__grid_constant__ const ArrowLayoutArguments arguments) {
  int64_t element = element_of_thread();
  bool bit = element < arguments.elements && (load<uint8_t>(arguments.input, element) & 1) != 0;
  uint32_t word = __ballot_sync(0xffffffffu, bit);
  if (element < arguments.elements && element % WARP_LANES == 0) {
    reinterpret_cast<uint32_t*>(arguments.output)[element / WARP_LANES] = word;
  }
}

// Bits to bytes, 0 or 1.
extern "C" __global__ void unpack_bits(__grid_constant__ const ArrowLayoutArguments arguments) {
  int64_t element = element_of_thread();
  if (element >= arguments.elements) return;
  uint8_t bits = load<uint8_t>(arguments.input, element / 8);
  reinterpret_cast<uint8_t*>(arguments.output)[element] = (bits >> (element % 8)) & 1;
}

// Integers to integers of another width, sign-extended or cut, after an operation.
extern "C" __global__ void convert_integers(__grid_constant__ const ArrowLayoutArguments arguments) {
  int64_t element = element_of_thread();
  if (element >= arguments.elements) return;
  int64_t value = operate(arguments, load_integer(arguments, element));
  switch (arguments.output_width) {
    case 4: reinterpret_cast<int32_t*>(arguments.output)[element] = static_cast<int32_t>(value); break;
    case 8: reinterpret_cast<int64_t*>(arguments.output)[element] = value; break;
    default:
      reinterpret_cast<int64_t*>(arguments.output)[2 * element] = value;
      reinterpret_cast<int64_t*>(arguments.output)[2 * element + 1] = value >> 63;
  }
}

// Decimals of 128 bits to integers of 32 or 64 bits, zero for a null, or a check of them alone.
extern "C" __global__ void narrow_decimals(__grid_constant__ const ArrowDecimalArguments arguments) {
  int64_t element = element_of_thread();
  if (element >= arguments.elements) return;
  uint64_t low = load<uint64_t>(arguments.input, 2 * element);
  uint64_t high = load<uint64_t>(arguments.input, 2 * element + 1);
  bool is_null = arguments.mask != 0 && ((load<uint8_t>(arguments.mask, element / 8) >> (element % 8)) & 1) == 0;
  bool is_negative = static_cast<int64_t>(high) < 0;
  uint64_t magnitude_low = is_negative ? 0 - low : low;
  uint64_t magnitude_high = is_negative ? ~high + (low == 0 ? 1 : 0) : high;
  bool fits = magnitude_high < arguments.limit_high
      || (magnitude_high == arguments.limit_high && magnitude_low < arguments.limit_low);
  if (!fits && !is_null) {
    // As an unsigned number, the -1 of none is above all elements.
    atomicMin(reinterpret_cast<unsigned long long*>(arguments.refused), static_cast<unsigned long long>(element));
  }
  if (arguments.output == 0) return;
  uint64_t value = is_null ? 0 : low;
  if (arguments.output_width == 4) {
    reinterpret_cast<int32_t*>(arguments.output)[element] = static_cast<int32_t>(value);
  } else {
    reinterpret_cast<uint64_t*>(arguments.output)[element] = value;
  }
}
