/**
 * The stream element of Millrace's operators, a counted handle on a column table, and what an
 * operator needs to work on it: its device, its type information, batching and unbatching.
 */
package io.millrace.operators.batch;
