package io.millrace.arrow;

import io.millrace.arrow.ArrowLayout.Integers;
import io.millrace.arrow.ArrowLayout.Operation;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
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
 * buffers. The structs and the ends of offsets are checked; other content of buffers is not, since
 * that would wait for the device.
 */
final class DeviceImport {
  private static final long MILLIS_OF_SECOND = 1_000;
  private static final long MICROS_OF_MILLI = 1_000;

  private final Map<Long, Field> dictionaryFields;
  private final OffsetEnds ends;
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final ArrowLayout layout;
  private final AccessScope scope;
  private final List<Buffer> opened = new ArrayList<>();
  private final List<Buffer> temporary = new ArrayList<>();

  private DeviceImport(
      Map<Long, Field> dictionaryFields,
      OffsetEnds ends,
      DeviceStream stream,
      MemoryResource resource) {
    this.dictionaryFields = dictionaryFields;
    this.ends = ends;
    this.stream = stream;
    this.resource = resource;
    this.layout = new ArrowLayout(stream);
    this.scope = AccessScope.on(stream);
  }

  /**
   * A column over {@code array}, which must live longer; the caller owns the column.
   *
   * @param root in message format
   * @param stream what conversions are enqueued on and whose order new memory follows
   * @param resource memory of the stream's device for what is converted
   * @throws ArrowTypeException if a type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  static Column importColumn(Field root, CArray array, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    DataType type = ArrowSchemaConverter.typeOf(root);
    CArraySource.dictionaries(array, root);
    Map<Long, Field> fields = ArrowSchemaConverter.dictionaryFields(List.of(root));
    OffsetEnds ends = OffsetEnds.read(root, array, fields, stream);
    DeviceImport work = new DeviceImport(fields, ends, stream, resource);
    boolean done = false;
    try (work.scope) {
      Column column = work.column(root, type, array);
      done = true;
      return column;
    } finally {
      work.temporary.forEach(Buffer::close);
      if (!done) {
        work.opened.forEach(Buffer::close);
      }
    }
  }

  private Column column(Field field, DataType type, CArray array) throws ArrowFormatException {
    long end = array.offset() + array.length();
    if (array.length() < 0 || array.offset() < 0 || end < 0 || end >= Integer.MAX_VALUE) {
      throw misfit(field, array.length() + " elements behind " + array.offset());
    }
    Part part = new Part(field, type, array, (int) end, mask(field, array, end));
    Column column =
        switch (type.id()) {
          case STRING, BINARY -> variableWidth(part);
          case LIST -> list(part);
          case STRUCT -> struct(part);
          case TIMESTAMP_NANOS ->
              field.getType() instanceof ArrowType.Timestamp ? nanoseconds(part) : struct(part);
          case DICTIONARY -> dictionary(part);
          default -> part.column(data(part), List.of());
        };
    boolean isCounted = part.mask != null && array.nullCount() >= 0;
    return isCounted ? column.withNullCount((int) array.nullCount()) : column;
  }

  /**
   * An array on its way to become a column.
   *
   * @param end elements up to the array's last, those before its offset counted
   * @param mask null if no element is null
   */
  private record Part(Field field, DataType type, CArray array, int end, Buffer mask) {
    Column column(Buffer data, List<Column> children) {
      return new Column(type, (int) array.length(), (int) array.offset(), data, mask, children);
    }
  }

  private Buffer mask(Field field, CArray array, long end) throws ArrowFormatException {
    if (array.buffer(0) == 0 || array.nullCount() == 0) {
      if (array.nullCount() > 0) {
        throw misfit(field, array.nullCount() + " nulls and no mask");
      }
      return null;
    }
    long bytes = BitMask.bytes(end);
    long padded = Column.maskBytes(end);
    if (bytes == padded) {
      return view(array.buffer(0), bytes, Integer.BYTES);
    }
    Buffer copy = allocate(padded);
    long address = write(copy);
    stream.fill(address + bytes, (byte) 0, padded - bytes);
    stream.copy(address, array.buffer(0), bytes);
    return copy;
  }

  private Buffer data(Part part) throws ArrowFormatException {
    int width = part.type.id().byteWidth();
    return switch (part.type.id()) {
      case BOOL -> {
        Buffer target = allocate(part.end);
        layout.unpack(write(target), address(part, 1), part.end);
        yield target;
      }
      case DECIMAL32, DECIMAL64 ->
          converted(part, TypeId.DECIMAL128.byteWidth(), true, width, Operation.MULTIPLY, 1);
      case TIME -> times(part, ((ArrowType.Time) part.field.getType()).getUnit());
      case TIMESTAMP_MILLIS ->
          part.field.getType() instanceof ArrowType.Timestamp timestamp
                  && timestamp.getUnit() == TimeUnit.SECOND
              ? converted(part, width, true, width, Operation.MULTIPLY, MILLIS_OF_SECOND)
              : values(part, width);
      default -> values(part, width);
    };
  }

  private Buffer times(Part part, TimeUnit unit) throws ArrowFormatException {
    int width = TypeId.TIME.byteWidth();
    return switch (unit) {
      case SECOND -> converted(part, width, true, width, Operation.MULTIPLY, MILLIS_OF_SECOND);
      case MILLISECOND -> values(part, width);
      case MICROSECOND ->
          converted(part, Long.BYTES, true, width, Operation.DIVIDE, MICROS_OF_MILLI);
      case NANOSECOND ->
          converted(part, Long.BYTES, true, width, Operation.DIVIDE, ArrowValues.NANOS_OF_MILLI);
    };
  }

