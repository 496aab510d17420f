package io.millrace.device;

/** An allocation failed: free or spill memory, retry, or split the batch and retry. */
public class GpuOutOfMemoryException extends GpuException {
  private static final long serialVersionUID = 1L;

  public GpuOutOfMemoryException(String message) {
    super(message);
  }
}
