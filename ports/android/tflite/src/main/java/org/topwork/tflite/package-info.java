/**
 * {@code org.tensorflow.lite.Interpreter} on Topwork: existing code changes one import.
 *
 * <p>The interface, its tensors, types and options are those of {@code
 * org.tensorflow:tensorflow-lite-api}.
 */
package org.topwork.tflite;
