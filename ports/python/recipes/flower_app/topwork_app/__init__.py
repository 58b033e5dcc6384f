"""A head taught on many machines by Flower and topwork.flower."""
