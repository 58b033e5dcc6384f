package org.topwork.sample;

import android.app.Activity;
import android.content.Context;
import android.graphics.SurfaceTexture;
import android.hardware.camera2.CameraAccessException;
import android.hardware.camera2.CameraCaptureSession;
import android.hardware.camera2.CameraCharacteristics;
import android.hardware.camera2.CameraDevice;
import android.hardware.camera2.CameraManager;
import android.hardware.camera2.CaptureRequest;
import android.util.Log;
import android.view.Surface;
import android.view.TextureView;
import java.util.Collections;

/** The back camera on a view. All methods belong to the main thread. */
final class Camera implements TextureView.SurfaceTextureListener {
  private static final String TAG = "topwork";

  private final Activity activity;
  private final TextureView view;
  private CameraDevice device;
  private boolean isWanted;

  Camera(Activity activity, TextureView view) {
    this.activity = activity;
    this.view = view;
    view.setSurfaceTextureListener(this);
  }

  /** Starts as soon as the view has a surface. The permission must have been given. */
  void start() {
    isWanted = true;
    if (view.isAvailable() && device == null) {
      open();
    }
  }

  void stop() {
    isWanted = false;
    if (device != null) {
      device.close();
      device = null;
    }
  }

  private void open() {
    CameraManager manager = (CameraManager) activity.getSystemService(Context.CAMERA_SERVICE);
    try {
      for (String id : manager.getCameraIdList()) {
        Integer facing =
            manager.getCameraCharacteristics(id).get(CameraCharacteristics.LENS_FACING);
        if (facing != null && facing == CameraCharacteristics.LENS_FACING_BACK) {
          manager.openCamera(id, new Opened(), null);
          return;
        }
      }
    } catch (CameraAccessException | SecurityException e) {
      Log.w(TAG, "no camera", e);
    }
  }

  private final class Opened extends CameraDevice.StateCallback {
    @Override
    public void onOpened(CameraDevice opened) {
      if (!isWanted) {
        opened.close();
        return;
      }
      device = opened;
      SurfaceTexture texture = view.getSurfaceTexture();
      texture.setDefaultBufferSize(640, 480);
      Surface surface = new Surface(texture);
      try {
        opened.createCaptureSession(
            Collections.singletonList(surface), new Configured(surface), null);
      } catch (CameraAccessException e) {
        Log.w(TAG, "no preview", e);
      }
    }

    @Override
    public void onDisconnected(CameraDevice gone) {
      stop();
    }

    @Override
    public void onError(CameraDevice failed, int error) {
      Log.w(TAG, "camera error " + error);
      stop();
    }
  }

  private final class Configured extends CameraCaptureSession.StateCallback {
    private final Surface surface;

    Configured(Surface surface) {
      this.surface = surface;
    }

    @Override
    public void onConfigured(CameraCaptureSession session) {
      try {
        CaptureRequest.Builder request =
            session.getDevice().createCaptureRequest(CameraDevice.TEMPLATE_PREVIEW);
        request.addTarget(surface);
        session.setRepeatingRequest(request.build(), null, null);
      } catch (CameraAccessException | IllegalStateException e) {
        Log.w(TAG, "no preview", e);
      }
    }

    @Override
    public void onConfigureFailed(CameraCaptureSession session) {
      Log.w(TAG, "no preview");
    }
  }

  @Override
  public void onSurfaceTextureAvailable(SurfaceTexture texture, int width, int height) {
    if (isWanted) {
      start();
    }
  }

  @Override
  public void onSurfaceTextureSizeChanged(SurfaceTexture texture, int width, int height) {}

  @Override
  public boolean onSurfaceTextureDestroyed(SurfaceTexture texture) {
    stop();
    return true;
  }

  @Override
  public void onSurfaceTextureUpdated(SurfaceTexture texture) {}
}
