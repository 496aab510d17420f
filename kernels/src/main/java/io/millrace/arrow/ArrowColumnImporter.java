// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static io.millrace.arrow.ArrowContent.misfit;

import io.millrace.annotation.Internal;
import io.millrace.arrow.ArrowArraySource.ArrowBuffer;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Makes columns of Arrow arrays in host memory. Columns share the arrays' memory where the layouts
 * agree; the rest is converted into new memory. Whatever the arrays hold, the columns can be read
 * safely: lengths, offsets, null counts and dictionary codes are checked.
 */
@Internal
public final class ArrowColumnImporter {
  private final ArrowArraySource source;
  private final Map<Long, Column> dictionaries;
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final AccessScope scope;
  private final List<Buffer> sources = new ArrayList<>();
  private final List<Runnable> opened = new ArrayList<>();

  private ArrowColumnImporter(ArrowArraySource source, Target target) {
    this.source = source;
    this.dictionaries = target.dictionaries;
    this.stream = target.stream;
    this.resource = target.resource;
    this.scope = AccessScope.on(stream);
  }

  /** The context of an import: memory for columns, and dictionaries that they may refer to. */
  public record Target(
      Map<Long, Column> dictionaries, DeviceStream stream, MemoryResource resource) {}

  /**
   * A table of {@code rows} rows; the caller owns it.
   *
   * @param fields in message format
   * @throws ArrowFormatException if the arrays do not fit the fields
   */
  public static Table importTable(
      List<Field> fields, Schema schema, long rows, ArrowArraySource source, Target target)
      throws ArrowFormatException {
    if (rows < 0 || rows > Integer.MAX_VALUE) {
      throw new ArrowFormatException(rows + " rows; a table has at most " + Integer.MAX_VALUE);
    }
    ArrowColumnImporter importer = new ArrowColumnImporter(source, target);
    return importer.finish(
        () -> {
          List<Column> columns = new ArrayList<>();
          for (int i = 0; i < fields.size(); i++) {
            Column column = importer.column(fields.get(i), schema.type(i));
            if (column.size() != rows) {
              String elements = column.size() + " elements in " + rows + " rows";
              throw misfit(fields.get(i), elements);
            }
            columns.add(column);
          }
          ArrowContent.checkNulls(schema.fields(), columns, importer::read);
          return new Table(schema, columns, (int) rows);
        });
  }

  /** Imports the only array of {@code source}; as {@link #importTable}. */
  public static Column importColumn(
      Field field, DataType type, ArrowArraySource source, Target target)
      throws ArrowFormatException {
    ArrowColumnImporter importer = new ArrowColumnImporter(source, target);
    return importer.finish(() -> importer.column(field, type));
  }

  private interface Import<T> {
    T run() throws ArrowFormatException;
  }

  /** Leaves nothing open but the result. */
  private <T> T finish(Import<T> work) throws ArrowFormatException {
    boolean done = false;
    try {
      T result = work.run();
      done = true;
      return result;
    } finally {
      scope.close();
      sources.forEach(Buffer::close);
      if (!done) {
        opened.forEach(Runnable::run);
      }
    }
  }

  /** An array with an offset becomes a column that is a slice. */
  private Column column(Field field, DataType type) throws ArrowFormatException {
    ArrowNode node = source.nextNode();
    if (node.length() < 0
        || node.offset() < 0
        || node.offset() > Integer.MAX_VALUE - node.length()) {
      throw misfit(field, node.length() + " elements behind " + node.offset());
    }
    int offset = (int) node.offset();
    int length = (int) node.length();
    Buffer mask = mask(field, node);
    int nulls = mask == null ? 0 : HostMemory.countZeroBits(read(mask), offset, length);
    if (node.nullCount() != ArrowNode.UNKNOWN && node.nullCount() != nulls) {
      throw misfit(field, nulls + " nulls where " + node.nullCount() + " are announced");
    }
    Column whole = values(field, type, offset + length, mask);
    if (offset == 0) {
      return whole.withNullCount(nulls);
    }
    Column slice = whole.slice(offset, length);
    opened.add(slice::close);
    whole.close();
    return slice.withNullCount(nulls);
  }

  private Column values(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    return switch (type.id()) {
      case STRING, BINARY -> variableWidth(field, type, length, mask);
      case LIST -> list(field, type, length, mask);
      case STRUCT -> struct(field, type, length, mask);
      case TIMESTAMP_NANOS ->
          field.getType() instanceof ArrowType.Timestamp
              ? nanoseconds(field, type, length, mask)
              : struct(field, type, length, mask);
      case DICTIONARY -> dictionary(field, type, length, mask);
      default -> new Column(type, length, 0, data(field, type, length, mask), mask, List.of());
    };
  }

