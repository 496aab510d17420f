// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static io.millrace.arrow.ArrowContent.misfit;

import io.millrace.arrow.ArrowContent;
import io.millrace.arrow.ArrowDecimals;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowLayout;
import io.millrace.arrow.ArrowLayout.Integers;
import io.millrace.arrow.ArrowLayout.Operation;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.arrow.ArrowValues;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.NotNullCheck;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Makes columns over arrays in memory of any device. Columns point at the arrays' memory where the
 * layouts agree; the rest is converted into new memory, as are masks without padding and misaligned
 * buffers.
 *
 * <p>The structs are checked, and of the content what the host learns with one wait: the ends of
 * offsets, decimals' digits and, if null counts leave it open, nulls in NOT NULL fields. Other
 * content is checked where the host reads it without waiting: on the host.
 */
final class DeviceImport implements AutoCloseable {
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  private final Map<Long, Field> dictionaryFields;
  private final DeviceStream stream;
  private final ArrowLayout layout;
  private final ImportedMemory memory;
  private final DeviceReads reads;

  private DeviceImport(Field root, DeviceStream stream, MemoryResource resource) {
    this.dictionaryFields = ArrowSchemaConverter.dictionaryFields(List.of(root));
    this.stream = stream;
    this.layout = ArrowLayout.on(stream);
    this.memory = new ImportedMemory(stream, resource);
    this.reads = memory.reads();
  }

  /**
   * A column over {@code array}, which must live longer; the caller owns the column.
   *
   * @param root in message format
   * @param stream the stream that conversions are enqueued on and that orders new memory
   * @param resource memory of the stream's device for converted columns
   * @throws ArrowTypeException if a type is not supported
   * @throws ArrowFormatException if the array does not match the schema
   */
  static Column importColumn(Field root, CArray array, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    DataType.Field field = ArrowSchemaConverter.fieldFromArrow(root);
    CArraySource.dictionaries(array, root);
    NullCounts.checkAnnounced(field, array);
    try (DeviceImport work = new DeviceImport(root, stream, resource)) {
      Column column = work.read(root, field, array);
      ArrowContent.checkNulls(List.of(field), List.of(column), work.memory::hostAddress);
      work.memory.give();
      return column;
    }
  }

  /** As {@link #importColumn}, the rows of a table, which is a struct array. */
  static Column importRows(Field root, CArray array, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    DataType type = ArrowSchemaConverter.typeOf(root);
    CArraySource.dictionaries(array, root);
    NullCounts.checkAnnouncedInRows(type, array);
    try (DeviceImport work = new DeviceImport(root, stream, resource)) {
      DataType.Field rows = new DataType.Field(root.getName(), type, false);
      Column column = work.read(root, rows, array);
      work.countNullRows(column);
      ArrowContent.checkRows(column, work.memory::hostAddress);
      work.memory.give();
      return column;
    }
  }

  private Column read(Field root, DataType.Field field, CArray array) throws ArrowFormatException {
    Pending pending = column(root, field, array);
    reads.await();
    return pending.finish();
  }

  // No row may be null; the caller says so in its own words.
  private void countNullRows(Column rows) {
    rows.validity()
        .ifPresent(
            mask ->
                rows.withNullCount(
                    HostMemory.countZeroBits(
                        memory.hostAddress(mask), rows.offset(), rows.size())));
  }

  /** Leaves nothing open but a column that is done. */
  @Override
  public void close() {
    memory.close();
  }

  /** A column whose conversions are enqueued, to be completed when the host's reads are done. */
  private interface Pending {
    Column finish() throws ArrowFormatException;
  }

  private Pending column(Field field, DataType.Field typed, CArray array)
      throws ArrowFormatException {
    int end = (int) (array.offset() + array.length());
    if (end == Integer.MAX_VALUE) {
      throw misfit(field, array.length() + " elements behind " + array.offset());
    }
    boolean isUndecided = NullCounts.leaveOpen(typed, array);
    Buffer mask = memory.mask(array, end);
    if (mask != null && array.nullCount() == 0) {
      memory.temporary(mask);
    }
    Part part = new Part(field, typed.type(), array, end, mask, isUndecided);
    readIfUndecided(part, part.mask);
    Pending column = column(part);
    boolean isCounted = part.mask != null && array.nullCount() > 0;
    return isCounted ? () -> column.finish().withNullCount((int) array.nullCount()) : column;
  }

  private Pending column(Part part) throws ArrowFormatException {
    return switch (part.type.id()) {
      case STRING, BINARY -> variableWidth(part);
      case LIST -> list(part);
      case STRUCT -> struct(part);
      case TIMESTAMP_NANOS ->
          part.field.getType() instanceof ArrowType.Timestamp ? nanoseconds(part) : struct(part);
      case DICTIONARY -> dictionary(part);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimals(part);
      default -> {
        Buffer data = data(part);
        yield () -> part.column(data, List.of());
      }
    };
  }

