// Checks the partitioning kernels against plain C++ and times them. Not part of the build:
// nvcc -std=c++17 -O3 -fmad=false -arch=sm_90 -I ../../main/cuda partition_check.cu -o partition_check
// ./partition_check check | small | bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include <cuda_runtime.h>

#include "../../main/cuda/gather.cu"
#include "../../main/cuda/partition.cu"
#include "../../main/cuda/partition_small.cu"
#include "../../main/cuda/round_robin_partition.cu"

#define CHECK(x) do { cudaError_t error_code = (x); if (error_code != cudaSuccess) { printf("%s at line %d\n", cudaGetErrorString(error_code), __LINE__); exit(2); } } while (0)

static cudaStream_t stream;
static int processors;

template <typename T> static T* device_memory(size_t count) { void* p; CHECK(cudaMalloc(&p, std::max<size_t>(count * sizeof(T), 256))); return static_cast<T*>(p); }
static uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

enum Kind { ANY, LONG, INT, MAP };
enum Path { AUTOMATIC, SMALL, LARGE };
using Kernel = void (*)(PartitionArguments);
static const Kernel ids_kernels[] = {partition_ids_any, partition_ids_long, partition_ids_int, partition_ids_map};
static const Kernel small_kernels[][2] = {{partition_small_any_1, partition_small_any_4}, {partition_small_long_1, partition_small_long_4},
                                          {partition_small_int_1, partition_small_int_4}, {partition_small_map_1, partition_small_map_4}};

static int small_shared_bytes(int partitions) { return (SMALL_WARPS * partitions + 2 * partitions + WARP) * 4; }
static int ids_shared_bytes(int partitions) { int r = 32; while (r > 1 && r * partitions > IDS_COUNTERS) r /= 2; return std::max(r * partitions, 1024) * 4; }
static int scatter_shared_bytes(int partitions, int threads) { return SCATTER_SLOTS * (threads * SCATTER_ROUNDS * 8 + SLOT_PADDING) + partitions * 12 + WARP * 4; }
static uint64_t multiplier(uint64_t d) { return ~0ull / d + 1; }

struct Workspace {
  uint32_t *control, *counts, *totals; uint8_t* ids; int32_t *device_offsets, *host_offsets;
  Workspace(size_t rows) {
    control = device_memory<uint32_t>(64); CHECK(cudaMemset(control, 0, 256));
    counts = device_memory<uint32_t>(std::max<size_t>(1024 * 272, 1024 * (rows / 4096 + 8))); totals = device_memory<uint32_t>(1 << 16); ids = device_memory<uint8_t>(rows * 4);
    device_offsets = device_memory<int32_t>(1 << 16); CHECK(cudaHostAlloc(&host_offsets, 4 << 16, cudaHostAllocMapped));
  }
  void free_all() { cudaFree(control); cudaFree(counts); cudaFree(totals); cudaFree(ids); cudaFree(device_offsets); cudaFreeHost(host_offsets); }
};

static int resident_blocks(const void* kernel, int threads, int shared) {
  static std::vector<std::pair<std::pair<const void*, int>, int>> cache;
  for (auto& e : cache) if (e.first.first == kernel && e.first.second == shared) return e.second;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
  int blocks; CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
  cache.push_back({{kernel, shared}, blocks * processors}); return blocks * processors;
}

static int last_small_rounds;
static bool try_small(PartitionArguments& a, Kind kind, bool forced) {
  int shared = small_shared_bytes(a.partitions);
  for (int i = 0; i < 2; ++i) {
    int rounds = i == 0 ? 1 : 4, rows = SMALL_THREADS * rounds, blocks = (a.rows + rows - 1) / rows;
    if (blocks > resident_blocks((const void*)small_kernels[kind][i], SMALL_THREADS, shared)) continue;
    if (i == 0 && forced && getenv("FOUR")) continue;
    a.chunks = blocks; a.count_stride = (blocks + 3) / 4 * 4; last_small_rounds = rounds;
    void* parameters[] = {&a};
    CHECK(cudaLaunchCooperativeKernel((const void*)small_kernels[kind][i], dim3(blocks), dim3(SMALL_THREADS), parameters, shared, stream));
    return true;
  }
  return false;
}