  /** The padded mask; null if no element is null. */
  private Buffer mask(Field field, ArrowNode node) throws ArrowFormatException {
    if (node.nullCount() == 0) {
      next(0);
      return null;
    }
    long elements = node.offset() + node.length();
    long bytes = BitMask.bytes(elements);
    ArrowBuffer buffer = require(field, bytes);
    long padded = Column.maskBytes(elements);
    if (buffer.memory().size() >= padded) {
      return open(buffer.memory().slice(0, padded));
    }
    Buffer copy = allocate(padded);
    long address = write(copy);
    HostMemory.fill(address, padded, (byte) 0);
    HostMemory.copy(address, read(buffer), bytes);
    return copy;
  }

  private Buffer data(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    int width = type.id().byteWidth();
    return switch (type.id()) {
      case BOOL -> unpacked(field, length);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimals(field, type, length, mask);
      case TIME -> times(field, (ArrowType.Time) field.getType(), length, mask);
      case TIMESTAMP_MILLIS ->
          field.getType() instanceof ArrowType.Timestamp timestamp
                  && timestamp.getUnit() == org.apache.arrow.vector.types.TimeUnit.SECOND
              ? converted(field, length, mask, width, width, s -> Math.multiplyExact(s, 1_000L))
              : fixedWidth(field, length, width);
      default -> fixedWidth(field, length, width);
    };
  }

  private Buffer fixedWidth(Field field, int length, int width) throws ArrowFormatException {
    long bytes = (long) length * width;
    return open(require(field, bytes).memory().slice(0, bytes));
  }

  private Buffer unpacked(Field field, int length) throws ArrowFormatException {
    ArrowBuffer bits = require(field, BitMask.bytes(length));
    Buffer target = allocate(length);
    BitMask.unpack(write(target), read(bits), length);
    return target;
  }

  private Buffer times(Field field, ArrowType.Time type, int length, Buffer mask)
      throws ArrowFormatException {
    int width = TypeId.TIME.byteWidth();
    return switch (type.getUnit()) {
      case SECOND -> converted(field, length, mask, width, width, s -> s * 1_000L);
      case MILLISECOND -> fixedWidth(field, length, width);
      case MICROSECOND -> converted(field, length, mask, Long.BYTES, width, us -> us / 1_000L);
      case NANOSECOND ->
          converted(field, length, mask, Long.BYTES, width, ns -> ns / ArrowValues.NANOS_PER_MILLI);
    };
  }

  private Buffer decimals(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    long bytes = (long) length * TypeId.DECIMAL128.byteWidth();
    Buffer source = require(field, bytes).memory();
    int width = type.id().byteWidth();
    boolean isWide = type.id() == TypeId.DECIMAL128;
    Buffer target = isWide ? open(source.slice(0, bytes)) : allocate((long) length * width);
    long refused =
        ArrowDecimals.narrow(
            isWide ? 0 : write(target),
            width,
            read(source),
            length,
            address(mask),
            ArrowDecimals.Limit.of(type));
    if (refused >= 0) {
      throw misfit(field, ArrowDecimals.tooLarge(refused, type));
    }
    return target;
  }

  private Column variableWidth(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    boolean large =
        field.getType() instanceof ArrowType.LargeUtf8
            || field.getType() instanceof ArrowType.LargeBinary;
    Column offsets = offsets(field, length, large);
    long end = end(offsets);
    Buffer data = open(require(field, end).memory().slice(0, end));
    return new Column(type, length, 0, data, mask, List.of(offsets));
  }

  private Column list(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    Column offsets = offsets(field, length, field.getType() instanceof ArrowType.LargeList);
    Column elements = column(field.getChildren().get(0), type.fields().get(0).type());
    if (end(offsets) > elements.size()) {
      throw misfit(field, "lists up to " + end(offsets) + " of " + elements.size() + " elements");
    }
    return new Column(type, length, 0, null, mask, List.of(offsets, elements));
  }

  private Column offsets(Field field, int length, boolean large) throws ArrowFormatException {
    Buffer offsets = offsetsBuffer(field, length, large);
    ArrowContent.checkOffsets(field, read(offsets), length + 1L, Integer.BYTES);
    return new Column(DataType.INT32, length + 1, 0, offsets, null, List.of());
  }

