/** What the tests of all modules share: a device with tracked memory, and tables of Java values. */
package io.millrace.testing;
