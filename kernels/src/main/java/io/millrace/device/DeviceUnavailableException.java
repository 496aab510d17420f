package io.millrace.device;

/** No GPU can be used; the message says why and what to set. */
public class DeviceUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DeviceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
