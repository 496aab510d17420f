// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import com.github.luben.zstd.Zstd;
import io.millrace.arrow.ipc.ArrowRecordBatchReader;
import io.millrace.arrow.ipc.ArrowRecordBatchWriter;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailureAlternateResourceAdaptor;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.StagingMemoryResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.ChainResources;
import java.io.EOFException;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes batches of one schema: a header with the schema's fingerprint, then the table as one
 * Arrow IPC record batch message without the schema, raw or compressed to one Zstandard frame.
 *
 * <p>A batch may have the {@link EventTimeColumn} after the columns of the schema; the fingerprint
 * shows whether it has. The schema in the serializer's {@linkplain #snapshotConfiguration snapshot}
 * never has this column.
 *
 * <p>A batch has at most {@value #MAX_BYTES} bytes. If it has more than {@value #FAST_BYTES} bytes,
 * Flink's receiver first writes it to a file and reads it from there; therefore an exchange cuts
 * larger batches. A deserialized batch is in host memory, which is pinned if there is a GPU and
 * enough pinned memory. The first operator of the chain moves the batch to its device. {@link
 * #copy(ColumnBatch)} returns the same batch: see {@link ColumnBatch} for who releases it.
 *
 * <p>A table in device memory can be written too, but the caller waits while it is copied to the
 * host. The operators of an exchange copy tables to the host beforehand.
 */
@PublicEvolving
public final class ColumnBatchSerializer extends TypeSerializer<ColumnBatch> {
  /** The size in bytes above which Flink's receiver writes an element to a file first. */
  public static final int FAST_BYTES = 5 << 20;

  /**
   * The maximum size of one batch in bytes, with its header and before compression. Flink collects
   * an element in a Java array of less than 2 GiB; this limit leaves room for the bytes that
   * Zstandard adds to data that it cannot compress.
   */
  public static final int MAX_BYTES = 2_000_000_000;

  private static final long serialVersionUID = 1L;
  private static final int ZSTD_LEVEL = 1;
  private static final DeviceStream HOST_STREAM = HostDevice.INSTANCE.createStream();

  private final Schema schema;
  private final BodyCodec codec;
  // Keyed by the fingerprint of the schema.
  private transient Map<Long, ArrowRecordBatchReader> readers;
  private transient MemoryResource resource;
  private transient DataViews views;
  private transient Map<Schema, Long> fingerprints;

  public ColumnBatchSerializer(Schema schema, BodyCodec codec) {
    this.schema = Objects.requireNonNull(schema, "schema is null");
    this.codec = Objects.requireNonNull(codec, "codec is null");
  }

  public Schema schema() {
    return schema;
  }

  // The device is known where the serializer is used, not where it is constructed.
  private void prepare() {
    if (readers == null) {
      resource =
          new FailureAlternateResourceAdaptor(
              new StagingMemoryResource(ChainResources.anyDevice()), HostMemoryResource.INSTANCE);
      views = new DataViews();
      Schema withEventTimes = EventTimeColumn.addTo(schema);
      fingerprints =
          Map.of(schema, schema.fingerprint(), withEventTimes, withEventTimes.fingerprint());
      readers =
          Map.of(
              schema.fingerprint(), new ArrowRecordBatchReader(schema),
              withEventTimes.fingerprint(), new ArrowRecordBatchReader(withEventTimes));
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IOException also if the batch has another schema or more than {@link #MAX_BYTES} bytes
   */
  @Override
  public void serialize(ColumnBatch batch, DataOutputView target) throws IOException {
    prepare();
    if (batch.lazyTable().orElse(null) instanceof EncodedTable encoded) {
      encoded.write(target);
      return;
    }
    Table table = batch.tableWithEventTimes();
    Long fingerprint = fingerprints.get(table.schema());
    if (fingerprint == null) {
      throw new IOException("a batch of " + table.schema() + " in a stream of " + schema);
    }
    try (Table host = onHost(table);
        ArrowRecordBatchWriter writer = new ArrowRecordBatchWriter(host, HOST_STREAM, resource)) {
      long bytes = writer.encodedSize();
      if (bytes > MAX_BYTES - BatchHeader.MAX_BYTES) {
        throw new IOException(
            "a batch of "
                + host.rowCount()
                + " rows has "
                + bytes
                + " bytes, more than the "
                + (MAX_BYTES - BatchHeader.MAX_BYTES)
                + " that Flink sends at once: send it through a BatchExchange, which cuts it");
      }
      switch (codec) {
        case RAW -> writeRaw(writer, (int) bytes, fingerprint, batch, target);
        case ZSTD -> writeCompressed(writer, (int) bytes, fingerprint, batch, target);
      }
    }
  }

  private Table onHost(Table table) {
    Device home =
        table.columns().stream()
            .flatMap(column -> column.device().stream())
            .findFirst()
            .orElse(HostDevice.INSTANCE);
    if (home.isHostAccessible()) {
      return table.share();
    }
    try (DeviceStream stream = home.createStream()) {
      return table.copyTo(resource, HOST_STREAM, stream);
    }
  }

  private static BatchHeader header(
      BodyCodec codec, long fingerprint, ColumnBatch batch, int messageBytes, int bodyBytes) {
    return new BatchHeader(
        codec, fingerprint, batch.keyGroup(), batch.processingTime(), messageBytes, bodyBytes);
  }

  private void writeRaw(
      ArrowRecordBatchWriter writer,
      int bytes,
      long fingerprint,
      ColumnBatch batch,
      DataOutputView target)
      throws IOException {
    header(BodyCodec.RAW, fingerprint, batch, bytes, bytes).write(target);
    writer.write((address, length) -> views.write(address, length, target));
  }

  private void writeCompressed(
      ArrowRecordBatchWriter writer,
      int bytes,
      long fingerprint,
      ColumnBatch batch,
      DataOutputView target)
      throws IOException {
    try (Buffer message = Buffer.allocate(bytes, HOST_STREAM, resource);
        Buffer frame = Buffer.allocate(Zstd.compressBound(bytes), HOST_STREAM, resource);
        AccessScope scope = AccessScope.on(HOST_STREAM)) {
      long messageAddress = message.access(AccessMode.WRITE, scope);
      long frameAddress = frame.access(AccessMode.WRITE, scope);
      long[] position = {messageAddress};
      writer.write(
          (address, length) -> {
            HostMemory.copy(position[0], address, length);
            position[0] += length;
          });
      long size =
          Zstd.compressUnsafe(frameAddress, frame.size(), messageAddress, bytes, ZSTD_LEVEL);
      checkZstd(size);
      header(BodyCodec.ZSTD, fingerprint, batch, bytes, (int) size).write(target);
      views.write(frameAddress, size, target);
    }
  }

  private static void checkZstd(long result) throws IOException {
    if (Zstd.isError(result)) {
      throw new IOException("Zstandard: " + Zstd.getErrorName(result));
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IOException also if the bytes are cut short or corrupt, or have another version or
   *     schema
   */
  @Override
  public ColumnBatch deserialize(DataInputView source) throws IOException {
    prepare();
    BatchHeader header = readHeader(source);
    if (header.keyGroup() != ColumnBatch.NONE) {
      byte[] body = new byte[header.bodyBytes()];
      DataViews.readFully(body, body.length, source);
      return ColumnBatch.ofKeyGroup(new EncodedTable(header, body, this), header.keyGroup());
    }
    try (Buffer body = Buffer.allocate(header.bodyBytes(), HOST_STREAM, resource)) {
      try (AccessScope scope = AccessScope.on(HOST_STREAM)) {
        views.read(body.access(AccessMode.WRITE, scope), body.size(), source);
      }
      Table table = decode(header, body);
      return header.processingTime().isPresent()
          ? ColumnBatch.atProcessingTime(table, header.processingTime().getAsLong())
          : new ColumnBatch(table);
    }
  }

  private BatchHeader readHeader(DataInputView source) throws IOException {
    try {
      return BatchHeader.read(source, schema, readers.keySet());
    } catch (EOFException e) {
      throw new IOException("the batch is cut short within its header", e);
    }
  }

  Table decode(BatchHeader header, byte[] bytes) throws IOException {
    prepare();
    try (Buffer body = Buffer.allocate(bytes.length, HOST_STREAM, resource)) {
      try (AccessScope scope = AccessScope.on(HOST_STREAM)) {
        HostMemory.copyFromArray(body.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
      }
      return decode(header, body);
    }
  }

  private Table decode(BatchHeader header, Buffer body) throws IOException {
    if (header.codec() == BodyCodec.RAW) {
      return readers.get(header.fingerprint()).read(body, HOST_STREAM, resource);
    }
    try (Buffer message = Buffer.allocate(header.messageBytes(), HOST_STREAM, resource)) {
      try (AccessScope scope = AccessScope.on(HOST_STREAM)) {
        long size =
            Zstd.decompressUnsafe(
                message.access(AccessMode.WRITE, scope),
                message.size(),
                body.access(AccessMode.READ, scope),
                body.size());
        checkZstd(size);
        if (size != message.size()) {
          throw new IOException(
              "expected " + message.size() + " bytes in the Zstandard frame, got " + size);
        }
      }
      return readers.get(header.fingerprint()).read(message, HOST_STREAM, resource);
    }
  }

  @Override
  public ColumnBatch deserialize(ColumnBatch reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    prepare();
    BatchHeader header = readHeader(source);
    byte[] body = new byte[header.bodyBytes()];
    DataViews.readFully(body, body.length, source);
    new EncodedTable(header, body, this).write(target);
  }

  @Override
  public ColumnBatch copy(ColumnBatch from) {
    return from;
  }

  @Override
  public ColumnBatch copy(ColumnBatch from, ColumnBatch reuse) {
    return from;
  }

  @Override
  public boolean isImmutableType() {
    return true;
  }

  /** Null: Flink never releases this instance, so it must not hold memory, as every batch does. */
  @Override
  public ColumnBatch createInstance() {
    return null;
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public TypeSerializer<ColumnBatch> duplicate() {
    return new ColumnBatchSerializer(schema, codec);
  }

  @Override
  public TypeSerializerSnapshot<ColumnBatch> snapshotConfiguration() {
    return new ColumnBatchSerializerSnapshot(schema, codec);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColumnBatchSerializer that
        && schema.equals(that.schema)
        && codec == that.codec;
  }

  @Override
  public int hashCode() {
    return Objects.hash(schema, codec);
  }
}
