"""Runs snippets for a test: a line of JSON with code in, a line of JSON with its value or its error out."""

import io
import json
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


def client_of(given: dict[str, Any]) -> runwire.Runwire:
    timing = runwire.Timing(**given.get("timing", {}))
    return runwire.Runwire(given["url"], given["key"], given["integration"], timing=timing)


def play(job: dict[str, Any]) -> None:
    source = "def snippet():\n" + textwrap.indent(textwrap.dedent(job["code"]), "    ")
    names = {**vars(runwire), "errors": runwire._errors, "io": io, "ssl": ssl, "threading": threading, **job["given"]}
    try:
        if "url" in names:
            names["client"] = client_of(names)
        exec(source, names)
        outcome: dict[str, Any] = {"value": names["snippet"]()}
    except runwire.RunwireError as error:
        outcome = {"error": fields_of(error)}
    except BaseException:
        outcome = {"crash": traceback.format_exc()}
    line = json.dumps({"id": job["id"], **outcome}, default=vars)
    with writing:
        print(line, flush=True)


for line in sys.stdin:
    threading.Thread(target=play, args=[json.loads(line)], daemon=True).start()
