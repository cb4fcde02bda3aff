"""The review: a change as a diff, and the only place on the screen where it can be applied."""
