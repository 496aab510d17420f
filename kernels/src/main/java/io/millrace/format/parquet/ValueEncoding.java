// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;

/** How the values of a page are encoded. The numbers are those of {@code ValueEncoding} in CUDA. */
@PublicEvolving
public enum ValueEncoding {
  PLAIN(0),
  /** Codes of a dictionary in runs: RLE_DICTIONARY, and PLAIN_DICTIONARY of a data page. */
  DICTIONARY(1),
  /** BOOLEAN in runs. */
  RLE(2);

  private final int number;

  ValueEncoding(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
