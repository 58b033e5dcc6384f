// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: one element per work-item; see space_batch.h for the
// order. `nothing` is what padding holds. x: channels; y: pixels of an output row; z: rows of all
// output images.

TW_KERNEL(space_to_batch)(tw_in input, tw_out output, int batch, int height, int width,
                          int channels, int grid_h, int grid_w, int block_h, int block_w,
                          int top, int left, int n_rows, float nothing) {
  const int c = (int)get_global_id(0), g = (int)get_global_id(1), row = (int)get_global_id(2);
  if (c >= channels || g >= grid_w || row >= n_rows) return;
  const int entry = row / grid_h, block = entry / batch, i = block / block_w;
  const int n = entry - block * batch, j = block - i * block_w;
  const int h = (row - entry * grid_h) * block_h + i - top, w = g * block_w + j - left;
  const int at = (row * grid_w + g) * channels + c;
  if (h < 0 || h >= height || w < 0 || w >= width) {
    tw_store((tw_value_t)nothing, at, output);
    return;
  }
  tw_store(tw_load(((n * height + h) * width + w) * channels + c, input), at, output);
}

TW_KERNEL(batch_to_space)(tw_in input, tw_out output, int batch, int height, int width,
                          int channels, int grid_h, int grid_w, int block_h, int block_w,
                          int top, int left, int n_rows) {
  const int c = (int)get_global_id(0), x = (int)get_global_id(1), row = (int)get_global_id(2);
  if (c >= channels || x >= width || row >= n_rows) return;
  const int n = row / height, h = row - n * height + top, w = x + left;
  const int gh = h / block_h, gw = w / block_w;
  const int block = (h - gh * block_h) * block_w + w - gw * block_w;
  const int from = (((block * batch + n) * grid_h + gh) * grid_w + gw) * channels + c;
  tw_store(tw_load(from, input), (row * width + x) * channels + c, output);
}
