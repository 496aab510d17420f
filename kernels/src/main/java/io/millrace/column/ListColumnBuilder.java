// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/** Builds LIST columns: append the elements to {@link #elements}, then the list that they make. */
@PublicEvolving
public final class ListColumnBuilder extends ColumnBuilder {
  private final GrowingBuffer offsets;
  private final ColumnBuilder elements;

  ListColumnBuilder(DataType type, DeviceStream stream, MemoryResource resource) {
    super(type, stream, resource);
    this.offsets = new GrowingBuffer(stream, resource);
    this.elements = ColumnBuilder.of(type.fields().get(0).type(), stream, resource);
  }

  /** The builder that the elements of the next list are appended to. */
  public ColumnBuilder elements() {
    return elements;
  }

  /** Appends the list of all elements appended since the last list. */
  public void appendList() {
    long row = next();
    HostMemory.putInt(offsets.address() + (row + 1) * Integer.BYTES, elements.size());
  }

  @Override
  void appendEmpty() {
    appendList();
  }

  @Override
  void grow(int newCapacity) {
    boolean first = offsets.capacity() == 0;
    offsets.ensure((newCapacity + 1L) * Integer.BYTES);
    if (first) {
      HostMemory.putInt(offsets.address(), 0);
    }
  }

  @Override
  void truncateValues(int lists) {
    elements.truncate(
        offsets.capacity() == 0
            ? 0
            : HostMemory.getInt(offsets.address() + (long) lists * Integer.BYTES));
  }

  @Override
  void reserveValues() {
    if (offsets.capacity() == 0) {
      grow(1);
    }
    elements.reserve();
  }

  @Override
  public long sizeInBytes() {
    return elements.sizeInBytes() + (size + 1L) * Integer.BYTES;
  }

  @Override
  Column finish(int lists, Buffer mask) {
    Buffer finishedOffsets = offsets.finish((lists + 1L) * Integer.BYTES);
    Column offsetsColumn = offsets(finishedOffsets, lists).get(0);
    return new Column(type, lists, 0, null, mask, List.of(offsetsColumn, elements.finish()));
  }

  @Override
  public void close() {
    super.close();
    offsets.close();
    elements.close();
  }
}
