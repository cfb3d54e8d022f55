"""Where walls stand, and along which trees the tubes between them are bundled."""
