// The runtime's library anchor until its parts land.
