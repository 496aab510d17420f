// SPDX-License-Identifier: Apache-2.0
// UTF-8 at addresses of any alignment, eight bytes at a time.
//
// Code points are counted as Flink's BinaryStringData does: a byte that cannot start a code point counts as one, and
// what follows a leading byte belongs to it, of any value. A code point that the end cuts off ends there.

#pragma once

#include "common/bytes.cuh"
#include "function.cuh"

namespace millrace {

__device__ inline int32_t least(int32_t left, int32_t right) {
  return left < right ? left : right;
}

__device__ inline int32_t greatest(int32_t left, int32_t right) {
  return left > right ? left : right;
}

// Stores the lowest `bytes` bytes, at most eight, with the widest stores that the address allows;
// eight of them at an aligned address.
__device__ inline void store_bytes(char* to, uint64_t value, int32_t bytes) {
  if (bytes == 8) {
    *reinterpret_cast<uint64_t*>(to) = value;
    return;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(to);
  int32_t done = 0;
  const auto store = [&](int32_t width) {
    const uint64_t part = value >> (done * 8);
    if (width == 1) {
      to[done] = static_cast<char>(part);
    } else if (width == 2) {
      *reinterpret_cast<uint16_t*>(to + done) = static_cast<uint16_t>(part);
    } else {
      *reinterpret_cast<uint32_t*>(to + done) = static_cast<uint32_t>(part);
    }
    done += width;
  };
#pragma unroll
  for (int32_t width = 1; width <= 4; width *= 2) {
    if (((address + done) & width) != 0 && bytes - done >= width) {
      store(width);
    }
  }
#pragma unroll
  for (int32_t width = 4; width >= 1; width /= 2) {
    if (bytes - done >= width) {
      store(width);
    }
  }
}

// Copies bytes that do not overlap, each through `map`, which takes up to eight at once.
template <typename Map>
__device__ inline void copy_mapped(char* to, const char* from, int32_t length, Map map) {
  int32_t step;
  for (int32_t done = 0; done < length; done += step) {
    step = least(length - done, 8 - static_cast<int32_t>(reinterpret_cast<uintptr_t>(to + done) & 7));
    store_bytes(to + done, map(load_bytes(from + done, step)), step);
  }
}

__device__ inline bool equal(const char* left, const char* right, int32_t length) {
  for (int32_t offset = 0; offset < length; offset += 8) {
    const int32_t bytes = least(8, length - offset);
    if (load_bytes(left + offset, bytes) != load_bytes(right + offset, bytes)) {
      return false;
    }
  }
  return true;
}

// The bytes of the code point that starts with this one.
__device__ inline int32_t code_point_width(uint8_t first) {
  return first < 0xC2 || first >= 0xF8 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// The bytes of the code point at the start of `bytes`; there is one.
__device__ inline int32_t code_point_width(const char* bytes, int32_t length) {
  return least(code_point_width(static_cast<uint8_t>(bytes[0])), length);
}

// The bytes of the code point before the end of `bytes`, which are well-formed; there is one.
__device__ inline int32_t last_code_point_width(const char* bytes, int32_t length) {
  int32_t width = 1;
  while (width < 4 && width < length && (bytes[length - width] & 0xC0) == 0x80) {
    ++width;
  }
  return width;
}

struct CodePoints {
  int32_t bytes;
  int32_t count;
};

// The first code points of a string, at most `limit`.
__device__ inline CodePoints first_code_points(const char* bytes, int32_t length, int32_t limit) {
  int32_t offset = 0;
  int32_t count = 0;
  while (offset < length && count < limit) {
    const int32_t step = least(8, least(length - offset, limit - count));
    const uint64_t word = load_bytes(bytes + offset, step);
    if ((word & NOT_ASCII) == 0) {
      offset += step;
      count += step;
    } else {
      const int32_t ascii = bytes_below(word & NOT_ASCII);
      offset += ascii + code_point_width(static_cast<uint8_t>(word >> (ascii * 8)));
      count += ascii + 1;
    }
  }
  return {least(offset, length), count};
}

// Where the code point behind the first `count` ones starts, or the end.
__device__ inline int32_t offset_of_code_point(const char* bytes, int32_t length, int32_t count) {
  return count >= length ? greatest(length, 0) : first_code_points(bytes, length, count).bytes;
}

// The bytes of a code point as Java encodes it, or 0 if this is none.
__device__ inline int32_t well_formed_width(const char* bytes, int32_t length) {
  const uint8_t first = static_cast<uint8_t>(bytes[0]);
  if (first < 0x80) {
    return 1;
  }
  const int32_t width = code_point_width(first);
  if (width == 1 || width > length || first > 0xF4) {
    return 0;
  }
  for (int32_t i = 1; i < width; ++i) {
    if ((bytes[i] & 0xC0) != 0x80) {
      return 0;
    }
  }
  const uint8_t second = static_cast<uint8_t>(bytes[1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  return overlong || surrogate || (first == 0xF4 && second >= 0x90) ? 0 : width;
}

// The code point of well-formed bytes.
__device__ inline uint32_t decode(const char* bytes, int32_t width) {
  if (width == 1) return static_cast<uint8_t>(bytes[0]);
  uint32_t point = static_cast<uint8_t>(bytes[0]) & (0x7Fu >> width);
  for (int32_t i = 1; i < width; ++i) point = point << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3F);
  return point;
}

}  // namespace millrace
