// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The type of a stream of batches whose tables have one schema. Batches cannot be keys. */
@PublicEvolving
public final class ColumnBatchTypeInformation extends OpaqueTypeInformation<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final BodyCodec codec;

  /**
   * Batches of {@code schema}, sent over the network without compression.
   *
   * @throws IllegalArgumentException if a column has the name of the {@link EventTimeColumn}
   */
  public ColumnBatchTypeInformation(Schema schema) {
    this(schema, BodyCodec.RAW);
  }

  /**
   * Batches of {@code schema}.
   *
   * @param codec how batches are compressed on the network
   * @throws IllegalArgumentException if a column has the name of the {@link EventTimeColumn}
   */
  public ColumnBatchTypeInformation(Schema schema, BodyCodec codec) {
    super(ColumnBatch.class);
    EventTimeColumn.checkNameIsFree(schema);
    this.schema = Objects.requireNonNull(schema, "schema is null");
    this.codec = Objects.requireNonNull(codec, "codec is null");
  }

  /**
   * The schema of a stream's batches.
   *
   * @throws IllegalArgumentException if {@code type} is not a {@code ColumnBatchTypeInformation}
   */
  public static Schema schemaOf(TypeInformation<ColumnBatch> type) {
    if (type instanceof ColumnBatchTypeInformation batchType) {
      return batchType.schema;
    }
    throw new IllegalArgumentException(
        "the stream's type is " + type + ": give it a ColumnBatchTypeInformation with returns()");
  }

  public Schema schema() {
    return schema;
  }

  public BodyCodec codec() {
    return codec;
  }

  @Override
  public TypeSerializer<ColumnBatch> createSerializer(SerializerConfig config) {
    return new ColumnBatchSerializer(schema, codec);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColumnBatchTypeInformation that
        && schema.equals(that.schema)
        && codec == that.codec;
  }

  @Override
  public int hashCode() {
    return Objects.hash(schema, codec);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ColumnBatchTypeInformation;
  }

  @Override
  public String toString() {
    return "ColumnBatch" + schema + " " + codec;
  }
}
