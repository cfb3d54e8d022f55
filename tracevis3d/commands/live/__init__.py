"""The commands about live feeds: keys, replaying a recording, watching."""