static int scatter_threads(int partitions) { return getenv("T") ? atoi(getenv("T")) : partitions <= 128 ? 512 : 1024; }
static void shape(PartitionArguments& a) { a.tile_rows = scatter_threads(a.partitions) * SCATTER_ROUNDS; a.chunks = (int)(((int64_t)a.rows + a.tile_rows - 1) / a.tile_rows); a.count_stride = (a.chunks + 3) / 4 * 4; }
static void scatter(const PartitionArguments& a) {
  int threads = scatter_threads(a.partitions), shared = scatter_shared_bytes(a.partitions, threads);
  Kernel kernel = threads == 512 ? partition_scatter_512 : partition_scatter_1024;
  resident_blocks((const void*)kernel, threads, shared);
  kernel<<<a.chunks, threads, shared, stream>>>(a);
}
static void large(PartitionArguments& a, Kind kind) {
  shape(a);
  ids_kernels[kind]<<<a.chunks, IDS_THREADS, ids_shared_bytes(a.partitions), stream>>>(a);
  partition_scan<<<a.partitions, SCAN_THREADS, 0, stream>>>(a);
  scatter(a);
}

static void set_scratch(PartitionArguments& a, const Workspace& w) {
  static int slot = 0; a.control_slot = slot++ % CONTROL_SLOTS; a.counts = address(w.counts); a.totals = address(w.totals); a.ids = address(w.ids);
  a.device_offsets = address(w.device_offsets); a.host_offsets = address(w.host_offsets);
  a.id_width = a.partitions <= 256 ? 1 : a.partitions <= 65536 ? 2 : 4;
}

