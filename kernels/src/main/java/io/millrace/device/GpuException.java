package io.millrace.device;

/** A CUDA call failed in a way that leaves the process able to use the GPU: fail the task. */
public class GpuException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public GpuException(String message) {
    super(message);
  }
}
