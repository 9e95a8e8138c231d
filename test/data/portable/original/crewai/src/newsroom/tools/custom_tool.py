from typing import Type

from crewai.tools import BaseTool
from pydantic import BaseModel, Field


class MyCustomToolInput(BaseModel):
    """Input schema for MyCustomTool."""

    argument: str = Field(..., description="The name of a harbour.")


class MyCustomTool(BaseTool):
    name: str = "tide_table"
    description: str = "Returns the hours of high tide of a harbour."
    args_schema: Type[BaseModel] = MyCustomToolInput

    def _run(self, argument: str) -> str:
        return f"High tide in {argument}: 04:10 and 16:35"
