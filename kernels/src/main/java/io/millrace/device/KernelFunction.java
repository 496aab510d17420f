// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** A kernel. Launches are asynchronous and counted by {@link Device#launchCount}. */
@PublicEvolving
public interface KernelFunction {

  /**
   * Enqueues the kernel on {@code stream}. The arguments are copied before this returns.
   *
   * @throws GpuException if the device does not support the launch shape
   */
  void launch(
      int blocks, int threads, int sharedBytes, DeviceStream stream, KernelArguments arguments);

  /** As {@link #launch}, with all blocks resident at once, so that they may wait for each other. */
  void launchCooperative(
      int blocks, int threads, int sharedBytes, DeviceStream stream, KernelArguments arguments);

  /** The number of blocks of this shape that the whole device holds at once. */
  int residentBlocks(int threads, int sharedBytes);
}