  // An empty array may have no offsets at all; a column has one.
  private Buffer offsetsBuffer(Field field, int length, boolean large) throws ArrowFormatException {
    if (length == Integer.MAX_VALUE) {
      throw misfit(field, length + " elements, whose offsets are one too many");
    }
    if (length == 0) {
      next(0);
      Buffer zero = allocate(Integer.BYTES);
      HostMemory.putInt(write(zero), 0);
      return zero;
    }
    return large
        ? converted(field, length + 1, null, Long.BYTES, Integer.BYTES, offset -> offset)
        : fixedWidth(field, length + 1, Integer.BYTES);
  }

  private int end(Column offsets) {
    long last = (offsets.size() - 1L) * Integer.BYTES;
    return HostMemory.getInt(read(offsets.data().orElseThrow()) + last);
  }

  private Column struct(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    List<Column> children = new ArrayList<>();
    List<DataType> types = type.childTypes();
    for (int i = 0; i < types.size(); i++) {
      Column child = column(field.getChildren().get(i), types.get(i));
      if (child.size() < length) {
        throw misfit(field, child.size() + " elements in a field of " + length + " structs");
      }
      children.add(child);
    }
    return new Column(type, length, 0, null, mask, children);
  }

  private Column nanoseconds(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    ArrowBuffer nanos = require(field, (long) length * Long.BYTES);
    Buffer millis = allocate((long) length * Long.BYTES);
    Buffer nanosOfMilli = allocate((long) length * Integer.BYTES);
    new ArrowValues(read(nanos), Long.BYTES)
        .split(
            new ArrowValues(write(millis), Long.BYTES),
            new ArrowValues(write(nanosOfMilli), Integer.BYTES),
            length);
    return new Column(
        type,
        length,
        0,
        null,
        mask,
        List.of(
            new Column(DataType.INT64, length, 0, millis, null, List.of()),
            new Column(DataType.INT32, length, 0, nanosOfMilli, null, List.of())));
  }

  private Column dictionary(Field field, DataType type, int length, Buffer mask)
      throws ArrowFormatException {
    Column values = dictionaries.get(field.getDictionary().getId());
    if (values == null) {
      throw misfit(field, "no dictionary " + field.getDictionary().getId());
    }
    Buffer codes = codes(field, length, mask);
    ArrowContent.checkCodes(field, read(codes), length, address(mask), values);
    Column shared = values.share();
    opened.add(shared::close);
    return new Column(type, length, 0, codes, mask, List.of(shared));
  }

  private Buffer codes(Field field, int length, Buffer mask) throws ArrowFormatException {
    ArrowType.Int index = field.getDictionary().getIndexType();
    int bits = index == null ? Integer.SIZE : index.getBitWidth();
    boolean signed = index == null || index.getIsSigned();
    if (bits == Integer.SIZE && signed) {
      return fixedWidth(field, length, Integer.BYTES);
    }
    long unsigned = bits == Long.SIZE ? -1 : (1L << bits) - 1;
    LongUnaryOperator widen = signed ? code -> code : code -> code & unsigned;
    return converted(field, length, mask, bits / Byte.SIZE, Integer.BYTES, widen);
  }

  /** Converts each value of the next buffer; values under a null become zero. */
  private Buffer converted(
      Field field, int length, Buffer mask, int fromWidth, int toWidth, LongUnaryOperator operator)
      throws ArrowFormatException {
    ArrowBuffer from = require(field, (long) length * fromWidth);
    Buffer to = allocate((long) length * toWidth);
    ArrowValues source = new ArrowValues(read(from), fromWidth);
    int refused =
        new ArrowValues(write(to), toWidth).convert(source, length, address(mask), operator);
    if (refused >= 0) {
      throw misfit(
          field, "the value " + source.get(refused) + " in row " + refused + ", out of range");
    }
    return to;
  }

  private long address(Buffer mask) {
    return mask == null ? 0 : read(mask);
  }

  private ArrowBuffer next(long needed) throws ArrowFormatException {
    ArrowBuffer buffer = source.nextBuffer(needed);
    sources.add(buffer.memory());
    return buffer;
  }

  private ArrowBuffer require(Field field, long bytes) throws ArrowFormatException {
    ArrowBuffer buffer = next(bytes);
    if (buffer.length() < bytes) {
      throw misfit(field, "a buffer of " + buffer.length() + " bytes that needs " + bytes);
    }
    return buffer;
  }

  private Buffer allocate(long bytes) {
    return open(Buffer.allocate(bytes, stream, resource));
  }

  private Buffer open(Buffer buffer) {
    opened.add(buffer::close);
    return buffer;
  }

  private long read(ArrowBuffer buffer) {
    return read(buffer.memory());
  }

  private long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  private long write(Buffer buffer) {
    return buffer.access(AccessMode.WRITE, scope);
  }
}