  /**
   * An array on its way to become a column.
   *
   * @param end elements up to the array's last, those before its offset counted
   * @param mask null if no element is null
   * @param isUndecided whether the host must read if NOT NULL fields have nulls
   */
  private record Part(
      Field field, DataType type, CArray array, int end, Buffer mask, boolean isUndecided) {
    Column column(Buffer data, List<Column> children) {
      Buffer nulls = array.nullCount() == 0 ? null : mask;
      return new Column(type, (int) array.length(), (int) array.offset(), data, nulls, children);
    }
  }

  private void readIfUndecided(Part part, Buffer buffer) {
    if (part.isUndecided && buffer != null) {
      memory.readOnHost(buffer);
    }
  }

  private Buffer data(Part part) throws ArrowFormatException {
    int width = part.type.id().byteWidth();
    return switch (part.type.id()) {
      case BOOL -> {
        Buffer target = memory.allocate(part.end);
        layout.unpack(memory.write(target), address(part, 1), part.end);
        yield target;
      }
      case TIME -> times(part, ((ArrowType.Time) part.field.getType()).getUnit());
      case TIMESTAMP_MILLIS ->
          part.field.getType() instanceof ArrowType.Timestamp timestamp
                  && timestamp.getUnit() == TimeUnit.SECOND
              ? converted(part, width, true, width, Operation.MULTIPLY, MILLIS_PER_SECOND)
              : values(part, width);
      default -> values(part, width);
    };
  }

  private Buffer times(Part part, TimeUnit unit) throws ArrowFormatException {
    int width = TypeId.TIME.byteWidth();
    return switch (unit) {
      case SECOND -> converted(part, width, true, width, Operation.MULTIPLY, MILLIS_PER_SECOND);
      case MILLISECOND -> values(part, width);
      case MICROSECOND ->
          converted(part, Long.BYTES, true, width, Operation.DIVIDE, MICROS_PER_MILLI);
      case NANOSECOND ->
          converted(part, Long.BYTES, true, width, Operation.DIVIDE, ArrowValues.NANOS_PER_MILLI);
    };
  }

  private Pending decimals(Part part) throws ArrowFormatException {
    int wide = TypeId.DECIMAL128.byteWidth();
    int width = part.type.id().byteWidth();
    Buffer data = width == wide ? values(part, wide) : memory.allocate((long) part.end * width);
    long source =
        width == wide ? memory.read(data) : memory.aligned(address(part, 1), part.end, wide);
    Buffer refused = memory.temporary(memory.allocate(Long.BYTES));
    layout.narrowDecimals(
        width == wide ? 0 : memory.write(data),
        width,
        source,
        part.end,
        part.mask == null ? 0 : memory.read(part.mask),
        ArrowDecimals.Limit.of(part.type),
        memory.write(refused));
    long row = reads.add(memory.read(refused), Long.BYTES);
    return () -> {
      long refusedRow = HostMemory.getLong(reads.address(row));
      if (refusedRow >= 0) {
        throw misfit(part.field, ArrowDecimals.tooLarge(refusedRow, part.type));
      }
      return part.column(data, List.of());
    };
  }

  private Pending nanoseconds(Part part) throws ArrowFormatException {
    long nanos = ArrowValues.NANOS_PER_MILLI;
    Buffer millis = converted(part, Long.BYTES, true, Long.BYTES, Operation.DIVIDE, nanos);
    Buffer nanosOfMilli =
        converted(part, Long.BYTES, true, Integer.BYTES, Operation.REMAINDER, nanos);
    return () ->
        part.column(
            null,
            List.of(
                new Column(DataType.INT64, part.end, 0, millis, null, List.of()),
                new Column(DataType.INT32, part.end, 0, nanosOfMilli, null, List.of())));
  }

  private Pending variableWidth(Part part) throws ArrowFormatException {
    Offsets offsets = offsets(part);
    return () -> {
      long bytes = offsets.end();
      if (bytes > 0 && part.array.buffer(2) == 0) {
        throw misfit(part.field, bytes + " bytes and no buffer of them");
      }
      return part.column(memory.view(part.array.buffer(2), bytes, 1), List.of(offsets.column()));
    };
  }

  private Pending list(Part part) throws ArrowFormatException {
    Offsets offsets = offsets(part);
    readIfUndecided(part, offsets.buffer);
    Pending elements =
        column(part.field.getChildren().get(0), part.type.fields().get(0), part.array.child(0));
    return () -> {
      Column column = elements.finish();
      if (offsets.end() > column.size()) {
        throw misfit(
            part.field, "lists up to " + offsets.end() + " of " + column.size() + " elements");
      }
      return part.column(null, List.of(offsets.column(), column));
    };
  }

