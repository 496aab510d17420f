// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/**
 * Counts, sums and maxima by key in windows of 10 s every 2 s, over batches that are on the device:
 * the rows per second with all slices, merges and results, for keys and rows per slide.
 */
public final class SlidingWindowBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          new Field("value", DataType.INT64, false),
          new Field("time", DataType.timestamp(3), false));
  private static final long SLIDE_MILLIS = 2_000;
  private static final int SLICES = 5;

  private SlidingWindowBenchmark() {}

  /**
   * Arguments: the number of keys, rows of a batch, batches of a slide, slides. As many slides as a
   * window has come before, and do not count.
   */
  public static void main(String[] arguments) throws Exception {
    long keys = Long.parseLong(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    int batches = Integer.parseInt(arguments[2]);
    int slides = Integer.parseInt(arguments[3]);
    Job job =
        new Job(
            SCHEMA,
            List.of("key"),
            Hop.over("time", Duration.ofSeconds(10)).every(Duration.ofSeconds(2)),
            count(),
            sum("value"),
            max("value"));
    List<Long> nanos = new ArrayList<>();
    AtomicLong rowsOut = new AtomicLong();
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness = harness(job);
    try (DeviceStream stream = Device.current().createStream()) {
      RecordingOutput results =
          new RecordingOutput(result -> rowsOut.addAndGet(waitFor(result.getValue(), stream)));
      harness.setOutputCreator(serializer -> results);
      harness.setup(new ColumnBatchSerializer(job.plan().outputSchema(), BodyCodec.RAW));
      harness.open();
      for (int slide = 0; slide < SLICES + slides; slide++) {
        List<Table> tables = slide(keys, rows, batches, slide, stream);
        long start = System.nanoTime();
        for (Table table : tables) {
          ColumnBatch batch = new ColumnBatch(table);
          harness.getOneInputOperator().processElement(new StreamRecord<>(batch));
          batch.release();
        }
        harness.processWatermark((slide + 1) * SLIDE_MILLIS - 1);
        stream.synchronize();
        if (slide >= SLICES) {
          nanos.add(System.nanoTime() - start);
        }
      }
    } finally {
      harness.close();
    }
    print(keys, rows, (long) rows * batches, nanos, rowsOut.get() / (SLICES + slides));
  }

  // Orders the stream behind the result, and gives its rows.
  private static int waitFor(ColumnBatch result, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      result.table().column(0).dataAddress(scope);
    }
    return result.rowCount();
  }

  private static void print(long keys, int rows, long rowsOfSlide, List<Long> nanos, long rowsOut) {
    long median = nanos.stream().sorted().skip(nanos.size() / 2).findFirst().orElseThrow();
    System.out.println(
        "| keys | rows of a batch | rows of a slide | ms of a slide | rows of a window | M rows/s |");
    System.out.println("|---:|---:|---:|---:|---:|---:|");
    System.out.printf(
        Locale.ROOT,
        "| %d | %d | %d | %.2f | %d | %.0f |%n",
        keys,
        rows,
        rowsOfSlide,
        median / 1e6,
        rowsOut,
        rowsOfSlide * 1e3 / median);
  }

  private static OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness(Job job)
      throws Exception {
    return new OneInputStreamOperatorTestHarness<>(
        WindowAggregateOperator.factory(job.plan(), null),
        new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
  }

  private static List<Table> slide(
      long keys, int rows, int batches, int slide, DeviceStream stream) {
    List<Table> tables = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(slide);
    for (int batch = 0; batch < batches; batch++) {
      try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
          Table host =
              new Table(
                  SCHEMA,
                  List.of(
                      column(0, rows, row -> random.nextLong(keys), hostStream),
                      column(1, rows, row -> row, hostStream),
                      column(
                          2,
                          rows,
                          row -> slide * SLIDE_MILLIS + random.nextLong(SLIDE_MILLIS),
                          hostStream)),
                  rows)) {
        tables.add(host.copyTo(PerDeviceResource.of(stream.device()), stream, stream));
        stream.synchronize();
      }
    }
    return tables;
  }

  private static Column column(
      int position, int rows, LongUnaryOperator values, DeviceStream stream) {
    Buffer data = Buffer.allocate((long) rows * Long.BYTES, stream, HostMemoryResource.INSTANCE);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      for (int row = 0; row < rows; row++) {
        HostMemory.putLong(address + (long) row * Long.BYTES, values.applyAsLong(row));
      }
    }
    return new Column(SCHEMA.field(position).type(), rows, 0, data, null, List.of());
  }
}
