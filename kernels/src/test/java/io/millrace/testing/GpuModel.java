// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.device.GpuProperties;

/**
 * The properties that the drivers of some GPUs report, taken from NVIDIA's programming guide
 * ("Compute Capabilities") and data sheets. With them, choices that depend on these properties are
 * tested without the GPUs.
 */
public enum GpuModel {
  A100(80, 108, 2048, 163, 164),
  A10(86, 72, 1536, 99, 100),
  L4(89, 58, 1536, 99, 100),
  L40S(89, 142, 1536, 99, 100),
  H100(90, 132, 2048, 227, 228),
  H100_SLICE(90, 16, 2048, 227, 228),
  H200(90, 132, 2048, 227, 228),
  B200(100, 148, 2048, 227, 228),
  RTX_PRO_6000(120, 188, 1536, 99, 100);

  private static final int RESERVED_KIBIBYTES = 1;

  private final int computeCapability;
  private final int multiprocessors;
  private final int threadsPerMultiprocessor;
  private final int sharedKibibytesPerBlock;
  private final int sharedKibibytesPerMultiprocessor;

  GpuModel(
      int computeCapability,
      int multiprocessors,
      int threadsPerMultiprocessor,
      int sharedKibibytesPerBlock,
      int sharedKibibytesPerMultiprocessor) {
    this.computeCapability = computeCapability;
    this.multiprocessors = multiprocessors;
    this.threadsPerMultiprocessor = threadsPerMultiprocessor;
    this.sharedKibibytesPerBlock = sharedKibibytesPerBlock;
    this.sharedKibibytesPerMultiprocessor = sharedKibibytesPerMultiprocessor;
  }

  public GpuProperties properties() {
    return new GpuProperties(
        computeCapability,
        multiprocessors,
        threadsPerMultiprocessor,
        sharedKibibytesPerBlock << 10,
        sharedKibibytesPerMultiprocessor << 10,
        RESERVED_KIBIBYTES << 10,
        true);
  }
}
