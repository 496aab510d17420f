// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.arrow.cdata.ArrowCDataInterface;
import io.millrace.arrow.cdata.ArrowCDeviceExporter;
import io.millrace.arrow.cdata.ArrowCDeviceImporter;
import io.millrace.arrow.cdata.ArrowDeviceArray;
import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.arrow.ipc.ArrowRecordBatchReader;
import io.millrace.arrow.ipc.ArrowRecordBatchWriter;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/** All ways in which Arrow data of others becomes tables. Schemas without dictionaries. */
public record Borders(DeviceExtension device, BufferAllocator allocator) {

  /** A way in for a table whose producer claims that it has another schema of the same layout. */
  public interface Border {
    /** The table, which the caller owns. */
    Table cross(Table table, Schema claimed) throws IOException;
  }

  public Map<String, Border> all() {
    Map<String, Border> borders = new LinkedHashMap<>();
    borders.put("vectors", this::vectors);
    borders.put("IPC stream", this::stream);
    borders.put("record batch message", this::message);
    borders.put("C data", this::cData);
    borders.put("C data, copied", this::cDataCopied);
    borders.put("C stream", this::cStream);
    borders.put("C device", this::cDevice);
    return borders;
  }

  private interface Read {
    Table read(VectorSchemaRoot root) throws IOException;
  }

  private Table withVectors(Table table, Schema claimed, Read read) throws IOException {
    try (MapDictionaryProvider none = new MapDictionaryProvider();
        VectorSchemaRoot honest =
            new ArrowExporter(allocator, device.hostStream(), device.hostMemory())
                .export(table, none, device.stream());
        VectorSchemaRoot root =
            VectorSchemaRoot.create(ArrowSchemaConverter.toArrow(claimed), allocator);
        ArrowRecordBatch batch = new VectorUnloader(honest).getRecordBatch()) {
      new VectorLoader(root).load(batch);
      return read.read(root);
    }
  }

  Table vectors(Table table, Schema claimed) throws IOException {
    return withVectors(table, claimed, this::vectors);
  }

  public Table vectors(VectorSchemaRoot root) throws IOException {
    try (MapDictionaryProvider none = new MapDictionaryProvider()) {
      return new ArrowImporter(device.hostStream(), device.hostMemory()).importTable(root, none);
    }
  }

  /** An IPC stream with one batch. */
  private static InputStream streamOf(VectorSchemaRoot root) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ArrowStreamWriter writer = new ArrowStreamWriter(root, null, Channels.newChannel(bytes))) {
      writer.writeBatch();
    }
    return new ByteArrayInputStream(bytes.toByteArray());
  }

  private Table stream(Table table, Schema claimed) throws IOException {
    return withVectors(
        table,
        claimed,
        root -> {
          try (ArrowIpcStreamReader reader =
              new ArrowIpcStreamReader(
                  Channels.newChannel(streamOf(root)), device.hostStream(), device.hostMemory())) {
            return reader.read().orElseThrow();
          }
        });
  }

  private Table message(Table table, Schema claimed) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Table host = device.copyToHost(table);
        ArrowRecordBatchWriter writer =
            new ArrowRecordBatchWriter(host, device.hostStream(), device.hostMemory())) {
      writer.write(
          (address, length) -> {
            byte[] run = new byte[(int) length];
            HostMemory.copyToArray(run, 0, address, run.length);
            bytes.write(run);
          });
    }
    byte[] message = bytes.toByteArray();
    try (Buffer memory =
        Buffer.allocate(message.length, device.hostStream(), device.hostMemory())) {
      try (AccessScope scope = AccessScope.on(device.hostStream())) {
        HostMemory.copyFromArray(
            memory.access(AccessMode.WRITE, scope), message, 0, message.length);
      }
      return new ArrowRecordBatchReader(claimed)
          .read(memory, device.hostStream(), device.hostMemory());
    }
  }

  private Table cData(Table table, Schema claimed) throws IOException {
    return withVectors(
        table,
        claimed,
        root -> {
          try (ArrowArray array = ArrowArray.allocateNew(allocator);
              ArrowSchema schema = ArrowSchema.allocateNew(allocator)) {
            Data.exportVectorSchemaRoot(allocator, root, null, array, schema);
            return new ArrowCDataInterface(allocator, device.hostStream(), device.hostMemory())
                .importTable(array, schema);
          }
        });
  }

  private ArrowCDeviceExporter exporter() {
    return new ArrowCDeviceExporter(allocator, device.hostStream(), device.hostMemory());
  }

  private ArrowCDeviceImporter importer() {
    return new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory());
  }

  private Table cDataCopied(Table table, Schema claimed) throws IOException {
    try (ArrowDeviceArray array = exporter().toArrowHost(table, device.stream());
        ArrowSchema schema = exporter().toArrowSchema(claimed)) {
      try {
        return importer().fromArrowHost(schema, array, device.stream(), device.memory());
      } finally {
        schema.release();
      }
    }
  }

  private Table cStream(Table table, Schema claimed) throws IOException {
    return withVectors(
        table,
        claimed,
        root -> {
          try (ArrowStreamReader reader = new ArrowStreamReader(streamOf(root), allocator);
              ArrowArrayStream stream = ArrowArrayStream.allocateNew(allocator)) {
            Data.exportArrayStream(allocator, reader, stream);
            return importer().fromArrowStream(stream, device.stream(), device.memory());
          }
        });
  }

  /** The table is a copy, since the array that it is imported from is released. */
  private Table cDevice(Table table, Schema claimed) throws IOException {
    try (ArrowDeviceArray array =
            exporter().viewToArrowDevice(table, device.stream(), device.memory());
        ArrowSchema schema = exporter().toArrowSchema(claimed)) {
      try (Table imported =
          importer().fromArrowDevice(schema, array, device.stream(), device.memory())) {
        Table copy = device.copyToDevice(imported);
        device.stream().synchronize();
        return copy;
      } finally {
        schema.release();
      }
    }
  }
}
