// SPDX-License-Identifier: Apache-2.0
// CountCharOnDevice. Compiled with: nvcc -ptx -rdc=true -arch=compute_80 -fmad=false count_char.cu
#include <cstdint>

extern "C" __device__ int64_t count_char(
    const char* text, int32_t length, const char* character, int32_t character_length) {
  if (character_length == 0) {
    return 0;
  }
  int64_t count = 0;
  for (int32_t i = 0; i < length; i++) {
    count += text[i] == character[0];
  }
  return count;
}
