// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;

/**
 * A column with one value in all rows.
 *
 * @param field of a type with 8 bytes; never null
 * @param value the bits of the element
 */
@PublicEvolving
public record ConstantColumn(Field field, long value) {}
