from agents import ModelSettings
from agency_swarm import Agent
from openai.types.shared import Reasoning

example_agent = Agent(
    name="ExampleAgent",
    description="Answers customers and looks up the stock.",
    instructions="./instructions.md",
    files_folder="./files",
    tools_folder="./tools",
    model="gpt-5",
    model_settings=ModelSettings(
        max_tokens=25000,
        reasoning=Reasoning(effort="low"),
    ),
)
