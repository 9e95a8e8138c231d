from agents import ModelSettings
from agency_swarm import Agent
from openai.types.shared import Reasoning

example_agent2 = Agent(
    name="ExampleAgent2",
    description="Writes letters with offers.",
    instructions="./instructions.md",
    files_folder="./files",
    tools_folder="./tools",
    model="gpt-5",
    model_settings=ModelSettings(
        max_tokens=25000,
        reasoning=Reasoning(effort="low"),
    ),
)
