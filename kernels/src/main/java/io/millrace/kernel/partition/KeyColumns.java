// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.hash.KeyHash;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.List;

/** Partition ids computed from the hash of key columns. */
final class KeyColumns implements PartitionIds {
  private final List<Column> keys;
  private final HashFunction function;
  private final PartitionAssigner numbering;
  private final boolean nullsPresent;

  KeyColumns(
      List<Column> keys, HashFunction function, PartitionAssigner numbering, DeviceStream stream) {
    this.keys = keys;
    this.function = function;
    this.numbering = numbering;
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("there are no key columns");
    }
    keys.forEach(key -> checkType(key.type()));
    int levels = keys.stream().mapToInt(key -> levels(key.type())).sum();
    if (levels > PartitionArguments.MAX_KEY_COLUMNS) {
      throw new IllegalArgumentException(
          levels
              + " key columns and struct levels; at most "
              + PartitionArguments.MAX_KEY_COLUMNS
              + " can be hashed");
    }
    this.nullsPresent = keys.stream().anyMatch(key -> mayHaveNulls(key, stream));
  }

  private static int levels(DataType type) {
    return type.id() == TypeId.STRUCT
        ? 1 + type.fields().stream().mapToInt(field -> levels(field.type())).sum()
        : 1;
  }

  private void checkType(DataType type) {
    if (!function.supports(type)) {
      throw new IllegalArgumentException(function.algorithm() + " cannot hash " + type);
    }
  }

  // The null count is only needed for structs.
  private static boolean mayHaveNulls(Column column, DeviceStream stream) {
    boolean own =
        column.isNullable() && (!column.isNullCountKnown() || column.nullCount(stream) > 0);
    boolean inside =
        column.type().id() == TypeId.STRUCT
            && column.children().stream().anyMatch(child -> mayHaveNulls(child, stream));
    return own || inside;
  }

  @Override
  public HostNumbers onHost(AccessScope scope, int partitions, int capacity) {
    List<ColumnReader> readers = keys.stream().map(key -> new ColumnReader(key, scope)).toList();
    KeyHash hash = KeyHash.of(function, nullsPresent, readers, capacity);
    return (first, count, partitionOf) -> {
      hash.hash(first, count, partitionOf);
      numbering.number(partitionOf, count);
    };
  }

  @Override
  public void describe(PartitionArguments arguments, AccessScope scope) {
    arguments.rule(function, numbering, nullsPresent);
    keys.forEach(key -> describe(key, 0, PartitionArguments.NO_PARENT, arguments, scope));
  }

  // The children of a struct or timestamp are indexed by its own offset and rows.
  private static void describe(
      Column column, int base, int parent, PartitionArguments arguments, AccessScope scope) {
    int first = base + column.offset();
    int position =
        arguments.key(
            new PartitionArguments.Key(
                dataAddress(column, scope),
                column.validity().map(mask -> address(mask, scope)).orElse(0L),
                column.type().id().isVariableWidth() ? childAddress(column, 0, scope) : 0,
                column.type().id() == TypeId.TIMESTAMP_NANOS ? childAddress(column, 1, scope) : 0,
                first,
                column.type(),
                parent));
    if (column.type().id() == TypeId.STRUCT) {
      column.children().forEach(child -> describe(child, first, position, arguments, scope));
    }
  }

  private static long dataAddress(Column column, AccessScope scope) {
    return switch (column.type().id()) {
      case TIMESTAMP_NANOS -> childAddress(column, 0, scope);
      case STRUCT -> 0;
      default -> address(column.data().orElseThrow(), scope);
    };
  }

  private static long childAddress(Column column, int index, AccessScope scope) {
    return column.child(index).dataAddress(scope);
  }

  private static long address(Buffer buffer, AccessScope scope) {
    return buffer.access(AccessMode.READ, scope);
  }

  @Override
  public String kernelSuffix() {
    if (keys.size() > 1) {
      return "any";
    }
    boolean isJava = function.algorithm() == HashFunction.Algorithm.FLINK_JAVA;
    boolean isNullable = keys.get(0).isNullable();
    return switch (keys.get(0).type().id()) {
      case STRING -> "string";
      case BINARY -> isJava ? "any" : "string";
      case INT64 -> isNullable ? "any" : "long";
      case INT32 -> isNullable ? "any" : "int";
      case TIMESTAMP_MILLIS, DECIMAL64 -> isJava || isNullable ? "any" : "long";
      case DATE, TIME -> isJava || isNullable ? "any" : "int";
      default -> "any";
    };
  }
}
