// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.format.RecordFilter;
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
  // null if all rows are kept
  private final RecordFilter filter;

  private KafkaDecodingOptions(
      RecordFormat format,
      List<MetadataColumn> metadata,
      MalformedRecordPolicy policy,
      int maxRows,
      EventTimeWatermarks watermarks,
      RecordFilter filter) {
    this.format = format;
    this.metadata = List.copyOf(metadata);
    this.policy = policy;
    this.maxRows = maxRows;
    this.watermarks = watermarks;
    this.filter = filter;
    checkFilter();
  }

  /** No metadata, a malformed record fails the job, at most 65536 rows in a batch. */
  public static KafkaDecodingOptions of(RecordFormat format) {
    return new KafkaDecodingOptions(
        format, List.of(), MalformedRecordPolicy.FAIL, MAX_ROWS, null, null);
  }

  /** Columns behind those of the values, in this order. */
  public KafkaDecodingOptions withMetadata(MetadataColumn... columns) {
    return new KafkaDecodingOptions(format, List.of(columns), policy, maxRows, watermarks, filter);
  }

  public KafkaDecodingOptions withMalformedRecords(MalformedRecordPolicy newPolicy) {
    return new KafkaDecodingOptions(format, metadata, newPolicy, maxRows, watermarks, filter);
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
    return new KafkaDecodingOptions(format, metadata, policy, rows, watermarks, filter);
  }

  /**
   * Makes watermarks of a column of the rows, for each partition; it may be a metadata column.
   *
   * @throws IllegalArgumentException if {@link EventTimeWatermarks#check} does, or {@link #schema},
   *     or if it is a metadata column and there is a filter
   */
  public KafkaDecodingOptions withWatermarks(EventTimeWatermarks newWatermarks) {
    newWatermarks.check(schema());
    return new KafkaDecodingOptions(format, metadata, policy, maxRows, newWatermarks, filter);
  }

  /**
   * Keeps the rows whose condition, over columns of the values, is TRUE. Watermarks are those of
   * all rows.
   *
   * @throws IllegalArgumentException if {@link RecordFormat#unsupported} says why rows cannot be
   *     filtered, or if there are watermarks of a metadata column
   */
  public KafkaDecodingOptions withFilter(RecordFilter newFilter) {
    return new KafkaDecodingOptions(format, metadata, policy, maxRows, watermarks, newFilter);
  }

  // Rows that are dropped have no metadata.
  private void checkFilter() {
    if (filter == null) {
      return;
    }
    format.checkSupported(filter);
    if (watermarks != null && !format.schema().names().contains(watermarks.column())) {
      throw new IllegalArgumentException(
          "rows cannot be filtered: the watermarks are those of the metadata column '"
              + watermarks.column()
              + "'");
    }
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

  Optional<RecordFilter> filter() {
    return Optional.ofNullable(filter);
  }

  Optional<EventTimeWatermarks> watermarks() {
    return Optional.ofNullable(watermarks);
  }
}
