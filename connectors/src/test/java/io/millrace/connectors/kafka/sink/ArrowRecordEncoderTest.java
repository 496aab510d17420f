// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How batches are cut. */
class ArrowRecordEncoderTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("text", DataType.STRING));
  private static final int ROWS = 10_000;
  private static final int MAX_BYTES = 20_000;

  private final List<List<Object>> rows = new ArrayList<>();

  private List<KafkaRecord> encode(int maximumBytes) {
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        Table table =
            TableBuilder.ofRows(SCHEMA, rows).buildOnHost(stream, HostMemoryResource.INSTANCE);
        AccessScope scope = AccessScope.on(stream)) {
      return ArrowRecordEncoder.create().withMaximumBytes(maximumBytes).records(table, scope);
    }
  }

  private static List<List<Object>> decode(KafkaRecord record) throws IOException {
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        ArrowIpcStreamReader reader =
            new ArrowIpcStreamReader(
                Channels.newChannel(new ByteArrayInputStream(record.value())),
                stream,
                HostMemoryResource.INSTANCE);
        Table table = reader.read().orElseThrow()) {
      return TableRows.ofHost(table, stream);
    }
  }

  @Test
  void theRecordsOfALargeBatchAreNearlyAsLargeAsAllowed() throws Exception {
    for (long i = 0; i < ROWS; i++) {
      rows.add(Arrays.asList(i, i % 7 == 0 ? null : "text " + i % 10));
    }
    List<List<Object>> decoded = new ArrayList<>();
    List<KafkaRecord> records = encode(MAX_BYTES);
    for (KafkaRecord record : records) {
      assertThat(record.value()).hasSizeLessThanOrEqualTo(MAX_BYTES);
      decoded.addAll(decode(record));
    }
    assertThat(decoded).isEqualTo(rows);
    assertThat(records.subList(0, records.size() - 1))
        .isNotEmpty()
        .allSatisfy(record -> assertThat(record.value()).hasSizeGreaterThan(MAX_BYTES * 3 / 4));
  }

  @Test
  void longRowsAreCutAgainAndASingleRowIsNot() throws Exception {
    rows.addAll(
        List.of(
            List.of(0L, "a"),
            List.of(1L, "b".repeat(MAX_BYTES)),
            List.of(2L, "c".repeat(MAX_BYTES / 2)),
            List.of(3L, "d".repeat(MAX_BYTES / 2))));
    List<List<Object>> decoded = new ArrayList<>();
    for (KafkaRecord record : encode(MAX_BYTES)) {
      List<List<Object>> ofRecord = decode(record);
      if (ofRecord.size() > 1) {
        assertThat(record.value()).hasSizeLessThanOrEqualTo(MAX_BYTES);
      }
      decoded.addAll(ofRecord);
    }
    assertThat(decoded).isEqualTo(rows);
  }
}
