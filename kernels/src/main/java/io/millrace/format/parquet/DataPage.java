// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;

/**
 * What the header of a data page says.
 *
 * @param values rows of the page, nulls included
 * @param isVersion2 whether the levels lie without lengths before the values
 * @param repetitionBytes bytes of repetition levels of version 2, which are skipped
 * @param definitionBytes bytes of definition levels of version 2
 */
@PublicEvolving
public record DataPage(
    int values,
    ValueEncoding encoding,
    boolean isVersion2,
    int repetitionBytes,
    int definitionBytes) {}
