from agency_swarm.tools import BaseTool
from pydantic import Field


class ExampleTool(BaseTool):
    """Looks up how many copies of a book are in stock."""

    title: str = Field(..., description="The title of the book.")

    def run(self):
        copies = len(self.title) % 4
        return f"{copies} copies of {self.title}"


if __name__ == "__main__":
    print(ExampleTool(title="Moby-Dick").run())
