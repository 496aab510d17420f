package io.millrace.arrow;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * The last offset of each array that has offsets, which says how long what is behind them is: the
 * structs do not. All are copied to the host at once, and waited for only if there are any.
 */
final class OffsetEnds {
  private final Map<CArray, Long> ends = new HashMap<>();

  private OffsetEnds() {}

  private record Offsets(CArray array, int width) {}

  /**
   * @param root in message format, of which {@code array} has the shape
   * @param dictionaries the fields of dictionaries, by number
   * @throws ArrowFormatException if an array has no offsets
   */
  static OffsetEnds read(
      Field root, CArray array, Map<Long, Field> dictionaries, DeviceStream stream)
      throws ArrowFormatException {
    List<Offsets> found = new ArrayList<>();
    collect(root, array, dictionaries, found);
    OffsetEnds ends = new OffsetEnds();
    if (!found.isEmpty()) {
      ends.read(found, stream);
    }
    return ends;
  }

  private static void collect(
      Field field, CArray array, Map<Long, Field> dictionaries, List<Offsets> found)
      throws ArrowFormatException {
    if (field.getDictionary() != null) {
      Field values = dictionaries.get(field.getDictionary().getId());
      collect(values, array.dictionary(), dictionaries, found);
      return;
    }
    int width = width(field);
    if (width > 0 && array.length() + array.offset() > 0) {
      if (array.buffer(1) == 0) {
        throw new ArrowFormatException("column '" + field.getName() + "' has no offsets");
      }
      found.add(new Offsets(array, width));
    }
    for (int i = 0; i < field.getChildren().size(); i++) {
      collect(field.getChildren().get(i), array.child(i), dictionaries, found);
    }
  }

  /** Bytes of an offset of this field's arrays; 0 if they have none. */
  static int width(Field field) {
    return switch (field.getType().getTypeID()) {
      case Utf8, Binary, List -> Integer.BYTES;
      case LargeUtf8, LargeBinary, LargeList -> Long.BYTES;
      default -> 0;
    };
  }

  private void read(List<Offsets> found, DeviceStream stream) {
    try (StagingBuffer staging =
        stream.device().stagingPool().acquire(found.size() * (long) Long.BYTES)) {
      for (int i = 0; i < found.size(); i++) {
        Offsets offsets = found.get(i);
        long last = offsets.array.offset() + offsets.array.length();
        stream.copy(
            staging.address() + i * (long) Long.BYTES,
            offsets.array.buffer(1) + last * offsets.width,
            offsets.width);
      }
      try (DeviceEvent copied = stream.recordEvent()) {
        copied.synchronize();
      }
      for (int i = 0; i < found.size(); i++) {
        long at = staging.address() + i * (long) Long.BYTES;
        boolean isWide = found.get(i).width == Long.BYTES;
        ends.put(found.get(i).array, isWide ? HostMemory.getLong(at) : HostMemory.getInt(at));
      }
    }
  }

  /** The last offset of {@code array}; 0 if it is empty. */
  long of(CArray array) {
    return ends.getOrDefault(array, 0L);
  }
}
