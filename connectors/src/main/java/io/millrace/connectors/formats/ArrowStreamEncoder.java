// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.arrow.ipc.ArrowIpcStreamWriter;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes Arrow IPC streams, which all Arrow implementations read: a file starts with the schema,
 * has a record batch for each table, with its dictionaries before it, and ends with the end marker.
 */
@PublicEvolving
public final class ArrowStreamEncoder implements TableEncoder {
  private static final long serialVersionUID = 1L;

  @Override
  public String fileSuffix() {
    return ".arrows";
  }

  @Override
  public byte[] fileStart(Schema schema) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DeviceStream stream = HostDevice.INSTANCE.createStream()) {
      ArrowIpcStreamWriter writer = writer(schema, out, stream);
      byte[] start = out.toByteArray();
      writer.close();
      return start;
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  @Override
  public byte[] fileEnd() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DeviceStream stream = HostDevice.INSTANCE.createStream()) {
      ArrowIpcStreamWriter writer = writer(Schema.of(), out, stream);
      out.reset();
      writer.close();
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  @Override
  public byte[] encode(Table table, AccessScope scope) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ArrowIpcStreamWriter writer = writer(table.schema(), out, scope.stream())) {
      // The schema is at the file's start already.
      out.reset();
      writer.write(table);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  private static ArrowIpcStreamWriter writer(
      Schema schema, ByteArrayOutputStream out, DeviceStream stream) throws IOException {
    return new ArrowIpcStreamWriter(
        schema, Channels.newChannel(out), stream, HostMemoryResource.INSTANCE);
  }
}
