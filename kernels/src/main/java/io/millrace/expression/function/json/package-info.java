// SPDX-License-Identifier: Apache-2.0
/** Functions that read and write JSON. */
package io.millrace.expression.function.json;
