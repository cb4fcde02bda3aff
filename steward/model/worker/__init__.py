"""The child process that alone knows litellm, holds the keys and reaches the network; it never opens the repository."""
