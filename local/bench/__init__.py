"""The benchmark: the product's jobs beside the obvious way to do the same, on the same data, in the same run."""
