/** Lists to rows, one row per element. */
package io.millrace.kernel.explode;
