// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.testing.DataTypes;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Sets each member of each C struct of a table of each type to values that it cannot have, and
 * imports the table. Prints each case before it is run, so that the last line shows the case that
 * ended the process, and "done" at the end.
 *
 * <p>Pointers to 2^40 are left out: only a read can tell whether there is memory at an address.
 */
final class CStructProcess {
  private static final int ROWS = 10;
  private static final long[] VALUES = {0, -1, 1L << 40};
  private static final String[] ARRAY_MEMBERS = {
    "length",
    "null_count",
    "offset",
    "n_buffers",
    "n_children",
    "*buffers",
    "*children",
    "*dictionary",
    "*release"
  };
  private static final String[] SCHEMA_MEMBERS = {
    "*format", "*name", "*metadata", "flags", "n_children", "*children", "*dictionary", "*release"
  };
  private static final int CHILD_COUNT_OF_ARRAY = 32;
  private static final int CHILDREN_OF_ARRAY = 48;
  private static final int CHILD_COUNT_OF_SCHEMA = 32;
  private static final int CHILDREN_OF_SCHEMA = 40;

  private final DeviceStream stream = HostDevice.INSTANCE.createStream();
  private final MemoryResource memory = HostMemoryResource.INSTANCE;
  private final BufferAllocator allocator = new RootAllocator();
  private int refused;

  /** A place where a struct has a member or a pointer. */
  private record Place(String name, long address, boolean isPointer) {}

  public static void main(String[] arguments) {
    CStructProcess process = new CStructProcess();
    List<DataType> types = DataTypes.all();
    for (int i = 0; i < types.size(); i++) {
      process.run(types.get(i));
    }
    System.out.println(
        "done, " + process.refused + " refused on " + Device.current().description());
  }

  private void run(DataType type) {
    Schema schema = DataTypes.schema(List.of(type));
    List<List<Object>> rows = new RandomTables(new Random(1), 0.3).rows(schema, ROWS);
    ArrowCDeviceExporter exporter = new ArrowCDeviceExporter(allocator, stream, memory);
    try (Table table = TableBuilder.ofRows(schema, rows).buildOnHost(stream, memory);
        ArrowDeviceArray array = exporter.toArrowHost(table, stream);
        ArrowSchema arrowSchema = exporter.toArrowSchema(schema)) {
      List<Place> places = new ArrayList<>();
      addArray("array", array.address(), places);
      addSchema("schema", arrowSchema.memoryAddress(), places);
      for (Place place : places) {
        for (long value : VALUES) {
          if (!place.isPointer || value != 1L << 40) {
            run(type, place, value, array, arrowSchema);
          }
        }
      }
      arrowSchema.release();
    }
  }

  private static void addArray(String name, long address, List<Place> places) {
    for (int i = 0; i < ARRAY_MEMBERS.length; i++) {
      places.add(place(name, ARRAY_MEMBERS[i], address + i * (long) Long.BYTES));
    }
    long buffers = HostMemory.getLong(address + 40);
    for (long i = 0; i < HostMemory.getLong(address + 24); i++) {
      places.add(place(name, "*buffers[" + i + "]", buffers + i * Long.BYTES));
    }
    long children = HostMemory.getLong(address + CHILDREN_OF_ARRAY);
    for (long i = 0; i < HostMemory.getLong(address + CHILD_COUNT_OF_ARRAY); i++) {
      places.add(place(name, "*children[" + i + "]", children + i * Long.BYTES));
      addArray(name + "." + i, HostMemory.getLong(children + i * Long.BYTES), places);
    }
    long dictionary = HostMemory.getLong(address + 56);
    if (dictionary != 0) {
      addArray(name + ".dictionary", dictionary, places);
    }
  }

  private static void addSchema(String name, long address, List<Place> places) {
    for (int i = 0; i < SCHEMA_MEMBERS.length; i++) {
      places.add(place(name, SCHEMA_MEMBERS[i], address + i * (long) Long.BYTES));
    }
    long children = HostMemory.getLong(address + CHILDREN_OF_SCHEMA);
    for (long i = 0; i < HostMemory.getLong(address + CHILD_COUNT_OF_SCHEMA); i++) {
      places.add(place(name, "*children[" + i + "]", children + i * Long.BYTES));
      addSchema(name + "." + i, HostMemory.getLong(children + i * Long.BYTES), places);
    }
    long dictionary = HostMemory.getLong(address + 48);
    if (dictionary != 0) {
      addSchema(name + ".dictionary", dictionary, places);
    }
  }

  private static Place place(String struct, String member, long address) {
    return new Place(struct + " " + member.replace("*", ""), address, member.startsWith("*"));
  }

  private void run(
      DataType type, Place place, long value, ArrowDeviceArray array, ArrowSchema schema) {
    System.out.println(type + ": " + place.name + " = " + value);
    long before = HostMemory.getLong(place.address);
    HostMemory.putLong(place.address, value);
    try {
      ArrowCDeviceImporter importer = new ArrowCDeviceImporter(allocator, stream, memory);
      expectCleanEnd(() -> importer.fromArrowDevice(schema, array, stream, memory));
      expectCleanEnd(() -> importer.fromArrow(schema, array.array(), stream, memory));
    } finally {
      HostMemory.putLong(place.address, before);
    }
  }

  private interface Import {
    Table run() throws ArrowFormatException;
  }

  private void expectCleanEnd(Import work) {
    try (Table table = work.run()) {
      for (int i = 0; i < table.columnCount(); i++) {
        table.column(i).nullCount(stream);
      }
    } catch (ArrowFormatException | IllegalArgumentException e) {
      if (e.getMessage() == null) {
        throw new IllegalStateException("an error without a message", e);
      }
      refused++;
    }
  }
}
