// SPDX-License-Identifier: Apache-2.0
// What the argument structures of all kernels have in common.
//
// Java writes these structures into a parameter buffer, so they hold fixed-size fields only, ordered so that the
// compiler inserts no padding. Every structure has a device constant `sizeof_<Structure>` that Java compares with its
// own layout before the first launch.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define MILLRACE_FUNCTION __host__ __device__ __forceinline__
#define MILLRACE_REPORT_SIZE(Structure) \
  extern "C" __device__ const uint32_t sizeof_##Structure = sizeof(millrace::Structure)
#else
#define MILLRACE_FUNCTION inline
#endif
