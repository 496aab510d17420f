// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowExporter;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Tables to and from the structs of the Arrow C data interface, in this process and without copies
 * where the layouts agree. Used by one thread.
 *
 * @see <a href="https://arrow.apache.org/docs/format/CDataInterface.html">The C data interface</a>
 */
@PublicEvolving
public final class ArrowCDataInterface {
  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource resource;

  /**
   * @param allocator counts exported memory and holds the structs; owned by the caller; closed
   *     after all exported arrays are released and all imported tables are closed
   * @param hostStream a host stream, open as long
   * @param resource host memory for conversions and copies
   */
  public ArrowCDataInterface(
      BufferAllocator allocator, DeviceStream hostStream, MemoryResource resource) {
    this.allocator = allocator;
    this.hostStream = hostStream;
    this.resource = resource;
  }

  /**
   * Fills {@code array} and {@code schema} with {@code table}, as a struct array of its columns.
   * The caller still owns the table and may close it: the array keeps the memory until its consumer
   * calls its release callback, from any thread. A table in device memory is copied to the host.
   *
   * @param array released or new, as {@link ArrowArray#allocateNew} makes it; owned by the caller
   * @param schema likewise
   * @param stream a stream of the table's device, which is waited for; of the host for host tables
   */
  public void exportTable(Table table, ArrowArray array, ArrowSchema schema, DeviceStream stream) {
    try (MapDictionaryProvider dictionaries = new MapDictionaryProvider();
        VectorSchemaRoot root =
            new ArrowExporter(allocator, hostStream, resource)
                .export(table, dictionaries, stream)) {
      Data.exportVectorSchemaRoot(allocator, root, dictionaries, array, schema);
    }
  }

  /**
   * The table of a struct array. Takes both structs over: the array is marked released, the schema
   * is closed, and what they held is released once, when the table and all that shares its memory
   * is closed, or before this throws.
   *
   * @return the table; the caller owns it
   * @throws IllegalArgumentException if a struct is released already, and both are left alone
   * @throws ArrowTypeException if the array is not a struct array, or a column's type is not
   *     supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  public Table importTable(ArrowArray array, ArrowSchema schema) throws ArrowFormatException {
    if (array.snapshot().release == 0 || schema.snapshot().release == 0) {
      throw new IllegalArgumentException("the array or the schema is released already");
    }
    try (Buffer struct = take(array, allocator, hostStream)) {
      Field root = CSchema.read(schema, allocator);
      return new CArrayReader(hostStream, resource).readTable(struct, root);
    } finally {
      schema.release();
      schema.close();
    }
  }

  /** Moves the struct into memory that calls the release callback when it is closed. */
  static Buffer take(ArrowArray array, BufferAllocator allocator, DeviceStream hostStream) {
    ArrowArray moved = ArrowArray.allocateNew(allocator);
    moved.save(array.snapshot());
    array.markReleased();
    return Buffer.wrap(
        moved.memoryAddress(),
        CArray.BYTES,
        hostStream,
        HostMemoryResource.INSTANCE,
        () -> {
          moved.release();
          moved.close();
        });
  }
}
