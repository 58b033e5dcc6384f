// Nothing but stages (gpu/common.clh), four elements per work-item: functions of one tensor, arithmetic
// of two, chains of both. x: fours of columns; y: rows.

TW_KERNEL(elementwise)(tw_in x, tw_out y, int columns, int rows TW_TAIL) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1);
  if (column >= columns || row >= rows) return;
  const int at = row * columns + column, n = min(4, columns - column);
  tw_finish(y, at, column, n, tw_load_part(x, at, n));
}
