// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;

/**
 * The time of a batch for the smallest and the largest value of each key of a changelog: where the
 * extremes stay, where that of one key goes, so that all values are looked at, and where those of
 * all keys go. On the host in processor time, which other processes do not change.
 */
public final class ExtremesBenchmark {
  private static final Schema SCHEMA =
      RowKindColumn.addTo(
          Schema.of(
              new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false)));
  private static final int BATCH_ROWS = 1 << 16;

  private final OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness;
  private final DeviceStream stream;
  private final SplittableRandom random = new SplittableRandom(1);

  private ExtremesBenchmark(
      OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness, DeviceStream stream) {
    this.harness = harness;
    this.stream = stream;
  }

  /** Arguments: the number of keys, values of each key, rounds. Half of the rounds do not count. */
  public static void main(String[] arguments) throws Exception {
    int keys = Integer.parseInt(arguments[0]);
    int values = Integer.parseInt(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    GroupAggregatePlan plan =
        new GroupAggregatePlan(
            SCHEMA,
            List.of("key"),
            List.of(min("value"), max("value")),
            ExpressionSettings.DEFAULT);
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            ArgumentOperator.factory(plan, 0), new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
    try (DeviceStream stream = Device.current().createStream()) {
      RecordingOutput results = new RecordingOutput(result -> 0);
      harness.setOutputCreator(serializer -> results);
      harness.setup(new ColumnBatchSerializer(plan.argumentSchema(), BodyCodec.RAW));
      harness.open();
      new ExtremesBenchmark(harness, stream).run(keys, values, rounds);
    } finally {
      harness.close();
    }
  }

  private void run(int keys, int values, int rounds) throws Exception {
    long rows = (long) keys * values;
    for (long first = 0; first < rows; first += BATCH_ROWS) {
      long start = first;
      int count = (int) Math.min(BATCH_ROWS, rows - first);
      send(count, row -> (start + row) % keys, row -> (start + row) / keys, RowKind.INSERT);
    }
    List<List<Double>> millis = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int round = 0; round < rounds; round++) {
      for (int kind = 0; kind < millis.size(); kind++) {
        int gone = kind == 0 ? 0 : kind == 1 ? 1 : Math.min(keys, BATCH_ROWS);
        long[] key = new long[BATCH_ROWS];
        long[] value = new long[BATCH_ROWS];
        for (int row = 0; row < BATCH_ROWS; row++) {
          key[row] = row < gone ? row : random.nextInt(keys);
          value[row] = row < gone ? values - 1 : 1 + random.nextInt(values - 2);
        }
        send(BATCH_ROWS, row -> key[row], row -> value[row], RowKind.INSERT);
        send(BATCH_ROWS, row -> key[row], row -> value[row], RowKind.DELETE);
        double taken = send(gone, row -> key[row], row -> value[row], RowKind.DELETE);
        if (gone == 0) {
          taken = send(BATCH_ROWS, row -> key[row], row -> value[row], RowKind.INSERT);
          send(BATCH_ROWS, row -> key[row], row -> value[row], RowKind.DELETE);
        }
        send(gone, row -> key[row], row -> value[row], RowKind.INSERT);
        if (round >= rounds / 2) {
          millis.get(kind).add(taken);
        }
      }
    }
    System.out.println("| keys | values | extremes stay, ms | one goes, ms | all go, ms |");
    System.out.println("|---:|---:|---:|---:|---:|");
    System.out.printf(
        Locale.ROOT,
        "| %,d | %,d | %.1f | %.1f | %.1f |%n",
        keys,
        rows,
        median(millis.get(0)),
        median(millis.get(1)),
        median(millis.get(2)));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }

  // Gives the milliseconds.
  private double send(int rows, IntToLongFunction key, IntToLongFunction value, RowKind kind)
      throws Exception {
    if (rows == 0) {
      return 0;
    }
    ColumnBatch batch = new ColumnBatch(table(rows, key, value, kind));
    long start = nanos();
    harness.getOneInputOperator().processElement(new StreamRecord<>(batch));
    stream.synchronize();
    long end = nanos();
    batch.release();
    return (end - start) / 1e6;
  }

  private long nanos() {
    return stream.device().kind() == DeviceKind.HOST
        ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  private Table table(int rows, IntToLongFunction key, IntToLongFunction value, RowKind kind) {
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host =
            new Table(
                SCHEMA,
                List.of(
                    column(0, rows, key, hostStream),
                    column(1, rows, value, hostStream),
                    column(2, rows, row -> kind.toByteValue(), hostStream)),
                rows)) {
      Table table = host.copyTo(PerDeviceResource.of(stream.device()), stream, stream);
      stream.synchronize();
      return table;
    }
  }

  private static Column column(
      int position, int rows, IntToLongFunction values, DeviceStream stream) {
    DataType type = SCHEMA.field(position).type();
    int width = type.id().byteWidth();
    Buffer data = Buffer.allocate((long) rows * width, stream, HostMemoryResource.INSTANCE);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      for (int row = 0; row < rows; row++) {
        if (width == Long.BYTES) {
          HostMemory.putLong(address + (long) row * Long.BYTES, values.applyAsLong(row));
        } else {
          HostMemory.putByte(address + row, (byte) values.applyAsLong(row));
        }
      }
    }
    return new Column(type, rows, 0, data, null, List.of());
  }
}
