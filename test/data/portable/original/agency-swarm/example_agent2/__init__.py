from .example_agent2 import example_agent2

__all__ = ["example_agent2"]
