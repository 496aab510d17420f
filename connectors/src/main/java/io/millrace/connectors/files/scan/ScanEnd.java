// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.scan;

import java.io.Serializable;
import org.apache.flink.annotation.Internal;
import org.apache.flink.connector.file.src.reader.BulkFormat;

/**
 * Whether the readers of a subtask are to end before the ends of their files. It is a part of the
 * format that makes them: Flink deserializes a format for each subtask. The operator in the chain
 * of the readers says it; threads that read files ask.
 */
@Internal
public final class ScanEnd implements Serializable {
  private static final long serialVersionUID = 1L;

  private volatile boolean isReached;

  /** Asks for nothing more. */
  public void reach() {
    isReached = true;
  }

  /** Whether nothing more is wanted. */
  public boolean isReached() {
    return isReached;
  }

  /** A reader of nothing, in the place of one that would open a file. */
  public static <T> BulkFormat.Reader<T> emptyReader() {
    return new BulkFormat.Reader<>() {
      @Override
      public BulkFormat.RecordIterator<T> readBatch() {
        return null;
      }

      @Override
      public void close() {}
    };
  }
}