  private Column nanoseconds(Part part) throws ArrowFormatException {
    long nanos = ArrowValues.NANOS_OF_MILLI;
    Buffer millis = converted(part, Long.BYTES, true, Long.BYTES, Operation.DIVIDE, nanos);
    Buffer nanosOfMilli =
        converted(part, Long.BYTES, true, Integer.BYTES, Operation.REMAINDER, nanos);
    return part.column(
        null,
        List.of(
            new Column(DataType.INT64, part.end, 0, millis, null, List.of()),
            new Column(DataType.INT32, part.end, 0, nanosOfMilli, null, List.of())));
  }

  private Column variableWidth(Part part) throws ArrowFormatException {
    Column offsets = offsets(part);
    long bytes = ends.of(part.array);
    if (bytes > 0 && part.array.buffer(2) == 0) {
      throw misfit(part.field, bytes + " bytes and no buffer of them");
    }
    return part.column(view(part.array.buffer(2), bytes, 1), List.of(offsets));
  }

  private Column list(Part part) throws ArrowFormatException {
    Column offsets = offsets(part);
    Field field = part.field.getChildren().get(0);
    Column elements = column(field, part.type.fields().get(0).type(), part.array.child(0));
    if (ends.of(part.array) > elements.size()) {
      throw misfit(
          part.field,
          "lists up to " + ends.of(part.array) + " of " + elements.size() + " elements");
    }
    return part.column(null, List.of(offsets, elements));
  }

  // An empty array may have no offsets at all; a column has one.
  private Column offsets(Part part) throws ArrowFormatException {
    long last = ends.of(part.array);
    if (last < 0 || last > Integer.MAX_VALUE) {
      throw misfit(part.field, "the last offset " + last);
    }
    int width = OffsetEnds.width(part.field);
    Buffer offsets;
    if (part.end == 0) {
      offsets = allocate(Integer.BYTES);
      stream.fill(write(offsets), (byte) 0, Integer.BYTES);
    } else if (width == Integer.BYTES) {
      offsets = view(part.array.buffer(1), (part.end + 1L) * width, width);
    } else {
      offsets = allocate((part.end + 1L) * Integer.BYTES);
      Integers source = Integers.signed(aligned(part.array.buffer(1), part.end + 1L, width), width);
      layout.convert(write(offsets), Integer.BYTES, source, part.end + 1);
    }
    return new Column(DataType.INT32, part.end + 1, 0, offsets, null, List.of());
  }

  private Column struct(Part part) throws ArrowFormatException {
    List<Column> children = new ArrayList<>();
    List<DataType> types = part.type.childTypes();
    for (int i = 0; i < types.size(); i++) {
      Column child = column(part.field.getChildren().get(i), types.get(i), part.array.child(i));
      if (child.size() < part.end) {
        throw misfit(part.field, child.size() + " elements in a field of " + part.end + " structs");
      }
      children.add(child);
    }
    return part.column(null, children);
  }

  private Column dictionary(Part part) throws ArrowFormatException {
    Field field = dictionaryFields.get(part.field.getDictionary().getId());
    Column values = column(field, part.type.fields().get(0).type(), part.array.dictionary());
    ArrowType.Int index = part.field.getDictionary().getIndexType();
    int width = index.getBitWidth() / Byte.SIZE;
    Buffer codes =
        width == Integer.BYTES
            ? values(part, width)
            : converted(part, width, index.getIsSigned(), Integer.BYTES, Operation.MULTIPLY, 1);
    return part.column(codes, List.of(values));
  }

  private Buffer values(Part part, int width) throws ArrowFormatException {
    return view(address(part, 1), (long) part.end * width, width);
  }

  private Buffer converted(
      Part part, int fromWidth, boolean isSigned, int toWidth, Operation operation, long operand)
      throws ArrowFormatException {
    Buffer target = allocate((long) part.end * toWidth);
    long source = aligned(address(part, 1), part.end, fromWidth);
    layout.convert(
        write(target),
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

  /** Memory of the array, or a copy of it if the device cannot load values from there. */
  private Buffer view(long address, long bytes, int alignment) {
    if (address % alignment != 0) {
      return copy(address, bytes);
    }
    Buffer view = Buffer.wrap(address, bytes, stream.device(), stream, () -> {});
    opened.add(view);
    return view;
  }

  /** Where values can be loaded from until this is done. */
  private long aligned(long address, long values, int width) {
    return address % Math.min(width, Long.BYTES) == 0
        ? address
        : write(temporary(copy(address, values * width)));
  }

  private Buffer copy(long address, long bytes) {
    Buffer copy = allocate(bytes);
    stream.copy(write(copy), address, bytes);
    return copy;
  }

  private Buffer temporary(Buffer buffer) {
    opened.remove(buffer);
    temporary.add(buffer);
    return buffer;
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, resource);
    opened.add(buffer);
    return buffer;
  }

  private long write(Buffer buffer) {
    return buffer.access(AccessMode.WRITE, scope);
  }

  private static ArrowFormatException misfit(Field field, String what) {
    return new ArrowFormatException(
        "column '" + field.getName() + "' (" + field.getType() + ") has " + what);
  }
}
