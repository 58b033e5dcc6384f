package org.topwork.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Tensor;
import org.topwork.Session;
import org.topwork.TensorInfo;

/** An input or output of a session; it tells what is so at the time of each call. */
final class SessionTensor implements Tensor {
  private final Session session;
  private final Inputs inputs;
  private final int index;
  private final boolean isInput;

  SessionTensor(Session session, Inputs inputs, int index, boolean isInput) {
    this.session = session;
    this.inputs = inputs;
    this.index = index;
    this.isInput = isInput;
    Failures.translated(this::info);
  }

  private TensorInfo info() {
    return isInput ? session.inputInfo(index) : session.outputInfo(index);
  }

  @Override
  public DataType dataType() {
    try {
      return DataType.valueOf(info().dataType().name());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("org.tensorflow.lite has no type for " + info(), e);
    }
  }

  @Override
  public int numDimensions() {
    return shape().length;
  }

  @Override
  public int numBytes() {
    TensorInfo info = info();
    return isInput
        ? (int) (((long) numElements() * info.dataType().bits() + 7) / 8)
        : (int) info.bytes();
  }

  @Override
  public int numElements() {
    int elements = 1;
    for (int dimension : shape()) {
      elements *= dimension;
    }
    return elements;
  }

  @Override
  public int[] shape() {
    return isInput ? inputs.shape(index) : info().shape();
  }

  @Override
  public int[] shapeSignature() {
    return info().openShape();
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public String name() {
    return info().name();
  }

  /**
   * Returns the scale of the whole tensor; 0 and 0 where there is none, or one for each channel.
   */
  @Override
  public QuantizationParams quantizationParams() {
    TensorInfo info = info();
    return info.scales().length == 1
        ? new QuantizationParams(info.scales()[0], (int) info.zeroPoints()[0])
        : new QuantizationParams(0, 0);
  }

  @Override
  public ByteBuffer asReadOnlyBuffer() {
    Failures.translated(inputs::prepare);
    ByteBuffer values = isInput ? session.input(index) : session.output(index);
    return values.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }
}
