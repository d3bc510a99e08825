"""The viewer of rollouts: an index of transcripts, and a server on loopback for a browser on the same machine."""
