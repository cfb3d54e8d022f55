"""Who waits for whom (SyncTrace): waits, releases, holders, the critical path, and the view of threads."""
