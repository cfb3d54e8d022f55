"""Kernels for protobuf: any messages by their fields, and those of Perfetto's traces."""
