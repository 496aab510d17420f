// SPDX-License-Identifier: Apache-2.0
/** Reading of formats, compared with Flink's formats. */
package io.millrace.parity.format;
