package io.millrace.device;

/** What a {@link Device} is. */
public enum DeviceKind {
  /** An NVIDIA GPU, driven through the CUDA driver API. */
  CUDA,
  /** This machine's processor: kernels run as plain Java in the calling thread. */
  HOST
}
