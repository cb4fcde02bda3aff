"""The gateway to language models and the worker process that alone knows litellm."""
