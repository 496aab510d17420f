// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Reads the maps and lists of a batch's keys, as they are before the batch. Works on tables in the
 * memory of the device, on the stream of the batch's device. Each method makes one attempt, waits
 * for the device, and can be called while the function is.
 */
@PublicEvolving
public interface EntryReader {
  /**
   * Looks entries of a map up. The same entry may be asked for more than once.
   *
   * @param map its name
   * @param requests of {@link MapStateSchema#requests}; stays the caller's
   * @return for each request a row of {@link MapStateSchema#found}, with null for the values if
   *     there is no entry; the caller closes the table
   * @throws IllegalArgumentException if the function has no such map
   * @throws IllegalStateException if {@code requests} has other columns, or the number of a key
   *     that the batch has not
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now
   */
  Table find(String map, Table requests);

  /**
   * All entries of a map that some keys of the batch have, in no particular order. This reads the
   * entries of all keys of the subtask, so it takes time for the size of the whole map.
   *
   * @param map its name
   * @param requests of {@link MapStateSchema#keyRequests}: the numbers of the keys, each of which
   *     may be asked for more than once; stays the caller's
   * @return rows of {@link MapStateSchema#entries}, each entry once; the caller closes the table
   * @throws IllegalArgumentException if the function has no such map
   * @throws IllegalStateException as {@link #find}
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now
   */
  Table entries(String map, Table requests);

  /**
   * The elements of lists.
   *
   * @param list its name
   * @param requests of {@link ListStateSchema#requests}: the numbers of keys; stays the caller's
   * @return rows of {@link ListStateSchema#read}: the elements of each key that is asked for in
   *     their order, one key after the other; the caller closes the table
   * @throws IllegalArgumentException if the function has no such list
   * @throws IllegalStateException as {@link #find}
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now
   */
  Table elements(String list, Table requests);
}