  /** Offsets as a column has them; {@code read} is what the host reads of the last one. */
  private final class Offsets {
    private final Part part;
    private final Buffer buffer;
    private final int width;
    private final long read;

    Offsets(Part part, Buffer buffer, int width) {
      this.part = part;
      this.buffer = buffer;
      this.width = width;
      long last = part.array.buffer(1) + (long) part.end * width;
      this.read = part.end == 0 ? 0 : reads.add(last, width);
    }

    /** The last offset. */
    long end() throws ArrowFormatException {
      if (part.end == 0) {
        return 0;
      }
      long at = reads.address(read);
      long end = width == Long.BYTES ? HostMemory.getLong(at) : HostMemory.getInt(at);
      if (end < 0 || end > Integer.MAX_VALUE) {
        throw misfit(part.field, "the last offset " + end);
      }
      return end;
    }

    Column column() throws ArrowFormatException {
      if (stream.device().isHostAccessible() && part.end > 0) {
        ArrowContent.checkOffsets(part.field, part.array.buffer(1), part.end + 1L, width);
      }
      return new Column(DataType.INT32, part.end + 1, 0, buffer, null, List.of());
    }
  }

  // An empty array may have no offsets at all; a column has one.
  private Offsets offsets(Part part) throws ArrowFormatException {
    int width =
        switch (part.field.getType().getTypeID()) {
          case LargeUtf8, LargeBinary, LargeList -> Long.BYTES;
          default -> Integer.BYTES;
        };
    long address = part.array.buffer(1);
    Buffer offsets;
    if (part.end == 0) {
      offsets = memory.allocate(Integer.BYTES);
      stream.fill(memory.write(offsets), (byte) 0, Integer.BYTES);
    } else if (address == 0) {
      throw misfit(part.field, "no offsets");
    } else if (width == Integer.BYTES) {
      offsets = memory.view(address, (part.end + 1L) * width, width);
    } else {
      offsets = memory.allocate((part.end + 1L) * Integer.BYTES);
      Integers source = Integers.signed(memory.aligned(address, part.end + 1L, width), width);
      layout.convert(memory.write(offsets), Integer.BYTES, source, part.end + 1);
    }
    return new Offsets(part, offsets, width);
  }

  private Pending struct(Part part) throws ArrowFormatException {
    List<Pending> fields = new ArrayList<>();
    List<DataType.Field> types = NotNullCheck.childFields(part.type);
    for (int i = 0; i < types.size(); i++) {
      CArray child = part.array.child(i);
      if (child.length() < part.end) {
        throw misfit(
            part.field, child.length() + " elements in a field of " + part.end + " structs");
      }
      fields.add(column(part.field.getChildren().get(i), types.get(i), child));
    }
    return () -> {
      List<Column> children = new ArrayList<>();
      for (Pending field : fields) {
        children.add(field.finish());
      }
      return part.column(null, children);
    };
  }

  private Pending dictionary(Part part) throws ArrowFormatException {
    Field field = dictionaryFields.get(part.field.getDictionary().getId());
    // A null value is a null code, so null counts of codes need the nulls of the values.
    DataType.Field typed = part.type.fields().get(0);
    DataType.Field read = new DataType.Field(typed.name(), typed.type(), !part.isUndecided);
    Pending values = column(field, read, part.array.dictionary());
    ArrowType.Int index = part.field.getDictionary().getIndexType();
    int width = index.getBitWidth() / Byte.SIZE;
    Buffer codes =
        width == Integer.BYTES
            ? values(part, width)
            : converted(part, width, index.getIsSigned(), Integer.BYTES, Operation.MULTIPLY, 1);
    readIfUndecided(part, codes);
    return () -> {
      Column dictionary = values.finish();
      if (stream.device().isHostAccessible()) {
        long mask = part.mask == null ? 0 : memory.read(part.mask);
        ArrowContent.checkCodes(part.field, memory.read(codes), part.end, mask, dictionary);
      }
      return part.column(codes, List.of(dictionary));
    };
  }

  private Buffer values(Part part, int width) throws ArrowFormatException {
    return memory.view(address(part, 1), (long) part.end * width, width);
  }

  private Buffer converted(
      Part part, int fromWidth, boolean isSigned, int toWidth, Operation operation, long operand)
      throws ArrowFormatException {
    Buffer target = memory.allocate((long) part.end * toWidth);
    long source = memory.aligned(address(part, 1), part.end, fromWidth);
    layout.convert(
        memory.write(target),
        toWidth,
        new Integers(source, fromWidth, isSigned),
        part.end,
        operation,
        operand);
    return target;
  }

  private long address(Part part, int buffer) throws ArrowFormatException {
    long address = part.array.buffer(buffer);
    if (address == 0 && part.end > 0) {
      throw misfit(part.field, part.end + " elements and no buffer of them");
    }
    return address;
  }
}
