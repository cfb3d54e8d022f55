"""uftrace's folders."""
