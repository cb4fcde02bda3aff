"""What the kernel holds the steward's two processes to, and the helper that starts programs outside of it."""
