from google.adk.agents import Agent


def get_ferry_times(island: str) -> dict:
    """Returns the ferries of today to an island.

    Args:
        island: The name of the island.

    Returns:
        A dict with status and either times or error_message.
    """
    ferries = {"aegina": ["07:45", "12:00", "18:30"], "hydra": ["09:15", "16:00"]}
    times = ferries.get(island.lower())
    if times is None:
        return {"status": "error", "error_message": f"No ferries to {island}."}
    return {"status": "success", "times": times}


ticket_agent = Agent(
    name="ticket_agent",
    model="gemini-2.5-flash",
    description="Sells tickets and changes bookings.",
    instruction="You sell ferry tickets. Ask for the date and the number of passengers before you name a price.",
)

complaint_agent = Agent(
    name="complaint_agent",
    model="gemini-2.5-flash",
    description="Handles complaints about late or cancelled ferries.",
    instruction="You handle complaints. Apologise once, ask for the booking number, and say what happens next.",
)

root_agent = Agent(
    name="root_agent",
    model="gemini-2.5-flash",
    description="Answers passengers of a ferry line.",
    instruction=(
        "You answer passengers of a ferry line. Use get_ferry_times for departures. "
        "Leave tickets to ticket_agent and complaints to complaint_agent."
    ),
    tools=[get_ferry_times],
    sub_agents=[ticket_agent, complaint_agent],
)
