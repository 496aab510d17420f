// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowImporter;
import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.LargeVarBinaryVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampNanoVector;
import org.apache.arrow.vector.TimeStampSecTZVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Arrays of others on the device, compared with what the host's importer makes of them. */
class ArrowCDeviceForeignTest {
  private static final int ROWS = 1_000;
  private static final long NANOS_PER_DAY = 86_400_000_000_000L;
  private static final int WORDS = 100;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void closeAllocator() {
    allocator.close();
  }

  private interface Put {
    void put(int row);
  }

  private void fill(FieldVector vector, Put put) {
    for (int row = 0; row < ROWS; row++) {
      if (random.random().nextInt(4) > 0) {
        put.put(row);
      }
    }
    vector.setValueCount(ROWS);
  }

  private void assertImported(MapDictionaryProvider dictionaries, FieldVector... vectors)
      throws ArrowFormatException {
    VectorSchemaRoot root = VectorSchemaRoot.of(vectors);
    ArrowCDeviceImporter importer =
        new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory());
    try (ArrowSchema schema = ArrowSchema.allocateNew(allocator);
        ArrowDeviceArray array = UploadedVectors.of(root, dictionaries, device);
        Table expected =
            new ArrowImporter(device.hostStream(), device.hostMemory())
                .importTable(root, dictionaries)) {
      Data.exportSchema(allocator, root.getSchema(), dictionaries, schema);
      try (Table imported = device.assertLaunches(() -> importDevice(importer, schema, array))) {
        assertThat(imported.schema()).isEqualTo(expected.schema());
        assertThat(device.rows(imported)).isEqualTo(device.rows(expected));
      } finally {
        schema.release();
      }
    }
  }

  private Table importDevice(
      ArrowCDeviceImporter importer, ArrowSchema schema, ArrowDeviceArray array) {
    try {
      return importer.fromArrowDevice(schema, array, device.stream(), device.memory());
    } catch (ArrowFormatException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void otherUnitsAreConverted() throws ArrowFormatException {
    Random values = random.random();
    try (MapDictionaryProvider none = new MapDictionaryProvider();
        TimeStampSecTZVector seconds = new TimeStampSecTZVector("s", allocator, "UTC");
        TimeStampNanoVector nanos = new TimeStampNanoVector("ns", allocator);
        TimeSecVector timeSeconds = new TimeSecVector("ts", allocator);
        TimeMicroVector timeMicros = new TimeMicroVector("tus", allocator);
        TimeNanoVector timeNanos = new TimeNanoVector("tns", allocator)) {
      fill(seconds, row -> seconds.setSafe(row, values.nextInt()));
      fill(nanos, row -> nanos.setSafe(row, values.nextLong()));
      fill(timeSeconds, row -> timeSeconds.setSafe(row, values.nextInt(86_400)));
      fill(
          timeMicros,
          row -> timeMicros.setSafe(row, (values.nextLong() >>> 1) % (NANOS_PER_DAY / 1_000)));
      fill(timeNanos, row -> timeNanos.setSafe(row, (values.nextLong() >>> 1) % NANOS_PER_DAY));
      assertImported(none, seconds, nanos, timeSeconds, timeMicros, timeNanos);
    }
  }

  @Test
  void largeStringsBinariesAndListsAreNarrowed() throws ArrowFormatException {
    Random values = random.random();
    try (MapDictionaryProvider none = new MapDictionaryProvider();
        LargeVarCharVector strings = new LargeVarCharVector("s", allocator);
        LargeVarBinaryVector binaries = new LargeVarBinaryVector("b", allocator);
        LargeListVector lists = LargeListVector.empty("l", allocator)) {
      fill(strings, row -> strings.setSafe(row, bytes("x".repeat(values.nextInt(5)))));
      fill(binaries, row -> binaries.setSafe(row, new byte[values.nextInt(3)]));
      lists.addOrGetVector(FieldType.nullable(new ArrowType.Int(64, true)));
      BigIntVector elements = (BigIntVector) lists.getDataVector();
      fill(
          lists,
          row -> {
            long start = lists.startNewValue(row);
            int length = values.nextInt(4);
            for (int i = 0; i < length; i++) {
              elements.setSafe((int) start + i, values.nextLong());
            }
            lists.endValue(row, length);
          });
      assertImported(none, strings, binaries, lists);
    }
  }

  @Test
  void offsetsThatDecreaseAreRefusedOnTheHost() {
    // Content in a GPU's memory is not read before it is worked on.
    assumeFalse(device.isCuda());
    try (MapDictionaryProvider none = new MapDictionaryProvider();
        VarCharVector strings = new VarCharVector("s", allocator);
        LargeVarCharVector large = new LargeVarCharVector("l", allocator);
        ListVector lists = ListVector.empty("v", allocator)) {
      lists.addOrGetVector(FieldType.nullable(new ArrowType.Int(64, true)));
      for (int row = 0; row < 3; row++) {
        strings.setSafe(row, bytes("abc"));
        large.setSafe(row, bytes("abc"));
        lists.startNewValue(row);
        ((BigIntVector) lists.getDataVector()).setSafe(row, row);
        lists.endValue(row, 1);
      }
      for (FieldVector vector : List.of(strings, large, lists)) {
        vector.setValueCount(3);
      }
      strings.getOffsetBuffer().setInt(2 * Integer.BYTES, 2);
      large.getOffsetBuffer().setLong(2 * Long.BYTES, 2);
      lists.getOffsetBuffer().setInt(2 * Integer.BYTES, 0);
      assertRefused(none, strings, "column 's' (Utf8) has the offset 2 behind 3 in row 2");
      assertRefused(none, large, "column 'l' (LargeUtf8) has the offset 2 behind 3 in row 2");
      assertRefused(none, lists, "column 'v' (List) has the offset 0 behind 1 in row 2");
    }
  }

  private void assertRefused(
      MapDictionaryProvider dictionaries, FieldVector vector, String message) {
    VectorSchemaRoot root = VectorSchemaRoot.of(vector);
    ArrowCDeviceImporter importer =
        new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory());
    try (ArrowSchema schema = ArrowSchema.allocateNew(allocator);
        ArrowDeviceArray array = UploadedVectors.of(root, dictionaries, device)) {
      Data.exportSchema(allocator, root.getSchema(), dictionaries, schema);
      assertThatThrownBy(
              () -> importer.fromArrowDevice(schema, array, device.stream(), device.memory()))
          .isInstanceOf(ArrowFormatException.class)
          .hasMessage(message);
      schema.release();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void booleansAndDecimalsAreExact() throws ArrowFormatException {
    Random values = random.random();
    try (MapDictionaryProvider none = new MapDictionaryProvider();
        BitVector bits = new BitVector("b", allocator);
        DecimalVector narrow = new DecimalVector("d9", allocator, 9, 2);
        DecimalVector medium = new DecimalVector("d18", allocator, 18, 0);
        DecimalVector wide = new DecimalVector("d38", allocator, 38, 10)) {
      fill(bits, row -> bits.setSafe(row, values.nextInt(2)));
      fill(narrow, row -> narrow.setSafe(row, decimal(values, 29, 2)));
      fill(medium, row -> medium.setSafe(row, decimal(values, 59, 0)));
      fill(wide, row -> wide.setSafe(row, decimal(values, 126, 10)));
      assertImported(none, bits, narrow, medium, wide);
    }
  }

  private static BigDecimal decimal(Random values, int bits, int scale) {
    BigInteger magnitude = new BigInteger(bits, values);
    return new BigDecimal(values.nextBoolean() ? magnitude : magnitude.negate(), scale);
  }

  @Test
  void dictionaryCodesOfAnyWidthAreWidened() throws ArrowFormatException {
    for (int bits : new int[] {8, 16, 32, 64}) {
      for (boolean isSigned : new boolean[] {true, false}) {
        assertCodesAreWidened(new ArrowType.Int(bits, isSigned));
      }
    }
  }

  private void assertCodesAreWidened(ArrowType.Int index) throws ArrowFormatException {
    DictionaryEncoding encoding = new DictionaryEncoding(9, false, index);
    Field field = new Field("word", new FieldType(true, index, encoding), null);
    try (VarCharVector words = new VarCharVector("words", allocator);
        BitVector bits = new BitVector("b", allocator);
        FieldVector codes = field.createVector(allocator)) {
      for (int i = 0; i < WORDS; i++) {
        words.setSafe(i, bytes("word " + i));
      }
      words.setValueCount(WORDS);
      bits.setValueCount(ROWS);
      codes.setInitialCapacity(ROWS);
      codes.allocateNew();
      BaseIntVector integers = (BaseIntVector) codes;
      fill(codes, row -> integers.setWithPossibleTruncate(row, random.random().nextInt(WORDS)));
      assertImported(new MapDictionaryProvider(new Dictionary(words, encoding)), codes, bits);
    }
  }
}
