// SPDX-License-Identifier: Apache-2.0
// The kernels of KeyedSums, for functions over keyed state and aggregate functions:
//
//   begin_sums  the sum of each key before the batch, 0 if it has none
//   add_rows    adds the value of each row to the sum of its key
//
// Compiled by: nvcc -ptx -arch=compute_80 -o keyed_sum.ptx keyed_sum.cu

struct KeyedSumArguments {
  const int* key_numbers;
  const long long* values;
  const long long* before;
  const unsigned int* is_set;  // the mask of `before`; null: all are set
  unsigned long long* sums;
  int keys;
  int rows;
};

extern "C" __global__ void begin_sums(const __grid_constant__ KeyedSumArguments arguments) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  if (key >= arguments.keys) return;
  const bool is_set = arguments.is_set == nullptr || (arguments.is_set[key / 32] >> key % 32 & 1) != 0;
  arguments.sums[key] = is_set ? arguments.before[key] : 0;
}

extern "C" __global__ void add_rows(const __grid_constant__ KeyedSumArguments arguments) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= arguments.rows) return;
  atomicAdd(arguments.sums + arguments.key_numbers[row], static_cast<unsigned long long>(arguments.values[row]));
}
