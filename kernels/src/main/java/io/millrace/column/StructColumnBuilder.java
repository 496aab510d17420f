// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/**
 * Builds STRUCT columns, and TIMESTAMP(7..9) columns as structs of milliseconds and nanoseconds:
 * append one value to each of {@link #fields}, then the struct that they make.
 */
@PublicEvolving
public final class StructColumnBuilder extends ColumnBuilder {
  private final List<ColumnBuilder> fields;

  StructColumnBuilder(DataType type, DeviceStream stream, MemoryResource resource) {
    super(type, stream, resource);
    this.fields =
        type.childTypes().stream().map(child -> ColumnBuilder.of(child, stream, resource)).toList();
  }

  public List<ColumnBuilder> fields() {
    return fields;
  }

  /** Appends the struct of the values last appended to the fields. */
  public void appendStruct() {
    next();
  }

  @Override
  void appendEmpty() {
    fields.forEach(ColumnBuilder::appendEmpty);
    next();
  }

  @Override
  void grow(int newCapacity) {}

  @Override
  void truncateValues(int elements) {
    fields.forEach(field -> field.truncate(elements));
  }

  @Override
  void reserveValues() {
    fields.forEach(ColumnBuilder::reserve);
  }

  @Override
  public long sizeInBytes() {
    return fields.stream().mapToLong(ColumnBuilder::sizeInBytes).sum();
  }

  @Override
  Column finish(int elements, Buffer mask) {
    return new Column(
        type, elements, 0, null, mask, fields.stream().map(ColumnBuilder::finish).toList());
  }

  @Override
  public void close() {
    super.close();
    fields.forEach(ColumnBuilder::close);
  }
}