static void many_partitions(PartitionArguments a, Kind kind) {  // slow path: two digits of 10 bits
  size_t n = a.rows; int P = a.partitions;
  uint32_t *ids0 = device_memory<uint32_t>(n), *ids1 = device_memory<uint32_t>(n), *ids2 = device_memory<uint32_t>(n), *map1 = device_memory<uint32_t>(n), *map2 = device_memory<uint32_t>(n);
  PartitionArguments i = a; i.counts = 0; i.id_width = 4; i.ids = address(ids0);
  i.tile_rows = 4096; i.chunks = (int)((n + 4095) / 4096);
  ids_kernels[kind]<<<i.chunks, IDS_THREADS, ids_shared_bytes(1024), stream>>>(i);
  PartitionArguments d = a; d.host_offsets = 0; d.partitions = 1024; d.id_width = 2; d.map = address(ids0); d.map_width = 4; d.map_shift = 0; d.map_mask = 1023; d.columns = 2;
  d.column[0] = {0, address(map1), 4, 0}; d.column[1] = {address(ids0), address(ids1), 4, 0}; large(d, MAP);
  d.partitions = (P + 1023) / 1024; d.map = address(ids1); d.map_shift = 10; d.map_mask = ~0u;
  d.column[0] = {address(map1), address(map2), 4, 0}; d.column[1] = {address(ids1), address(ids2), 4, 0}; large(d, MAP);
  partition_offsets<<<(P + 256) / 256, SCAN_THREADS, 0, stream>>>({address(ids2), a.device_offsets, a.host_offsets, a.rows, P});
  GatherArguments g{}; g.map = address(map2); g.rows = a.rows;
  for (int c = 0; c < a.columns; ++c) if (a.column[c].input != 0) g.buffer[g.buffers++] = {a.column[c].input, a.column[c].output, a.column[c].width, 0};
  gather_fixed_width<<<(unsigned)((n + 1023) / 1024), GATHER_THREADS, 0, stream>>>(g);
  for (int c = 0; c < a.columns; ++c) if (a.column[c].input == 0) CHECK(cudaMemcpyAsync((void*)a.column[c].output, map2, n * 4, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (void* p : {ids0, ids1, ids2, map1, map2}) CHECK(cudaFree(p));
}

static void partition_rows(PartitionArguments& a, Kind kind, Path path) {
  if (a.rows == 0) { for (int p = 0; p <= a.partitions; ++p) reinterpret_cast<int32_t*>(a.host_offsets)[p] = 0; return; }
  if (a.partitions > LARGEST_SINGLE_PASS) { many_partitions(a, kind); return; }
  if (path != LARGE && try_small(a, kind, path == SMALL)) return;
  if (path != SMALL) large(a, kind);
}

static void round_robin(const MovedColumn* columns, int count, int rows, int partitions, int start, int tile_rows) {
  RoundRobinArguments a{}; a.rows = rows; a.partitions = partitions; a.start_partition = start; a.columns = count;
  memcpy(a.column, columns, sizeof(MovedColumn) * count);
  a.tile_cards = std::min(partitions, tile_rows >= 4096 ? 64 : 32); a.tile_deals = 1; while (a.tile_deals * 2 * a.tile_cards <= tile_rows) a.tile_deals *= 2;
  int64_t deals = ((int64_t)rows + partitions - 1) / partitions;
  a.card_tiles = (partitions + a.tile_cards - 1) / a.tile_cards; a.tiles = (int)(a.card_tiles * ((deals + a.tile_deals - 1) / a.tile_deals));
  a.partitions_multiplier = multiplier(partitions); a.whole_deals = rows / partitions; a.last_deal = rows % partitions; a.card_multiplier = multiplier(a.tile_cards);
  if (tile_rows == 512) { round_robin_partition_small<<<a.tiles, ROUND_ROBIN_THREADS, 0, stream>>>(a); return; }
  int padding = a.tile_cards >= 16 ? 1 : 16 / a.tile_cards;
  int shared = a.tile_cards * (a.tile_deals + padding) * 8;
  static bool set = false; if (!set) { CHECK(cudaFuncSetAttribute(round_robin_partition, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024)); set = true; }
  round_robin_partition<<<a.tiles, ROUND_ROBIN_THREADS, shared, stream>>>(a);
}

// ---- checks ----
static long failures = 0;
static std::mt19937_64 random_engine(20261121);

static void compare(const char* what, long n, int P, const std::vector<uint8_t>& expected, const uint8_t* device, size_t bytes) {
  std::vector<uint8_t> got(bytes + 64); CHECK(cudaMemcpy(got.data(), device, bytes + 64, cudaMemcpyDeviceToHost));
  bool same = memcmp(expected.data(), got.data(), bytes) == 0; for (int i = 0; i < 64; ++i) same &= got[bytes + i] == 0xAB;
  if (!same) { ++failures; if (failures < 30) printf("WRONG %s rows %ld P %d bytes %zu\n", what, n, P, bytes); }
}

static void check_partition(int rows, int P, Kind kind, Path path, int skew) {
  if (path == SMALL && P > LARGEST_SINGLE_PASS) return;
  const int widths[] = {8, 1, 4, 16, 2, 8, 8, 8, 8, 4}; const int count = 10;
  std::vector<int64_t> keys(rows + 3), nulls;
  for (auto& k : keys) k = skew == 1 ? 7 : skew == 2 ? (int64_t)(random_engine() % 3) : (int64_t)random_engine();
  std::vector<uint8_t> validity(rows / 8 + 2); for (auto& v : validity) v = (uint8_t)random_engine();
  std::vector<int32_t> map(rows + 1); for (int i = 0; i < rows; ++i) map[i] = skew == 1 ? P / 2 : (int)(random_engine() % P);
  PartitionArguments host{}; host.rows = rows; host.partitions = P; host.rule.partitions = P; host.rule.seed = 5;
  host.rule.partitions_multiplier = multiplier(P); host.rule.maximum_parallelism = std::max(P, 128); host.rule.parallelism = P; host.rule.maximum_parallelism_multiplier = multiplier(host.rule.maximum_parallelism);
  host.rule.numbering = skew == 2 ? NUMBER_BY_OPERATOR : (P & (P - 1)) == 0 ? NUMBER_BY_MASK : NUMBER_BY_MODULO;
  host.rule.hash_function = kind == ANY ? HASH_FLINK_BINARY_ROW : HASH_MURMUR3_32;
  host.key_columns = kind == ANY ? 2 : 1; host.map_width = 4; host.map_mask = ~0u; host.nulls_present = 1;
  host.key[0] = {address(keys.data()), 0, 0, 0, 3, kind == INT ? KEY_INT32 : KEY_INT64, 0, NO_PARENT, 0};
  host.key[1] = {address(keys.data()), address(validity.data()), 0, 0, 0, KEY_TIMESTAMP_MICROS, 0, NO_PARENT, 0};
  host.map = address(map.data());
  std::vector<int32_t> ids(rows); std::vector<int32_t> offsets(P + 1, 0);
  for (int i = 0; i < rows; ++i) { ids[i] = kind == MAP ? map[i] : (int)partition_of_any_keys(host, i); ++offsets[ids[i] + 1]; }
  for (int p = 0; p < P; ++p) offsets[p + 1] += offsets[p];
  std::vector<int32_t> next(offsets.begin(), offsets.end() - 1), order(rows); for (int i = 0; i < rows; ++i) order[next[ids[i]]++] = i;
  Workspace w(rows);
  PartitionArguments a = host; set_scratch(a, w);
  auto upload = [](const void* p, size_t bytes) { uint8_t* d = device_memory<uint8_t>(bytes); if (bytes) CHECK(cudaMemcpy(d, p, bytes, cudaMemcpyHostToDevice)); return d; };
  uint8_t *dk = upload(keys.data(), keys.size() * 8), *dv = upload(validity.data(), validity.size()), *dm = upload(map.data(), map.size() * 4);
  a.key[0].data = a.key[1].data = address(dk); a.key[1].validity = address(dv); a.map = address(dm);
  std::vector<std::vector<uint8_t>> in(count), out(count); std::vector<uint8_t*> din(count), dout(count), raw(count);
  for (int c = 0; c < count; ++c) {
    size_t bytes = (size_t)rows * widths[c]; in[c].resize(bytes); out[c].resize(bytes);
    for (size_t i = 0; i < bytes; ++i) in[c][i] = (uint8_t)(random_engine() >> 13);
    bool virtual_column = c == 9;
    if (virtual_column) for (int i = 0; i < rows; ++i) memcpy(&in[c][i * 4], &i, 4);
    for (int i = 0; i < rows; ++i) memcpy(&out[c][(size_t)i * widths[c]], &in[c][(size_t)order[i] * widths[c]], widths[c]);
    { int off = c % 3 * widths[c]; std::vector<uint8_t> shifted(off + bytes); memcpy(shifted.data() + off, in[c].data(), bytes); raw[c] = upload(shifted.data(), off + bytes); din[c] = raw[c] + off; } dout[c] = device_memory<uint8_t>(bytes + 64); CHECK(cudaMemset(dout[c], 0xAB, bytes + 64));
    a.column[c] = {virtual_column ? 0 : address(din[c]), address(dout[c]), widths[c], 0};
  }
  a.columns = count; memset(w.host_offsets, 0xAB, 4 * (P + 1));
  CHECK(cudaDeviceSynchronize());
  bool ran = true;
  if (path == SMALL && rows > 0) ran = try_small(a, kind, true); else partition_rows(a, kind, path);
  CHECK(cudaGetLastError()); CHECK(cudaStreamSynchronize(stream));
  char what[64]; snprintf(what, 64, "kind %d path %d skew %d", kind, path, skew);
  if (ran) {
    if (memcmp(w.host_offsets, offsets.data(), 4 * (P + 1)) != 0) { ++failures; printf("WRONG offsets %s rows %d P %d\n", what, rows, P); }
    for (int c = 0; c < count; ++c) compare(what, rows, P, out[c], dout[c], (size_t)rows * widths[c]);
  }
  for (int c = 0; c < count; ++c) { cudaFree(raw[c]); cudaFree(dout[c]); } cudaFree(dk); cudaFree(dv); cudaFree(dm); w.free_all();
}

static void check_round_robin(int rows, int P, int start, int tile_rows) {
  const int widths[] = {8, 1, 4, 16, 2, 4}; const int count = 6;
  std::vector<int32_t> order; for (int p = 0; p < P; ++p) for (int64_t i = (p - start + P) % P; i < rows; i += P) order.push_back((int)i);
  std::vector<MovedColumn> columns; std::vector<std::vector<uint8_t>> out(count); std::vector<uint8_t*> buffers;
  for (int c = 0; c < count; ++c) {
    size_t bytes = (size_t)rows * widths[c]; std::vector<uint8_t> in(bytes); out[c].resize(bytes);
    for (auto& b : in) b = (uint8_t)(random_engine() >> 13);
    if (c == 5) for (int i = 0; i < rows; ++i) memcpy(&in[(size_t)i * 4], &i, 4);
    for (int i = 0; i < rows; ++i) memcpy(&out[c][(size_t)i * widths[c]], &in[(size_t)order[i] * widths[c]], widths[c]);
    uint8_t *d = device_memory<uint8_t>(bytes), *o = device_memory<uint8_t>(bytes + 64); if (bytes) CHECK(cudaMemcpy(d, in.data(), bytes, cudaMemcpyHostToDevice)); CHECK(cudaMemset(o, 0xAB, bytes + 64));
    columns.push_back({c == 5 ? 0 : address(d), address(o), widths[c], 0}); buffers.push_back(d); buffers.push_back(o);
  }
  CHECK(cudaDeviceSynchronize());
  if (rows > 0) round_robin(columns.data(), count, rows, P, start, tile_rows);
  CHECK(cudaGetLastError()); CHECK(cudaStreamSynchronize(stream));
  for (int c = 0; c < count; ++c) compare("round robin", rows, P, out[c], buffers[2 * c + 1], (size_t)rows * widths[c]);
  for (auto b : buffers) cudaFree(b);
}

static void check(bool few) {
  std::vector<int> sizes = {0, 1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8191, 8192, 8193, 65536, 100003, 300001};
  std::vector<int> partitions = {1, 2, 3, 7, 8, 64, 65, 512, 1000, 1024, 5000};
  if (few) { sizes = {1, 33, 513, 4097, 20011}; partitions = {2, 65, 512, 1500}; }
  for (int n : sizes) for (int P : partitions) {
    for (int kind = 0; kind < 4; ++kind) for (int path : {SMALL, LARGE}) { if (few && kind == INT) continue; check_partition(n, P, (Kind)kind, (Path)path, (n + P + kind) % 3); }
    for (int start : {0, 1, P - 1}) if (start < P) for (int t : {512, 2048, 4096}) check_round_robin(n, P, start, t);
  }
  if (!few) for (int P : {3, 64, 512}) { check_partition(3000017, P, LONG, LARGE, 0); check_partition(3000017, P, ANY, LARGE, 2); check_partition(5000011, P, MAP, LARGE, 1); }
  printf("checks done: %ld failures\n", failures);
}

// ---- times ----
static double median(int n, const std::function<void()>& f) {
  for (int i = 0; i < 5; ++i) f();
  std::vector<double> t;
  for (int i = 0; i < n; ++i) { auto a = std::chrono::steady_clock::now(); f(); t.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - a).count()); }
  std::sort(t.begin(), t.end()); return t[n / 2];
}

