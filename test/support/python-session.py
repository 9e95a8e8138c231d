"""Runs snippets for a test: a line of JSON with code in, a line of JSON with its value or its error out.

Snippets are written for asyncio. For the client of threads `async` and `await` are removed.
"""

import asyncio
import inspect
import io
import json
import re
import ssl
import sys
import textwrap
import threading
import traceback
from typing import Any

import runwire

writing = threading.Lock()


def fields_of(error: runwire.RunwireError) -> dict[str, Any]:
    return {"class": type(error).__name__, "message": str(error), **vars(error)}


def names_for(job: dict[str, Any]) -> dict[str, Any]:
    given = job["given"]
    kind = getattr(runwire, given.get("kind", "Runwire"))
    modules = {"asyncio": asyncio, "inspect": inspect, "io": io, "json": json, "ssl": ssl, "threading": threading}
    names = {**vars(runwire), **modules, "errors": runwire._errors, "Client": kind, **given}
    if "url" in given:
        timing = runwire.Timing(**given.get("timing", {}))
        names["client"] = kind(given["url"], given["key"], given["integration"], timing=timing)
    return names


def play(job: dict[str, Any]) -> None:
    code = textwrap.indent(textwrap.dedent(job["code"]), "    ")
    source = f"async def snippet():\n{code}"
    is_async = job["given"].get("kind") == "AsyncRunwire"
    if not is_async:
        source = re.sub(r"\b(async|await) ", "", source)
    try:
        names = names_for(job)
        exec(source, names)
        value = names["snippet"]()
        outcome: dict[str, Any] = {"value": asyncio.run(value) if is_async else value}
    except runwire.RunwireError as error:
        outcome = {"error": fields_of(error)}
    except BaseException:
        outcome = {"crash": traceback.format_exc()}
    line = json.dumps({"id": job["id"], **outcome}, default=vars)
    with writing:
        print(line, flush=True)


for line in sys.stdin:
    threading.Thread(target=play, args=[json.loads(line)], daemon=True).start()
