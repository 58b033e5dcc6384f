/**
 * Runs {@code .tflite} models and re-trains their last layers on the device.
 *
 * <p>Begin with {@link org.topwork.Model#open(java.io.File)}. A {@link org.topwork.Session} runs a
 * model; a {@link org.topwork.Trainer} makes a new model with another last layer; {@link
 * org.topwork.Device} lists where models can run.
 *
 * <p>Rules of all classes:
 *
 * <ol>
 *   <li><b>Ownership.</b> Models, sessions and trainers hold native memory until {@code close()}.
 *       An object that is forgotten is freed some time after the garbage collector has found it,
 *       with a line in the log. A session or trainer keeps what it needs of its model, so the model
 *       may be closed first.
 *   <li><b>Buffers</b> are direct, in the processor's byte order, and belong to Java: the library
 *       reads and writes them in place, and they stay readable after {@code close()}.
 *   <li><b>Threads.</b> Every method may be called from any thread. Calls for one object take
 *       turns; different objects are independent of each other. {@code cancel()} never waits.
 *       {@code close()} cancels what is running and waits for its end. Runs, training and opening
 *       take time: call them from a worker thread.
 *   <li><b>Errors</b> of the library are {@link org.topwork.TopworkException}s, whose classes tell
 *       the kind and whose message says what was wrong, where, and what to do. A call on a closed
 *       object, or from inside of the object's own callback, is an {@link IllegalStateException}.
 * </ol>
 */
package org.topwork;
