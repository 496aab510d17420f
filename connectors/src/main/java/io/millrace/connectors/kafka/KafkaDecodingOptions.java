// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.operators.row.RowKindColumn;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;

/** How records of topics become rows. Immutable. */
@PublicEvolving
public final class KafkaDecodingOptions implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final int MAX_ROWS = 65_536;

  private final RecordFormat format;
  private final List<MetadataColumn> metadata;
  private final MalformedRecordPolicy policy;
  private final int maxRows;
  // null if watermarks of the source pass
  private final EventTimeWatermarks watermarks;

  private KafkaDecodingOptions(
      RecordFormat format,
      List<MetadataColumn> metadata,
      MalformedRecordPolicy policy,
      int maxRows,
      EventTimeWatermarks watermarks) {
    this.format = format;
    this.metadata = List.copyOf(metadata);
    this.policy = policy;
    this.maxRows = maxRows;
    this.watermarks = watermarks;
  }

  /** No metadata, a malformed record fails the job, at most 65536 rows in a batch. */
  public static KafkaDecodingOptions of(RecordFormat format) {
    return new KafkaDecodingOptions(format, List.of(), MalformedRecordPolicy.FAIL, MAX_ROWS, null);
  }

  /** Columns behind those of the values, in this order. */
  public KafkaDecodingOptions withMetadata(MetadataColumn... columns) {
    return new KafkaDecodingOptions(format, List.of(columns), policy, maxRows, watermarks);
  }

  public KafkaDecodingOptions withMalformedRecords(MalformedRecordPolicy newPolicy) {
    return new KafkaDecodingOptions(format, metadata, newPolicy, maxRows, watermarks);
  }

  /**
   * Sets the most rows of a batch.
   *
   * @throws IllegalArgumentException if {@code rows} is below 1
   */
  public KafkaDecodingOptions withMaxRows(int rows) {
    if (rows < 1) {
      throw new IllegalArgumentException("expected at least 1 row for a batch, got " + rows);
    }
    return new KafkaDecodingOptions(format, metadata, policy, rows, watermarks);
  }

  /**
   * Makes watermarks of a column of the rows, for each partition; it may be a metadata column.
   *
   * @throws IllegalArgumentException if {@link EventTimeWatermarks#check} does, or {@link #schema}
   */
  public KafkaDecodingOptions withWatermarks(EventTimeWatermarks newWatermarks) {
    newWatermarks.check(schema());
    return new KafkaDecodingOptions(format, metadata, policy, maxRows, newWatermarks);
  }

  /**
   * The columns of the rows; of a changelog with the row-kind column as the last one.
   *
   * @throws IllegalArgumentException if two columns have one name
   */
  public Schema schema() {
    Stream<DataType.Field> columns = RowKindColumn.rowFields(format.schema()).stream();
    Schema schema =
        new Schema(Stream.concat(columns, metadata.stream().map(MetadataColumn::field)).toList());
    return RowKindColumn.isIn(format.schema()) ? RowKindColumn.addTo(schema) : schema;
  }

  RecordFormat format() {
    return format;
  }

  List<MetadataColumn> metadata() {
    return metadata;
  }

  /** The names of the headers that the metadata columns have. */
  List<String> headers() {
    return metadata.stream()
        .filter(column -> column.source() == MetadataColumn.Source.HEADER)
        .map(MetadataColumn::header)
        .toList();
  }

  MalformedRecordPolicy policy() {
    return policy;
  }

  int maxRows() {
    return maxRows;
  }

  Optional<EventTimeWatermarks> watermarks() {
    return Optional.ofNullable(watermarks);
  }
}
