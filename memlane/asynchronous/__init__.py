"""The SDK as it is written; `memlane.synchronous` is made from it."""
