// SPDX-License-Identifier: Apache-2.0
// Finds values among constants and constants by their number. Both kinds of tables are memory that a calc
// uploads; io.millrace.expression.typed.ConstantTable and ConstantValues write them and say how they are laid out.

#include "function/row_hash.cuh"

using namespace millrace;

namespace {

struct Header {
  int64_t seed;
  int32_t mask;
  int32_t zeros_are_equal;
};

// `key` is the constant itself if it has up to 64 bits, else its hash; then `entry` is where the constant is.
struct alignas(16) Slot {
  int64_t key;
  int32_t position;
  int32_t entry;
};

static_assert(sizeof(Header) == 16 && sizeof(Slot) == 16, "ConstantTable writes these");

// The position of the constant with this key that `matches` takes; -1 if there is none. One slot in two is empty.
template <typename Matches>
__device__ inline int32_t find(const char* table, int64_t hash, int64_t key, Matches matches) {
  const Header* header = reinterpret_cast<const Header*>(table);
  const Slot* slots = reinterpret_cast<const Slot*>(table + sizeof(Header));
  const int32_t mask = header->mask;
  for (int32_t at = static_cast<int32_t>(hash) & mask;; at = (at + 1) & mask) {
    const Slot slot = slots[at];
    if (slot.position < 0 || (slot.key == key && matches(table + slot.entry))) {
      return slot.position;
    }
  }
}

__device__ inline int64_t seed(const char* table) {
  return reinterpret_cast<const Header*>(table)->seed;
}

__device__ inline int32_t find(const char* table, int64_t key) {
  return find(table, mix(static_cast<uint64_t>(key), seed(table)), key, [](const char*) { return true; });
}

__device__ inline int32_t find(const char* table, int64_t first, int64_t second) {
  const int64_t hash = mix(static_cast<uint64_t>(second), mix(static_cast<uint64_t>(first), seed(table)));
  return find(table, hash, hash, [=](const char* entry) {
    const int64_t* parts = reinterpret_cast<const int64_t*>(entry);
    return parts[0] == first && parts[1] == second;
  });
}

__device__ inline bool is_zero_of_either_sign(const char* table, double value) {
  return value == 0 && reinterpret_cast<const Header*>(table)->zeros_are_equal != 0;
}

// The two words of a constant; of the first one for a number that is none.
__device__ inline const int64_t* at(const char* table, int32_t position) {
  const int32_t count = *reinterpret_cast<const int32_t*>(table);
  const int32_t known = static_cast<uint32_t>(position) < static_cast<uint32_t>(count) ? position : 0;
  return reinterpret_cast<const int64_t*>(table + 16) + 2 * static_cast<int64_t>(known);
}

}  // namespace

MILLRACE_FUNCTION int32_t constant_position_int32(int32_t value, const char* table) {
  return find(table, value);
}

MILLRACE_FUNCTION int32_t constant_position_int64(int64_t value, const char* table) {
  return find(table, value);
}

MILLRACE_FUNCTION int32_t constant_position_float(float value, const char* table) {
  return find(table, is_zero_of_either_sign(table, value) ? 0 : __float_as_int(value));
}

MILLRACE_FUNCTION int32_t constant_position_double(double value, const char* table) {
  return find(table, is_zero_of_either_sign(table, value) ? 0 : __double_as_longlong(value));
}

MILLRACE_FUNCTION int32_t constant_position_decimal128(uint64_t low, int64_t high, const char* table) {
  return find(table, static_cast<int64_t>(low), high);
}

MILLRACE_FUNCTION int32_t constant_position_timestamp_nanos(int64_t millis, int32_t nanos, const char* table) {
  return find(table, millis, static_cast<int64_t>(nanos));
}

MILLRACE_FUNCTION int32_t constant_position_bytes(const char* bytes, int32_t length, const char* table) {
  const int64_t hash = mix_bytes(bytes, length, seed(table));
  return find(table, hash, hash, [=](const char* entry) {
    return *reinterpret_cast<const int64_t*>(entry) == length && equal(bytes, entry + 8, length);
  });
}

MILLRACE_FUNCTION int32_t constant_at_int32(int32_t position, const char* table) {
  return static_cast<int32_t>(at(table, position)[0]);
}

MILLRACE_FUNCTION int64_t constant_at_int64(int32_t position, const char* table) {
  return at(table, position)[0];
}

MILLRACE_FUNCTION float constant_at_float(int32_t position, const char* table) {
  return __int_as_float(static_cast<int32_t>(at(table, position)[0]));
}

MILLRACE_FUNCTION double constant_at_double(int32_t position, const char* table) {
  return __longlong_as_double(at(table, position)[0]);
}

MILLRACE_FUNCTION Decimal constant_at_decimal128(int32_t position, const char* table) {
  const int64_t* words = at(table, position);
  return {static_cast<uint64_t>(words[0]), words[1]};
}

MILLRACE_FUNCTION Timestamp constant_at_timestamp_nanos(int32_t position, const char* table) {
  const int64_t* words = at(table, position);
  return {words[0], static_cast<int32_t>(words[1])};
}

MILLRACE_FUNCTION String constant_at_bytes(int32_t position, const char* table) {
  const int64_t* words = at(table, position);
  return {table + words[0], static_cast<int32_t>(words[1])};
}
