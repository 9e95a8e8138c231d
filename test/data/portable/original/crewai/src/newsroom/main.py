#!/usr/bin/env python
import sys

from newsroom.crew import Newsroom


def run():
    """Run the crew."""
    inputs = {
        'topic': 'tidal power',
    }
    Newsroom().crew().kickoff(inputs=inputs)


def train():
    """Train the crew for a given number of iterations."""
    inputs = {
        'topic': 'tidal power',
    }
    Newsroom().crew().train(n_iterations=int(sys.argv[1]), filename=sys.argv[2], inputs=inputs)


def replay():
    """Replay the crew execution from a specific task."""
    Newsroom().crew().replay(task_id=sys.argv[1])


def test():
    """Test the crew execution and return the results."""
    inputs = {
        'topic': 'tidal power',
    }
    Newsroom().crew().test(n_iterations=int(sys.argv[1]), eval_llm=sys.argv[2], inputs=inputs)
