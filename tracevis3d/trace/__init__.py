"""The model of a trace, how it is built, and its store on disk."""
