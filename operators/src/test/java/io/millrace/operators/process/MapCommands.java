// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.operators.state.StateTtl;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.types.Row;

/**
 * Runs the command of each row on the map of its key {@code k}, and emits the answers. {@code clear
 * at} sets a timer of event time at {@code n}, which clears the map.
 */
public final class MapCommands extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;

  public static final String PUT = "put";
  public static final String REMOVE = "remove";
  public static final String GET = "get";
  public static final String ENTRIES = "entries";
  public static final String CLEAR = "clear";
  public static final String CLEAR_AT = "clear at";

  public static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.STRING),
          new Field("command", DataType.STRING, false),
          Field.of("s", DataType.STRING),
          new Field("n", DataType.INT32, false),
          Field.of("v", DataType.STRING));

  static final MapStateSchema MAP =
      new MapStateSchema(
          "entries",
          Schema.of(Field.of("map_s", DataType.STRING), new Field("map_n", DataType.INT32, false)),
          Schema.of(Field.of("v", DataType.STRING), Field.of("count", DataType.INT64)));

  /** Limits with which small maps are read in parts and compacted. */
  static final EntryScan.Limits SMALL = new EntryScan.Limits(8, 1 << 20, 16, 0);

  /** The same without values: entries say that they are there. */
  private static final MapStateSchema SET = new MapStateSchema(MAP.name(), MAP.keys(), Schema.of());

  private final long slices;
  private final boolean isRequested;
  private final MapStateSchema schema;

  /**
   * @param slices of timers, in milliseconds; 0 for none
   * @param isRequested whether the entries that are read are requested before
   */
  public MapCommands(long slices, boolean isRequested) {
    this(slices, isRequested, MAP);
  }

  private MapCommands(long slices, boolean isRequested, MapStateSchema schema) {
    this.slices = slices;
    this.isRequested = isRequested;
    this.schema = schema;
  }

  /** As these, of maps without value columns. */
  MapCommands withoutValues() {
    return new MapCommands(slices, isRequested, SET);
  }

  /** A job with limits with which small maps are read in parts and compacted. */
  public static ProcessPlan planWithSmallLimits(boolean isRequested, boolean hasValues) {
    MapCommands maps = new MapCommands(0, isRequested);
    MapCommands commands = hasValues ? maps : maps.withoutValues();
    return new ProcessPlan(ROWS, List.of("k"), commands, StateTtl.NONE, SMALL);
  }

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(Field.of("k", DataType.STRING), new Field("answer", DataType.STRING, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("commands", DataType.INT64));
  }

  @Override
  public List<MapStateSchema> mapStates(Schema input) {
    return List.of(schema);
  }

  @Override
  public Duration timerSlices() {
    return Duration.ofMillis(slices);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    HostMapState map = batch.map("entries");
    ColumnReader commands = batch.column("command");
    for (int row = 0; isRequested && row < batch.rowCount(); row++) {
      switch (text(commands, row)) {
        case GET -> map.request(batch.keyOf(row), mapKey(batch, row));
        case ENTRIES -> map.requestEntries(batch.keyOf(row));
        default -> {}
      }
    }
    boolean hasValues = schema.values().size() > 0;
    long[] counts = counts(batch);
    for (int row = 0; row < batch.rowCount(); row++) {
      int key = batch.keyOf(row);
      counts[key]++;
      Row mapKey = mapKey(batch, row);
      switch (text(commands, row)) {
        case PUT ->
            map.put(key, mapKey, values(hasValues, text(batch.column("v"), row), counts[key]));
        case REMOVE -> map.remove(key, mapKey);
        case GET -> emit(batch, key, "get " + mapKey + " " + map.get(key, mapKey));
        case ENTRIES -> emit(batch, key, "entries " + entries(map.entries(key)));
        case CLEAR -> map.clear(key);
        default -> batch.registerEventTimeTimer(key, batch.column("n").getInt(row));
      }
    }
    update(batch, counts);
  }

  @Override
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
    HostMapState map = timers.map("entries");
    for (int key = 0; isRequested && key < timers.keyCount(); key++) {
      map.requestEntries(key);
    }
    for (int key = 0; key < timers.keyCount(); key++) {
      emit(timers, key, "cleared " + entries(map.entries(key)));
      map.clear(key);
    }
  }

  private static Row values(boolean hasValues, String text, long count) {
    return hasValues ? Row.of(text, count) : Row.of();
  }

  private static long[] counts(HostKeyedBatch batch) {
    ColumnReader before = batch.state("commands");
    long[] counts = new long[batch.keyCount()];
    Arrays.setAll(counts, key -> before.isNull(key) ? 0 : before.getLong(key));
    return counts;
  }

  private static void update(HostKeyedBatch batch, long[] counts) {
    for (long count : counts) {
      ((FixedWidthColumnBuilder) batch.newState().column(0)).appendLong(count);
    }
  }

  private static Row mapKey(HostKeyedBatch batch, int row) {
    return Row.of(text(batch.column("s"), row), batch.column("n").getInt(row));
  }

  private static String entries(Map<Row, Row> entries) {
    TreeSet<String> texts = new TreeSet<>();
    entries.forEach((mapKey, values) -> texts.add(mapKey + "=" + values));
    return texts.toString();
  }

  static String text(ColumnReader strings, int row) {
    return strings.isNull(row) ? null : new String(strings.getBytes(row), StandardCharsets.UTF_8);
  }

  private static void emit(HostKeyedBatch batch, int key, String answer) {
    append(batch.output().column(0), text(batch.key("k"), key));
    append(batch.output().column(1), answer);
  }

  static void append(ColumnBuilder column, Long value) {
    if (value == null) {
      column.appendNull();
    } else {
      ((FixedWidthColumnBuilder) column).appendLong(value);
    }
  }

  static void append(ColumnBuilder column, String value) {
    if (value == null) {
      column.appendNull();
    } else {
      ((VariableWidthColumnBuilder) column).appendBytes(value.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** The maps of Java. */
  public static final class Model implements CommandModel {
    private final boolean hasValues;
    private final Map<Object, Map<Row, Row>> maps = new HashMap<>();
    private final Map<Object, Long> counts = new HashMap<>();

    /**
     * @param hasValues whether the maps have value columns
     */
    public Model(boolean hasValues) {
      this.hasValues = hasValues;
    }

    @Override
    public Model copy() {
      Model copy = new Model(hasValues);
      maps.forEach((key, map) -> copy.maps.put(key, new HashMap<>(map)));
      copy.counts.putAll(counts);
      return copy;
    }

    @Override
    public List<Object> process(List<Object> command) {
      Object key = command.get(0);
      Map<Row, Row> map = maps.computeIfAbsent(key, absent -> new HashMap<>());
      long count = counts.merge(key, 1L, Long::sum);
      Row mapKey = Row.of(command.get(2), command.get(3));
      switch ((String) command.get(1)) {
        case PUT -> map.put(mapKey, values(hasValues, (String) command.get(4), count));
        case REMOVE -> map.remove(mapKey);
        case GET -> {
          return Arrays.asList(key, "get " + mapKey + " " + map.get(mapKey));
        }
        case ENTRIES -> {
          return Arrays.asList(key, "entries " + entries(map));
        }
        default -> map.clear();
      }
      return null;
    }
  }
}
