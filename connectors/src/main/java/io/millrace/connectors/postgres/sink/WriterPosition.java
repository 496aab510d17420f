// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

/**
 * How far a writer was at a checkpoint: the checkpoint owns its tables of staged rows before {@code
 * next}, and none from there on.
 *
 * @param writer the name of the writer
 * @param next the number of the writer's next table
 */
record WriterPosition(String writer, long next) {}
