// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.memory.AccessScope;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.PageEpochs;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.WideValue;
import io.millrace.state.string.TableStrings;
import java.util.List;

/**
 * One batch and the state that it updates, as addresses on the device that are valid until the work
 * on {@code stream} is done.
 *
 * @param rows of the batch, at least 1
 * @param hasNullWord whether state rows have a null word behind the words of the key
 * @param number larger than those of the batches before that used the scratch memory, as an
 *     unsigned number
 * @param scratch the address of scratch memory
 * @param scratchLayout for at least {@code rows} rows
 * @param values the words of the accumulators
 * @param kinds address of a byte for each row of the result, its {@link ChangeKind}; 0 if there is
 *     no result
 * @param rowKinds address of a byte for each row of the batch, likewise; 0 if all are inserted
 * @param rowCount position of the word that counts rows; -1 if none does
 * @param expiry which rows of the state count as new
 * @param index a word for each slot: 0, or the hash of a key in the high half, and its row plus 1
 * @param indexSlots as {@link HostKeys#indexSlots} gives
 * @param isIndexOnHost whether work on a GPU reaches the index over the bus
 * @param chunkTable the address of an INT64 for each chunk of state rows: its address
 * @param stateRows rows in the state before the batch
 * @param pageEpochs the address of an INT64 for each page of state rows: the epoch of the last
 *     batch that wrote to it
 * @param epoch of this batch
 * @param strings the long strings of the state's keys and values
 * @param staged rows that the batch copies to the device, and room to sort its rows
 */
record StateBatch(
    int rows,
    List<KeyWord> key,
    boolean hasNullWord,
    List<AccumulatorValue> values,
    int rowWords,
    int number,
    long scratch,
    StateScratch scratchLayout,
    long kinds,
    long rowKinds,
    int rowCount,
    Expiry expiry,
    long index,
    long indexSlots,
    boolean isIndexOnHost,
    long chunkTable,
    int chunkShift,
    long stateRows,
    long pageEpochs,
    long epoch,
    TableStrings.Access strings,
    UpdateScratch.Staged staged,
    DeviceStream stream) {
  /** What updates the state. */
  static final PerDevice<StateKernels> KERNELS =
      new PerDevice<>(host -> new HostStateKernels(), CudaStateKernels::new);

  /**
   * What a batch updates.
   *
   * @param chunkTable as above, and likewise the others
   */
  record Target(
      StateRows rows,
      long chunkTable,
      long stateRows,
      KeyIndex.Access index,
      PageEpochs pageEpochs,
      long epoch,
      TableStrings.Access strings,
      UpdateScratch.Staged staged) {}

  /** A batch of {@code rows} rows, whose addresses are valid within {@code scope}. */
  static StateBatch of(
      StateSchema schema,
      StateInput input,
      int rows,
      UpdateScratch scratch,
      Target target,
      AccessScope scope,
      DeviceStream stream) {
    long scratchAddress = scratch.access(rows, scope);
    return new StateBatch(
        rows,
        input.key(),
        input.hasNullWord(),
        input.values(),
        schema.rowWords(),
        scratch.batchNumber(),
        scratchAddress,
        scratch.layout(),
        input.kinds(),
        input.rowKinds(),
        schema.rowCount(),
        input.expiry(),
        target.index.address(),
        target.index.slots(),
        target.index.isOnHost(),
        target.chunkTable,
        target.rows.chunkShift(),
        target.stateRows,
        target.pageEpochs.access(scope),
        target.epoch,
        target.strings,
        target.staged,
        stream);
  }

  /** Whether rows expire. Then each update of a key changes it: it renews its time. */
  boolean hasExpiry() {
    return expiry.oldest() != 0;
  }

  /** Whether the key has strings. */
  boolean hasStrings() {
    return strings.keys().chunkTable() != 0;
  }

  /** The address on the host of a word of the long strings of keys. */
  long keyStringAddress(long position) {
    return strings.keys().wordAddress(position);
  }

  /** How many values of a key are strings. */
  int valueStrings() {
    return (int) values.stream().filter(value -> value.type() == WideValue.STRING).count();
  }

  /** The position of the first accumulator in a state row. */
  int firstAccumulator() {
    return key.size() + (hasNullWord ? 1 : 0);
  }

  /** Whether values are combined in the order of the rows. */
  boolean isOrdered() {
    return values.stream().anyMatch(AccumulatorValue::isOrdered);
  }

  /** The position of the first word of the sector of the first accumulator, or of the last one. */
  int partialBase() {
    return rowWords - scratchLayout.partialWords();
  }
}
