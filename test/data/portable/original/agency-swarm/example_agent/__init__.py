from .example_agent import example_agent

__all__ = ["example_agent"]
