// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowNode;
import io.millrace.device.HostMemory;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.c.jni.JniWrapper;
import org.apache.arrow.c.jni.PrivateData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An array for a consumer behind the C data interface, with its children.
 *
 * @param buffers addresses
 * @param dictionary null if there is none
 */
record ExportedArray(
    ArrowNode node, List<Long> buffers, List<ExportedArray> children, ExportedArray dictionary) {
  private static final Logger LOGGER = LoggerFactory.getLogger(ExportedArray.class);

  /**
   * Fills the struct at {@code target} and gives it a release callback that may be called on any
   * thread.
   *
   * @param released called once, when the struct and all others of the array are released: a
   *     consumer may move children away and keep them longer
   */
  void export(long target, Runnable released) {
    new Structs(this, released).fill(this, new CArray(target));
  }

  /** A struct array without nulls. */
  static ExportedArray table(long rows, List<ExportedArray> columns) {
    return new ExportedArray(ArrowNode.of(rows, 0), List.of(0L), columns, null);
  }

  private int structs() {
    int dictionaryStructs = dictionary == null ? 0 : dictionary.structs();
    return 1 + dictionaryStructs + children.stream().mapToInt(ExportedArray::structs).sum();
  }

  private long pointers() {
    long dictionaryPointers = dictionary == null ? 0 : dictionary.pointers();
    return buffers.size()
        + children.size()
        + dictionaryPointers
        + children.stream().mapToLong(ExportedArray::pointers).sum();
  }

  /** A block that holds the structs below the root and all arrays of pointers. */
  private static final class Structs implements PrivateData {
    private final Runnable released;
    private final AtomicInteger live;
    private final long block;
    private long end;

    Structs(ExportedArray root, Runnable released) {
      this.released = released;
      this.live = new AtomicInteger(root.structs());
      this.block =
          HostMemory.allocate(
              (root.structs() - 1L) * CArray.BYTES + root.pointers() * Long.BYTES + Long.BYTES);
      this.end = block;
    }

    private long take(long bytes) {
      long address = end;
      end += bytes;
      return address;
    }

    void fill(ExportedArray array, CArray struct) {
      long buffers = take(array.buffers.size() * (long) Long.BYTES);
      for (int i = 0; i < array.buffers.size(); i++) {
        HostMemory.putLong(buffers + i * (long) Long.BYTES, array.buffers.get(i));
      }
      long children = take(array.children.size() * (long) Long.BYTES);
      for (int i = 0; i < array.children.size(); i++) {
        long child = fill(array.children.get(i));
        HostMemory.putLong(children + i * (long) Long.BYTES, child);
      }
      struct.putNode(array.node);
      struct.putBuffers(array.buffers.size(), buffers);
      struct.putChildren(
          array.children.size(), children, array.dictionary == null ? 0 : fill(array.dictionary));
      JniWrapper.get().exportArray(struct.address(), this);
    }

    private long fill(ExportedArray array) {
      CArray struct = new CArray(take(CArray.BYTES));
      fill(array, struct);
      return struct.address();
    }

    // Called for each struct, for children before their parents. A C consumer cannot be told of a
    // failure.
    @Override
    public void close() {
      if (live.decrementAndGet() > 0) {
        return;
      }
      HostMemory.free(block);
      try {
        released.run();
      } catch (RuntimeException | Error e) {
        LOGGER.error("the memory of an exported Arrow array could not be released", e);
      }
    }
  }
}