__global__ void fill(uint64_t* k, int64_t n) { int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; if (i < n) { uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull; z ^= z >> 30; z *= 0xBF58476D1CE4E5B9ull; z ^= z >> 27; k[i] = z; } }

static void bench() {
  cudaMemPool_t pool; CHECK(cudaDeviceGetDefaultMemPool(&pool, 0)); uint64_t threshold = ~0ull; CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  const int widths[] = {8, 8, 8, 4};
  printf("%10s %5s | %9s %9s | %9s | kernels: %8s %8s %8s | any keys %8s | round robin\n", "rows", "P", "small", "large", "GB/s", "ids", "scan", "scatter", "");
  for (int64_t n : {16LL << 10, 64LL << 10, 128LL << 10, 256LL << 10, 512LL << 10, 1LL << 20, 4LL << 20, 64LL << 20}) {
    if (getenv("ONLY") && n != atoll(getenv("ONLY"))) continue;
    uint64_t* in[4]; for (int c = 0; c < 4; ++c) { in[c] = device_memory<uint64_t>(n); fill<<<(n + 255) / 256, 256, 0, stream>>>(in[c], n); }
    Workspace w(n); int repeats = n >= (32 << 20) ? 15 : 60;
    for (int P : {8, 64, 512}) {
      PartitionArguments a{}; a.rows = (int)n; a.partitions = P; a.rule.partitions = P; a.rule.numbering = NUMBER_BY_MASK; a.rule.partitions_multiplier = multiplier(P);
      a.key_columns = 1; a.key[0] = {address(in[0]), 0, 0, 0, 0, KEY_INT64, 0, NO_PARENT, 0}; a.columns = 4; set_scratch(a, w);
      auto with_outputs = [&](const std::function<void(PartitionArguments&)>& f) {
        return median(repeats, [&] {
          void* out[4]; PartitionArguments b = a;
          for (int c = 0; c < 4; ++c) { CHECK(cudaMallocAsync(&out[c], n * widths[c], stream)); b.column[c] = {address(in[c]), address(out[c]), widths[c], 0}; }
          f(b); CHECK(cudaStreamSynchronize(stream));
          for (int c = 0; c < 4; ++c) CHECK(cudaFreeAsync(out[c], stream));
        });
      };
      bool fits = false; { PartitionArguments b = a; b.columns = 0; fits = try_small(b, LONG, true); CHECK(cudaStreamSynchronize(stream)); }
      int rounds = last_small_rounds;
      double small = fits ? with_outputs([&](PartitionArguments& b) { try_small(b, LONG, true); }) : -1;
      double large_time = with_outputs([&](PartitionArguments& b) { large(b, LONG); });
      double any = with_outputs([&](PartitionArguments& b) { partition_rows(b, ANY, fits ? SMALL : LARGE); });
      double parts[3] = {-1, -1, -1};
      { PartitionArguments b = a; void* out[4]; for (int c = 0; c < 4; ++c) { CHECK(cudaMalloc(&out[c], n * widths[c])); b.column[c] = {address(in[c]), address(out[c]), widths[c], 0}; }
        large(b, LONG); cudaEvent_t e[4]; for (auto& x : e) CHECK(cudaEventCreate(&x)); std::vector<float> t[3];
        for (int i = 0; i < 9; ++i) { CHECK(cudaEventRecord(e[0], stream)); partition_ids_long<<<b.chunks, IDS_THREADS, ids_shared_bytes(P), stream>>>(b); CHECK(cudaEventRecord(e[1], stream));
          partition_scan<<<P, SCAN_THREADS, 0, stream>>>(b); CHECK(cudaEventRecord(e[2], stream)); scatter(b); CHECK(cudaEventRecord(e[3], stream)); CHECK(cudaEventSynchronize(e[3]));
          for (int k = 0; k < 3; ++k) { float ms; CHECK(cudaEventElapsedTime(&ms, e[k], e[k + 1])); t[k].push_back(ms * 1000); } }
        for (int k = 0; k < 3; ++k) { std::sort(t[k].begin(), t[k].end()); parts[k] = t[k][4]; } for (auto o : out) cudaFree(o); }
      auto robin = [&](int tile_rows) { return median(repeats, [&] { void* out[4]; MovedColumn m[4];
          for (int c = 0; c < 4; ++c) { CHECK(cudaMallocAsync(&out[c], n * widths[c], stream)); m[c] = {address(in[c]), address(out[c]), widths[c], 0}; }
          round_robin(m, 4, (int)n, P, 0, tile_rows); CHECK(cudaStreamSynchronize(stream)); for (int c = 0; c < 4; ++c) CHECK(cudaFreeAsync(out[c], stream)); }); };
      double best = small > 0 ? std::min(small, large_time) : large_time;
      printf("%10ld %5d | %7.1f(%d) %9.1f | %9.1f | %8.1f %8.1f %8.1f | %8.1f | small: %7.1f 2048: %7.1f 4096: %7.1f\n", (long)n, P, small, rounds, large_time, 56.0 * n / best / 1e3, parts[0], parts[1], parts[2], any, robin(512), robin(2048), robin(4096));
    }
    for (auto p : in) cudaFree(p); w.free_all();
  }
  double empty = median(100, [&] { fill<<<1, 32, 0, stream>>>(nullptr, 0); CHECK(cudaStreamSynchronize(stream)); });
  void* o[4]; double allocation = median(100, [&] { for (auto& p : o) CHECK(cudaMallocAsync(&p, 65536 * 8, stream)); for (auto& p : o) CHECK(cudaFreeAsync(p, stream)); });
  printf("empty launch + wait %.1f us, four allocations %.1f us\n", empty, allocation);
}

int main(int, char** argv) {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaDeviceProp properties; CHECK(cudaGetDeviceProperties(&properties, 0)); processors = properties.multiProcessorCount;
  if (!strcmp(argv[1], "check")) check(false); else if (!strcmp(argv[1], "small")) check(true); else bench();
  return failures != 0;
}
