import logging

from dotenv import load_dotenv
from agency_swarm.integrations.fastapi import run_fastapi

from agency import create_agency

load_dotenv()
logging.basicConfig(level=logging.INFO)

if __name__ == "__main__":
    run_fastapi(
        agencies={
            "example-agency": create_agency,
        },
        port=8080,
    )
