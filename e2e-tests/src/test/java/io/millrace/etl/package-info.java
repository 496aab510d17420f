// SPDX-License-Identifier: Apache-2.0
/**
 * Programs that run the ETL job over a broker and a database of this machine, and show what it
 * does.
 */
package io.millrace.etl;
