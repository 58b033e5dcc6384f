package org.topwork;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A {@code .tflite} model. Sessions and trainers of one model share its memory. */
public final class Model implements AutoCloseable {
  static {
    Topwork.load();
  }

  private static final long TO_THE_END = -1;

  final NativeHandle handle;

  Model(long pointer, ByteBuffer data) {
    handle = new NativeHandle(this, "Model", pointer, Model::nativeFree, null);
    handle.keptAlive = data;
  }

  /**
   * Opens a file, which is mapped into memory and must not be changed while the model is open.
   *
   * @throws TopworkException.Io if the file cannot be read
   * @throws TopworkException.InvalidModel if it is malformed: the message names the place
   */
  public static Model open(File file) {
    return new Model(nativeOpenFile(Utf8.bytes(file.getPath())), null);
  }

  /**
   * Opens the bytes between the buffer's position and limit. A direct buffer, as a mapped file is,
   * is used in place and must not be changed while the model, its sessions and trainers are open
   * (it is copied if it does not begin at a multiple of 16 bytes); another buffer is copied.
   *
   * @throws TopworkException.InvalidModel if the model is malformed: the message names the place
   */
  public static Model open(ByteBuffer data) {
    ByteBuffer direct = data.slice();
    if (!data.isDirect()) {
      direct = Topwork.allocate(data.remaining());
      direct.put(data.duplicate()).rewind();
    }
    return new Model(nativeOpenMemory(direct), direct);
  }

  /**
   * Opens {@code length} bytes of an open file from {@code offset} on; -1: up to its end. The file
   * may be closed afterwards.
   *
   * @throws TopworkException.Io if the file cannot be read
   * @throws TopworkException.InvalidModel if the model is malformed: the message names the place
   */
  public static Model open(ParcelFileDescriptor file, long offset, long length) {
    return new Model(nativeOpenFd(file.getFd(), offset, length), null);
  }

  /**
   * Opens an asset, which may be closed afterwards.
   *
   * @throws TopworkException.Io if the file cannot be read
   * @throws TopworkException.InvalidModel if the model is malformed: the message names the place
   */
  public static Model open(AssetFileDescriptor asset) {
    long length = asset.getDeclaredLength();
    long known = length == AssetFileDescriptor.UNKNOWN_LENGTH ? TO_THE_END : length;
    return open(asset.getParcelFileDescriptor(), asset.getStartOffset(), known);
  }

  /**
   * Opens an asset of the application, which must be packed uncompressed: {@code androidResources {
   * noCompress "tflite" }} in the module's build.gradle.
   *
   * @throws IOException if there is no such asset, or if it is compressed
   * @throws TopworkException.InvalidModel if the model is malformed: the message names the place
   */
  public static Model openAsset(AssetManager assets, String name) throws IOException {
    try (AssetFileDescriptor asset = assets.openFd(name)) {
      return open(asset);
    }
  }

  /** Returns what the model's author says of it, and the number of its inputs and outputs. */
  public ModelInfo info() {
    return handle.call(this, model -> nativeInfo(model));
  }

  /**
   * Returns what input {@code index} of the main subgraph looks like. Sizes that the author left
   * open count as the file says.
   *
   * @throws TopworkException.InvalidArgument if there is no such input
   */
  public TensorInfo inputInfo(int index) {
    return tensor(index, true);
  }

  /**
   * Returns what output {@code index} of the main subgraph looks like.
   *
   * @throws TopworkException.InvalidArgument if there is no such output
   */
  public TensorInfo outputInfo(int index) {
    return tensor(index, false);
  }

  /** Returns the whole model as JSON, for people and tools. */
  public String describe() {
    return handle.call(this, model -> Utf8.string(nativeDescribe(model)));
  }

  /**
   * Returns a copy of a file that is packed into the model, as "labels.txt".
   *
   * @throws TopworkException.NotFound if there is none of that name
   */
  public byte[] file(String name) {
    return handle.call(this, model -> nativeFile(model, Utf8.bytes(name)));
  }

  /**
   * Writes the model as a {@code .tflite} file, which appears complete or not at all.
   *
   * @throws TopworkException.Io if it cannot be written
   */
  public void save(File file) {
    handle.run(this, model -> nativeSave(model, Utf8.bytes(file.getPath())));
  }

  /** Frees what sessions and trainers do not need. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }

  private TensorInfo tensor(int index, boolean isInput) {
    return handle.call(this, model -> nativeTensor(model, index, isInput));
  }

  private static native long nativeOpenFile(byte[] path);

  private static native long nativeOpenMemory(ByteBuffer data);

  private static native long nativeOpenFd(int fd, long offset, long length);

  private static native void nativeFree(long model);

  private static native void nativeSave(long model, byte[] path);

  private static native byte[] nativeDescribe(long model);

  private static native byte[] nativeFile(long model, byte[] name);

  private static native ModelInfo nativeInfo(long model);

  private static native TensorInfo nativeTensor(long model, int index, boolean isInput);
}
