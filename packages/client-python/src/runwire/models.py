"""JSON values of the API. Made from the schemas by `npm run contract-types`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class Adjustment(TypedDict):
    """A correction of a member's usage."""

    kind: Literal["adjustment"]
    """Discriminator."""
    adjustmentId: str
    """Identifier of the adjustment."""
    consumerId: str
    """The member whose usage was corrected."""
    unit: Literal["runs", "tokens", "credits"]
    """Unit of the amount; it must be the unit of the integration's allowance."""
    amount: float
    """Positive: the member gets this amount back. Negative: it is taken. Not 0; an integer in runs and tokens, at
    most six decimals in credits.
    """
    applied: float
    """The part of `amount` that was applied: what the member gets back is at most what it has used."""
    reason: str | None
    """Why the usage was corrected, for people."""
    idempotencyKey: str
    """Your own id for the adjustment, unique for the member."""
    periodStart: str | None
    """Start of the period in which it counts. Null for a lifetime allowance."""
    createdAt: str
    """When the adjustment was made. It counts on this day."""


class AdjustmentList(TypedDict):
    """A page of a list of `Adjustment`."""

    items: list[Adjustment]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class Agency(TypedDict):
    """A group of agents that work together."""

    agency: str
    """Identifier of the agency."""
    name: str | None
    """Name of the agency, for people."""
    defaultAgent: str | None
    """Entry point that is used if a request names none."""
    entryPoints: list[str]
    """Names of the agents that a request may name in `agent`."""
    agents: list[AgencyAgentsItem]
    """All agents of the agency."""
    flows: list[AgencyFlowsItem]
    """Which agents hand over or delegate to which."""
    source: Literal["bundled", "yaml", "markdown", "typescript"] | None
    """The form in which the agency is written. Null if it could not be loaded."""
    version: str | None
    """Hash of everything that the agency loads. Null if it could not be loaded."""
    longChats: Literal["summarize", "leave_out"] | None
    """What happens to the oldest turns of a chat that is too long for the model. Null if the agency could not be
    loaded.
    """
    summaryModel: str | None
    """Model that sums up the oldest turns. Null if the model of the agent that begins the run does."""
    loadedAt: str | None
    """When this version was loaded. Null if the agency could not be loaded."""
    mcp: list[AgencyMcpItem]
    """The MCP servers of the agency, as this node sees them."""
    process: AgencyProcess
    """The process that runs the agency's code, as this node sees it."""
    error: AgencyError | None
    """Why the files of the agency cannot be loaded as they are now; null if they can. The other fields show the last
    version that could be loaded, which completions use. If there is none, completions get 503
    `agency_unavailable`.
    """


class AgencyAgentsItem(TypedDict):
    """An agent."""

    name: str
    """Name of the agent."""
    description: str | None
    """What the agent does. Null if the definition does not say."""
    model: str | None
    """Model of the agent, as `provider/model`."""
    fallback: list[str]
    """Models that are asked if `model` cannot answer, in order."""
    tools: list[str]
    """Names of the tools of the agent."""
    approval: list[str]
    """Names of the tools whose calls a person must approve."""
    editable: list[str]
    """Names of the tools whose arguments an approval may change."""
    remember: list[str]
    """Names of the tools that an approval may allow for the chat."""
    conditional: list[str]
    """Names of the tools that `isEnabled` can hide from the model in a step."""
    sandbox: bool
    """True if the agent may run commands."""
    starters: list[str]
    """Messages that a user may begin with."""


class AgencyDefinition(TypedDict):
    """What the models of an agency read, as its files have it: placeholders are not filled in."""

    agency: str
    """Identifier of the agency."""
    version: str | None
    """Hash of everything that the agency loads. Null if it could not be loaded."""
    sharedInstructions: str
    """The instructions that all agents get. May be empty."""
    guardrails: list[AgencyDefinitionGuardrailsItem]
    """The guardrails that are asked for all agents, in their order."""
    agents: list[AgencyDefinitionAgentsItem]
    """All agents of the agency. Empty if it could not be loaded."""


class AgencyDefinitionAgentsItem(TypedDict):
    """What an agent tells its model."""

    name: str
    """Name of the agent."""
    instructions: str | None
    """The own instructions of the agent. Null if a function writes them."""
    tools: list[AgencyDefinitionAgentsItemToolsItem]
    """Its tools, besides flows. This node lists the tools of the MCP servers that it has connected."""
    output: dict[str, Any] | None
    """JSON Schema of its answer. Null if its answers are free text."""
    guardrails: list[AgencyDefinitionGuardrailsItem]
    """Its own guardrails, which are asked after those of the agency."""


class AgencyDefinitionAgentsItemToolsItem(TypedDict):
    """A tool that the model of an agent may call."""

    name: str
    """Name of the tool, as the model calls it."""
    description: str
    """What the model reads about the tool."""
    inputSchema: dict[str, Any]
    """JSON Schema of the arguments."""
    server: str | None
    """The MCP server that has the tool. Null if it is a tool of the agency or a built-in one."""


class AgencyDefinitionGuardrailsItem(TypedDict):
    """A function of the agency that checks what agents get, write or do."""

    name: str
    """Name of the guardrail."""
    on: Literal["input", "output", "toolCall", "toolResult"]
    """What it checks."""


class AgencyError(TypedDict):
    """Why the files of the agency cannot be loaded as they are now; null if they can. The other fields show the last
    version that could be loaded, which completions use. If there is none, completions get 503
    `agency_unavailable`.
    """

    message: str
    """The first fault, in one line."""
    faults: list[AgencyErrorFaultsItem]
    """Everything that is wrong."""


class AgencyErrorFaultsItem(TypedDict):
    """A fault."""

    file: str
    """The file, by its path from the folder of the agency."""
    line: int | None
    """The line, from 1. Null if the fault is not in a text."""
    column: int | None
    """The column, from 1. Null if the fault is not in a text."""
    message: str
    """What is wrong, and what to write."""


AgencyFlowsItem = TypedDict(
    "AgencyFlowsItem",
    {
        "from": "str",
        "to": "str",
        "kind": "Literal[\"handoff\", \"delegate\"]",
        "lasts": "Literal[\"chat\"] | None",
        "conditional": "bool",
    },
)
"""A way from one agent to another."""


class AgencyList(TypedDict):
    """A page of a list of `Agency`."""

    items: list[Agency]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class AgencyMcpItem(TypedDict):
    """An MCP server. If each run has its own session, the session of the newest run."""

    server: str
    """Name of the server in the agency."""
    state: Literal["connected", "connecting", "failed"]
    """`failed`: the last try to connect failed, and the next one follows."""
    tools: int
    """How many tools of the server agents get. The last known tools stay."""
    error: str | None
    """Why the server could not be connected and what to do, or which of its tools are left out. Null if nothing is
    wrong.
    """
    since: str
    """Since when the server has this state."""
    lastOutput: str | None
    """The last line that the program of the server wrote to stderr, without the secrets of its settings. It can
    quote runs, so only the administrator gets it. Null for all others, for servers with a URL, and if nothing was
    written.
    """


class AgencyProcess(TypedDict):
    """The process that runs the agency's code, as this node sees it."""

    state: Literal["running", "starting", "failed", "none"]
    """`starting`: it is started again after a fault, and calls wait for it. `failed`: it ended several times, and
    the next start follows after a pause. `none`: the agency has no code, or runs in the process of the server.
    """
    pid: int | None
    """Number of the process in its system. Null if it does not run."""
    memoryBytes: int | None
    """Heap and buffers of the process. Null if it does not run or was not measured yet."""
    restarts: int
    """How often the process was started again after a fault since this version was loaded."""
    lastFault: AgencyProcessLastFault | None
    """Why the process ended last. Null if it has not ended since this version was loaded."""


class AgencyProcessLastFault(TypedDict):
    """Why the process ended last. Null if it has not ended since this version was loaded."""

    message: str
    """What happened. The text of an error is shown to the owner of the run only."""
    tool: str | None
    """The tool whose code caused it. Null if that is not known, or if it was no tool."""
    callId: str | None
    """The call of the tool. Null if it is not known, or of another owner."""
    runId: str | None
    """The run of the call. Null if it is not known, or of another owner."""
    at: str
    """When the process ended."""


class Allowance(TypedDict):
    """Allowance in the current period. Null if allowances are off."""

    unit: Literal["runs", "tokens", "credits"]
    """Unit of all amounts."""
    limit: float
    """How much the member may use in the period."""
    used: float
    """Amount of the ended runs of the period, with its adjustments; at least 0."""
    reserved: float
    """Amount that active runs reserve."""
    remaining: float
    """max(0, limit − used − reserved)"""
    period: Literal["day", "week", "month", "lifetime"]
    """Period of the limit. Periods begin at 00:00 UTC, weeks on Monday."""
    periodStart: str | None
    """When the current period began. Null for a lifetime allowance."""
    resetAt: str | None
    """When the next period begins. Null for a lifetime allowance."""
    exhausted: bool
    """True if nothing remains."""


class AllowanceSetting(TypedDict):
    """Allowance of each member and period. Null if member allowances are off."""

    unit: Literal["runs", "tokens", "credits"]
    """Unit of the limit."""
    limit: int
    """How much each member may use in a period."""
    period: Literal["day", "week", "month", "lifetime"]
    """Period of the limit. Periods begin at 00:00 UTC, weeks on Monday."""


class _AnswerRequired(TypedDict):
    questionId: str
    """The question."""


class Answer(_AnswerRequired, total=False):
    """The answer to a question: either `approve` or `output`."""

    approve: bool
    """For a question of the kind `approval`: true if the call may be made."""
    reason: str
    """Why. The tool gets it if the call is approved, the model if it is declined."""
    arguments: dict[str, Any]
    """With `approve: true`, if the question is `editable`: the call is made with these arguments. At most 1 MiB."""
    remember: Literal["chat"]
    """With `approve: true`, if the question is `rememberable`: further calls of the tool in this chat do not ask."""
    output: str | dict[str, Any] | list[Any] | float | bool | None
    """For a question of the kind `tool`: the output of the call, as text or any other JSON value, at most 1 MiB."""
    failed: bool
    """True if the call failed; then `output` tells why."""


class AnsweringRun(TypedDict):
    """The run that continues after answers."""

    runId: str
    """The run that continues with the answers."""
    chatId: str
    """Its chat."""
    status: Literal["admitted", "running", "completed", "failed", "cancelled"]
    """State of the run."""


class ApiKey(TypedDict):
    """An API key, without the key itself."""

    keyId: str | None
    """Identifier of the API key. Null for `RUNWIRE_API_KEY`."""
    name: str | None
    """Name of the key, for people."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What the key may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """
    integrations: list[str] | None
    """The only integrations that the key reaches. Null: all integrations of the owner."""
    suffix: str | None
    """The last 6 characters of the key. Null for `RUNWIRE_API_KEY`."""
    createdBy: CreatedApiKeyCreatedBy | None
    """Who made the key. Null if a command on the machine or an earlier version made it."""
    createdAt: str | None
    """When the key was created. Null for `RUNWIRE_API_KEY`."""
    expiresAt: str | None
    """The key is refused from this time on. Null if it does not expire."""
    lastUsedAt: str | None
    """When the key was last used, to the minute. Null if it was never used."""
    revokedAt: str | None
    """When the key was revoked. Null if it was not revoked."""


class ApiKeyList(TypedDict):
    """A page of a list of `ApiKey`."""

    items: list[ApiKey]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class _AskedQuestionRequired(TypedDict):
    questionId: str
    """Identifier of the question, for `answers`."""
    kind: Literal["approval", "tool"]
    """`approval`: a person must decide about the call. `tool`: only the caller can make the call."""
    tool: str
    """Name of the tool."""
    arguments: dict[str, Any]
    """The arguments of the call. An approved call is made with exactly these, or with those of the answer."""
    agent: str
    """The agent that made the call."""
    apiIntegrationId: str
    """Identifier of the integration."""
    chatId: str
    """The chat in which the question was asked."""
    consumerId: str | None
    """The member that the chat belongs to. Null if it belongs to no member."""
    runId: str
    """The run that asked."""
    askedAt: str
    """When the run asked."""
    state: Literal["open", "answered", "unanswered"]
    """`unanswered`: a new message in the chat came instead of an answer."""
    decision: Literal["approved", "declined", "output"] | None
    """What the answer decided. Null if there is no answer."""
    reason: str | None
    """The reason that was given with the decision. Null if there is none."""
    changedArguments: dict[str, Any] | None
    """The arguments with which the call was approved instead. Null if they were not changed."""
    remember: Literal["chat"] | None
    """`chat`: the tool was allowed for the chat. Null if it was not."""
    answeredBy: AskedQuestionAnsweredBy | None
    """Who answered. Null if there is no answer."""


class AskedQuestion(_AskedQuestionRequired, total=False):
    """A question of any chat of the owner, and what became of it."""

    editable: bool
    """True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`."""
    rememberable: bool
    """True if the answer may have `remember`. Absent if the tool of the call has no `remember`."""


class AskedQuestionAnsweredBy(TypedDict):
    """Who answered. Null if there is no answer."""

    kind: Literal["person", "key", "client_token"]
    """What answered."""
    id: str | None
    """Id of the person or the key, or the `consumerId` of the client token. Null for `RUNWIRE_API_KEY`."""
    name: str | None
    """Name of the person or the key when it answered. Null for client tokens."""
    at: str
    """When the answer arrived."""


class AskedQuestionList(TypedDict):
    """A page of a list of `AskedQuestion`."""

    items: list[AskedQuestion]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class _AssistantHistoryItemRequired(TypedDict):
    role: Literal["assistant"]
    """Discriminator."""


class AssistantHistoryItem(_AssistantHistoryItemRequired, total=False):
    """A text or calls from the assistant."""

    content: str
    """What the assistant answered."""
    calls: list[HistoryCall]
    """Tool calls."""
    agent: str
    """The agent that answered."""


class AuditEvent(TypedDict):
    """A change that a person, a key or a client token made."""

    eventId: str
    """Identifier of the event."""
    at: str
    """When the change was made."""
    actor: AuditEventActor
    """Who made the change."""
    operation: str
    """Operation id of the request."""
    target: str
    """What was changed: `<kind>:<id>`, such as `key:key_1` or `member:user-42`."""
    apiIntegrationId: str | None
    """The integration of the target. Null if it has none."""
    changes: dict[str, AuditEventChangesValue] | None
    """The changed fields, without secrets and texts of messages. Null if there is nothing to show."""
    requestId: str | None
    """`X-Request-Id` of the request."""
    address: str | None
    """Address of the client. Null if it is not known, and after an erasure."""


class AuditEventActor(TypedDict):
    """Who made the change."""

    kind: Literal["person", "key", "client_token"]
    """Who sent the request."""
    id: str | None
    """Identifier of the person or key, or the member of a client token. Null for `RUNWIRE_API_KEY`."""
    name: str | None
    """Name at that time; of a person without a name the e-mail address."""


class AuditEventChangesValue(TypedDict):
    """One changed field."""

    before: Any
    """Value before the change. Null if there was none."""
    after: Any
    """Value after the change. Null if there is none."""


class AuditEventList(TypedDict):
    """A page of a list of `AuditEvent`."""

    items: list[AuditEvent]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class CancelResult(TypedDict):
    """A run's state after it was asked to stop."""

    runId: str
    """Identifier of the run."""
    chatId: str
    """Identifier of the chat."""
    status: Literal["cancelling", "completed", "failed", "cancelled"]
    """End of the run, or `cancelling` if it has not stopped yet."""
    cancelled: bool
    """True exactly if `status` is `cancelled`."""
    usage: Usage | None
    """Tokens that models used."""


class ChangedFile(TypedDict):
    """A file that a step created, changed or deleted."""

    name: str
    """Name of the file."""
    path: str
    """Full path of the file below `/app/mnt/`."""
    contentType: str
    """Content type of the file, detected from its name and its bytes."""
    size: int
    """Size of the file in bytes; 0 if it was deleted."""
    change: Literal["created", "changed", "deleted"]
    """What happened to the file."""


class Chat(TypedDict):
    """A chat."""

    chatId: str
    """Identifier of the chat."""
    aliasChatId: str | None
    """Alias of the chat, unique within the integration. Null if it has none."""
    apiIntegrationId: str
    """Identifier of the integration."""
    consumerId: str | None
    """The member that the chat belongs to. Null if it belongs to no member."""
    status: Literal["idle", "running"]
    """`running` while the chat has an active run, otherwise `idle`."""
    activeRunId: str | None
    """The active run. Null if the chat is idle."""
    numMessages: int
    """Number of messages of the chat."""
    pending: list[Question]
    """The open questions of the chat. Empty if there are none."""
    createdAt: str
    """When the chat was created."""
    updatedAt: str
    """When the chat was last changed: by a run, or by a PATCH of its title or metadata."""
    title: str | None
    """Title of the chat, for people. Null if it has none."""
    titlePreview: str | None
    """The title, or the first line of the first message, at most 200 characters. Null if there is neither."""
    forkedFrom: ChatForkedFrom | None
    """The chat that this one continues, and the last run that both have. Null if it is no fork."""
    replacedBy: str | None
    """The chat that took over the id of this one. Null if none did."""
    approvals: list[ChatApprovalsItem]
    """The tools whose calls do not ask in this chat, because an answer had `remember`."""
    lastingAgent: str | None
    """The agent of the last lasting hand-off. It begins the runs whose requests name no agent, as long as a lasting
    hand-off leads to it. Null if there was none.
    """
    transient: bool
    """True if the chat is not listed, and is deleted `RUNWIRE_LOG_DAYS` after its last run ended."""
    metadata: dict[str, Any] | None
    """Data of your own, at most 16 KiB as JSON. Null if the chat has none."""


class ChatApprovalsItem(TypedDict):
    """A part of an answer."""

    tool: str
    """Name of the tool."""
    by: ChatApprovalsItemBy
    """Who allowed it."""
    at: str
    """When it was allowed."""


class ChatApprovalsItemBy(TypedDict):
    """Who allowed it."""

    kind: Literal["person", "key", "client_token"]
    """Who answered."""
    id: str | None
    """Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`."""
    name: str | None
    """Name of the person or key. Null if there is none."""


class ChatForkedFrom(TypedDict):
    """The chat that this one continues, and the last run that both have. Null if it is no fork."""

    chatId: str
    """The chat that was forked."""
    runId: str | None
    """The last run that the fork has of that chat. Null if the fork began empty."""


class ChatList(TypedDict):
    """A page of a list of `Chat`."""

    items: list[Chat]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class ChatStatus(TypedDict):
    """A chat and one of its runs, read in one consistent snapshot."""

    chatId: str
    """Identifier of the chat."""
    aliasChatId: str | None
    """Alias of the chat, unique within the integration. Null if it has none."""
    apiIntegrationId: str
    """Identifier of the integration."""
    consumerId: str | None
    """The member that the chat belongs to. Null if it belongs to no member."""
    status: Literal["idle", "running"]
    """`running` while the chat has an active run, otherwise `idle`."""
    activeRunId: str | None
    """The active run. Null if the chat is idle."""
    numMessages: int
    """Number of messages of the chat."""
    pending: list[Question]
    """The open questions of the chat. Empty if there are none."""
    createdAt: str
    """When the chat was created."""
    updatedAt: str
    """When the chat was last changed: by a run, or by a PATCH of its title or metadata."""
    chatDeleted: bool
    """True if the chat was deleted."""
    run: ChatStatusRun | None
    """The run of `usageRequestId` if the request named one, otherwise the chat's newest run. Null if the chat has no
    run.
    """


class ChatStatusRun(TypedDict):
    """The run of `usageRequestId` if the request named one, otherwise the chat's newest run. Null if the chat has no
    run.
    """

    runId: str
    """Identifier of the run."""
    usageRequestId: str | None
    """`usageRequestId` of the request. Null if it had none."""
    status: Literal["admitted", "running", "completed", "failed", "cancelled"]
    """State of the run. `completed`, `failed` and `cancelled` are final."""
    agent: str
    """The agent that the run was started at."""
    attempt: int
    """Number of the attempt; it grows when a run is resumed after a crash."""
    lastEventId: int
    """Id of the last stored event of the stream."""
    createdAt: str
    """When the run was admitted."""
    startedAt: str | None
    """When the run was started. Null if it was not started yet."""
    completedAt: str | None
    """When the run ended. Null if it has not ended."""
    error: RunListItemError | None
    """Why the run failed. Null if it did not fail."""
    message: str | None
    """The final assistant text. Null until the run has ended."""
    usage: Usage | None
    """Tokens that models used."""


class ClientToken(TypedDict):
    """A token with which a page speaks for one member."""

    clientToken: str
    """The token itself. The server does not store it."""
    apiIntegrationId: str
    """Identifier of the integration."""
    consumerId: str
    """The member that the token speaks for."""
    chatId: str | None
    """The only chat that the token reaches. Null: all chats of the member."""
    agent: str | None
    """The only entry point that the token can run. Null: every entry point of the agency."""
    can: list[Literal["run", "read", "upload", "files", "answer"]]
    """What the token permits."""
    folder: str | None
    """Canonical folder: uploads, files and `sandboxFiles` must be at or below it. With `upload` or `files` the
    default is the folder of the member. Null: the token reaches no file.
    """
    origins: list[str] | None
    """The pages that may use the token. Null: pages of every origin."""
    expiresAt: str
    """The token is refused from this time on, or earlier if its key is revoked or its member leaves."""


class ClientTool(TypedDict):
    """A tool that only the caller can run."""

    name: str
    """Name of the tool. No agent of the agency has a tool with this name."""
    description: str
    """What the tool does, for the model."""
    inputSchema: dict[str, Any]
    """JSON Schema of the arguments, which are an object."""


class Cost(TypedDict):
    """What the run cost, from its end on. Also null for client tokens. Null if the prices have no currency, or none
    of a model.
    """

    amount: float
    """Tokens × price, with at most six decimals."""
    currency: str
    """The prices' currency, as in ISO 4217."""


class CreatedApiKey(TypedDict):
    """A new API key."""

    keyId: str
    """Identifier of the API key."""
    name: str | None
    """Name of the key, for people."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What the key may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """
    integrations: list[str] | None
    """The only integrations that the key reaches. Null: all integrations of the owner."""
    suffix: str | None
    """The last 6 characters of the key. Null for `RUNWIRE_API_KEY`."""
    createdBy: CreatedApiKeyCreatedBy | None
    """Who made the key. Null if a command on the machine or an earlier version made it."""
    createdAt: str
    """When the key was created."""
    expiresAt: str | None
    """The key is refused from this time on. Null if it does not expire."""
    lastUsedAt: str | None
    """When the key was last used, to the minute. Null if it was never used."""
    revokedAt: str | None
    """When the key was revoked. Null if it was not revoked."""
    apiKey: str
    """The key itself. The server shows it only in this answer."""


class CreatedApiKeyCreatedBy(TypedDict):
    """Who made the key. Null if a command on the machine or an earlier version made it."""

    kind: Literal["person", "key"]
    """Who made the key."""
    id: str | None
    """Identifier of the person or of the key. Null for `RUNWIRE_API_KEY`."""
    name: str | None
    """Name at that time; of a person without a name the e-mail address."""


class CreatedOwner(TypedDict):
    """A new owner with its first API key."""

    ownerId: str
    """Identifier of the owner."""
    email: str
    """E-mail address of the owner."""
    apiKey: str
    """The owner's first API key. The server shows it only in this answer."""
    setupLink: str
    """One-time link that sets the password for the console. It is valid for 24 hours."""


class CreatedPerson(TypedDict):
    """An invited person."""

    personId: str
    """Identifier of the person."""
    email: str | None
    """E-mail address with which the person signs in. Null until it is set."""
    name: str | None
    """Name of the person."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """
    state: Literal["invited", "active"]
    """`invited` until the person has set a password with the set-up link."""
    lastSeenAt: str | None
    """When the person last used the console, to the minute. Null if never."""
    createdAt: str
    """When the person was created."""
    setupLink: str
    """One-time link with which the person sets a password. It is valid for 24 hours."""


class Erasure(TypedDict):
    """The erasure of a member. It is kept for 30 days after its end."""

    consumerId: str
    """Identifier of the member, chosen by your backend."""
    status: Literal["erasing", "erased"]
    """`erased` if nothing of the member is stored any more, except usage under another id."""
    startedAt: str
    """When the erasure was accepted."""
    finishedAt: str | None
    """When it was finished. Null while it is running."""


class File(TypedDict):
    """A file or folder of an integration."""

    name: str
    """Name of the file or folder: the last segment of `path`."""
    path: str
    """Full path, as in `resource` and in `sandboxFiles`."""
    kind: Literal["file", "folder"]
    """File or folder."""
    size: int | None
    """Size in bytes. Null for a folder."""
    etag: str | None
    """Entity tag of the content, in quotes. Null for a folder."""
    contentType: str | None
    """Media type that was given when the file was uploaded. Null for a folder."""
    modifiedAt: str | None
    """When the file was last written. Null for a folder."""


class _FileAttachmentRequired(TypedDict):
    type: Literal["input_file"]
    """Discriminator."""
    file_url: str
    """Publicly accessible HTTPS URL of the file, at most 8192 characters. The server fetches it when the run starts.
    Messages that are read back contain it without query and fragment, which is also the key in
    `attachmentUrlRefreshes`.
    """


class FileAttachment(_FileAttachmentRequired, total=False):
    """A file by URL."""

    filename: str
    """File name without a directory path: one segment of at most 255 bytes, without control characters. If it is
    omitted, the last segment of the URL is used.
    """


class FileList(TypedDict):
    """A page of a list of `File`."""

    items: list[File]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class GuardrailDecision(TypedDict):
    """What a guardrail decided about a step."""

    name: str
    """Name of the guardrail."""
    on: Literal["input", "output", "toolCall", "toolResult"]
    """What it checked."""
    verdict: Literal["pass", "block", "replace", "ask"]
    """What it decided."""
    reason: str | None
    """Why it blocked. Null for other verdicts."""
    callId: str | None
    """The call that it checked. Null if it was no call."""


class HiddenPart(TypedDict):
    """What the model did not see in a step."""

    kind: Literal["tool", "handoff", "delegate"]
    """A tool, a hand-off or a delegation."""
    name: str
    """Name of the tool, or the agent to which the hand-off or delegation leads."""


class HistoryCall(TypedDict):
    """A call that an agent made."""

    callId: str
    """Names the call. Its output has the same id."""
    tool: str
    """The called tool. The agent need not have it."""
    arguments: dict[str, Any]
    """What the tool was called with."""


class _ImageAttachmentRequired(TypedDict):
    type: Literal["input_image"]
    """Discriminator."""
    image_url: str
    """Publicly accessible HTTPS image URL, or an inline image data URL: `data:image/png;base64,…`, strict base64 of
    a PNG, JPEG, GIF or WebP image. Messages that are read back contain a URL without query and fragment, and an
    inline image as a data URL without data: `data:image/png;sha256=…;bytes=…,`.
    """


class ImageAttachment(_ImageAttachmentRequired, total=False):
    """An image by URL or inline."""

    detail: Literal["auto", "low", "high"]
    """Resolution in which the model sees the image."""


class Integration(TypedDict):
    """An integration: an agency with settings, members, chats and files."""

    apiIntegrationId: str
    """Identifier of the integration."""
    name: str | None
    """Name of the integration, for people."""
    agency: str
    """The agency that answers. The default is the demo agency."""
    defaultAgent: str | None
    """Entry point that is used if a request names no `agent`."""
    textOnly: bool
    """True if completions answer in Text Only Mode, as `text/plain`."""
    allowances: AllowanceSetting | None
    """Allowance of each member and period. Null if member allowances are off."""
    onDisconnect: Literal["continue", "cancel"]
    """What happens to a run that had no reader for 10 s: `continue` or `cancel`."""
    maxRunSeconds: int
    """Maximum duration of a run in seconds; a longer run fails."""
    maxRunsPerMember: int | None
    """Maximum number of concurrent runs of a member. Null if it is not limited."""
    keepAttachments: bool
    """True if the server keeps a copy of each fetched attachment as long as the chat exists."""
    model: str | None
    """`provider/model` for agents that name no model. Null: the model of the agency or of the server."""
    fileAccess: Literal["chat", "member", "all"]
    """Which files the agents of a run see: `chat` (announced in the chat, or made by its runs), `member` (these, and
    all files below the folder of the member) or `all` (all files of the integration). The default is `chat`.
    """
    memberFolder: str
    """Template of the folder of a member, with `{consumerId}` as a whole path segment. The default is
    `/app/mnt/members/{consumerId}`.
    """
    quotaBytes: int | None
    """Maximum bytes of all files of the integration. Null: `RUNWIRE_MOUNT_QUOTA_BYTES` of the server. 0: no quota."""
    memberQuotaBytes: int | None
    """Maximum bytes of the files below the folder of one member. Null: `RUNWIRE_MEMBER_QUOTA_BYTES` of the server.
    0: no quota.
    """
    clientTools: bool
    """True if requests may bring tools that the caller runs (`clientTools`)."""
    callerInstructions: bool
    """True if requests may bring instructions of their own (`instructions`, and system messages of compatible APIs)."""
    autoRegister: bool
    """True if compatible APIs register an unknown member with its first run. `POST /get_completion_v2` never does
    this.
    """
    compatibleApis: list[Literal["openai", "ai-sdk", "ag-ui", "mcp", "agency-swarm"]]
    """The compatible APIs that are on. An API that is off answers 404. The default is all of them."""
    createdAt: str
    """When the integration was created."""
    updatedAt: str
    """When the integration was last changed."""


class IntegrationList(TypedDict):
    """A page of a list of `Integration`."""

    items: list[Integration]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


LatencySummary = TypedDict(
    "LatencySummary",
    {
        "from": "str",
        "to": "str",
        "items": "list[LatencySummaryItemsItem]",
    },
)
"""How long runs took, by day."""


class LatencySummaryItemsItem(TypedDict):
    """How long completed runs took in one day."""

    day: str
    """The day in UTC, such as `2030-01-31`."""
    runs: int
    """The completed runs from which the times were taken."""
    sampled: bool
    """True if the day has more than 2 400 runs: then at most the first 100 runs in each hour were read."""
    durationMs: UsageSummaryItemsItemDurationMs
    """From admission to the end."""
    firstTokenMs: UsageSummaryItemsItemDurationMs | None
    """From admission to the first output. Null if no run has one."""


class Me(TypedDict):
    """The owner, the person and the API key of this request."""

    ownerId: str
    """Identifier of the owner."""
    email: str | None
    """E-mail address of the first person of the owner. Null if none is set."""
    name: str | None
    """Name of the owner, for people."""
    administrator: bool
    """True if the owner may use the operations for administrators."""
    person: MePerson | None
    """The person who is signed in. Null if the request was sent with an API key."""
    key: MeKey
    """The API key of this request. For a console token it is the session, named `console`."""


class MeKey(TypedDict):
    """The API key of this request. For a console token it is the session, named `console`."""

    keyId: str | None
    """Identifier of the API key, or of the session for a console token. Null for `RUNWIRE_API_KEY`."""
    name: str | None
    """Name of the key, for people."""
    expiresAt: str | None
    """The key is refused from this time on. Null if it does not expire."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What this request may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """
    integrations: list[str] | None
    """The only integrations that the key reaches. Null: all integrations of the owner."""


class MePerson(TypedDict):
    """The person who is signed in. Null if the request was sent with an API key."""

    personId: str
    """Identifier of the person."""
    email: str | None
    """E-mail address with which the person signs in. Null until it is set."""
    name: str | None
    """Name of the person."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """


class Member(TypedDict):
    """An app member (consumer) of an integration."""

    consumerId: str
    """Identifier of the member, chosen by your backend."""
    name: str | None
    """Name of the member, for people."""
    active: bool
    """True if the member may start runs."""
    metadata: dict[str, Any]
    """Data of your own, at most 16 KiB as JSON."""
    ownLimit: int | None
    """Limit of this member. Null if the limit of the integration applies."""
    allowance: Allowance | None
    """Allowance in the current period. Null if allowances are off."""
    folder: str
    """Folder of the member: with `fileAccess: "member"` its runs see the files below it."""
    createdAt: str
    """When the member was registered."""
    updatedAt: str
    """When the member was last changed."""


class MemberList(TypedDict):
    """A page of a list of `Member`."""

    items: list[Member]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class Message(TypedDict):
    """A message of a chat."""

    messageId: str
    """Identifier of the message."""
    chatId: str
    """Identifier of the chat."""
    runId: str | None
    """The run that the message belongs to. Null for an imported message."""
    role: Literal["user", "assistant"]
    """Who wrote the message."""
    status: Literal["completed", "failed", "cancelled", "imported"]
    """A message of the assistant has the end of its run. `imported`: the caller sent it as `history`."""
    agent: str | None
    """The agent that answered. Null for messages of the user."""
    content: str
    """Text of the message; empty if the run ended before any text."""
    attachments: list[Attachment]
    """Attachments of the message, without signed queries."""
    sandboxFiles: list[SandboxFile]
    """Sandbox files of the message, as they were sent."""
    calls: list[MessageCallsItem]
    """The tool calls of the run that answered. Empty for messages of the user."""
    answers: list[MessageAnswersItem]
    """The answers to questions that the message brought. Empty for messages of the assistant."""
    error: RunListItemError | None
    """Why the run failed. Null if it did not fail."""
    createdAt: str
    """When the message was stored."""


class MessageAnswersItem(TypedDict):
    """An answer to a question."""

    questionId: str
    """The question."""
    tool: str | None
    """Name of the tool. Null if it is not known."""
    decision: Literal["approved", "declined", "output"]
    """What was answered."""
    reason: str | None
    """The reason that was sent. Null if there was none."""
    changedArguments: dict[str, Any] | None
    """The arguments with which the call was approved instead. Null if they were not changed."""
    remember: Literal["chat"] | None
    """`chat`: the tool was allowed for the chat. Null if it was not."""
    by: ChatApprovalsItemBy
    """Who answered."""
    at: str
    """When the answer arrived."""


class MessageCallsItem(TypedDict):
    """A call of a tool."""

    step: int
    """Number of the step within the run."""
    tool: str | None
    """Name of the tool. Null for other steps."""
    status: Literal["completed", "failed", "cancelled", "waiting"]
    """End of the step. `cancelled`: the run was cancelled during the call. `waiting`: the run ended with a question
    about the call; `answeredBy` tells whether it was answered.
    """
    agent: str
    """The agent of the step."""
    callId: str | None
    """Id of the tool call. Null for other steps."""


class MessageList(TypedDict):
    """A page of a list of `Message`."""

    items: list[Message]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


Overview = TypedDict(
    "Overview",
    {
        "from": "str",
        "to": "str",
        "measures": "OverviewMeasures",
        "before": "OverviewMeasures",
        "activeRuns": "int",
        "openQuestions": "int",
        "failures": "list[OverviewFailuresItem]",
        "brokenAgencies": "list[OverviewBrokenAgenciesItem]",
        "failedMcpServers": "list[OverviewFailedMcpServersItem]",
        "exhaustedMembers": "list[OverviewExhaustedMembersItem]",
        "expiringKeys": "list[OverviewExpiringKeysItem]",
        "disabledWebhooks": "list[OverviewDisabledWebhooksItem]",
    },
)
"""What happened in the last hours, and what needs a person. Lists have at most 20 items."""


class OverviewBrokenAgenciesItem(TypedDict):
    """An agency that cannot be loaded as it is."""

    agency: str
    """Name of the agency."""
    error: str
    """The first fault."""


class OverviewDisabledWebhooksItem(TypedDict):
    """A webhook endpoint that was disabled because posts failed."""

    apiIntegrationId: str
    """Identifier of the integration."""
    endpointId: str
    """Identifier of the endpoint."""
    reason: str
    """Why it was disabled."""


class OverviewExhaustedMembersItem(TypedDict):
    """A member that has used up its allowance."""

    apiIntegrationId: str
    """Identifier of the integration."""
    consumerId: str
    """The member."""


class OverviewExpiringKeysItem(TypedDict):
    """An API key that expires within 14 days."""

    keyId: str
    """Identifier of the key."""
    name: str
    """Its name."""
    expiresAt: str
    """When it expires."""


class OverviewFailedMcpServersItem(TypedDict):
    """An MCP server that this node cannot use."""

    agency: str
    """Name of the agency."""
    server: str
    """Name of the MCP server."""
    error: str | None
    """Why it cannot be used."""


class OverviewFailuresItem(TypedDict):
    """Runs that failed with the same sentence."""

    code: str
    """The error code."""
    error: str
    """The sentence."""
    count: int
    """How many of the newest 200 failed runs of each integration have it."""
    runId: str
    """The newest of them."""


class OverviewMeasures(TypedDict):
    """The runs since `from`."""

    runs: int
    """Number of runs."""
    tokens: int
    """Tokens of prompts and answers."""
    failed: int
    """Number of runs that failed."""
    cancelled: int
    """Number of runs that were cancelled."""
    cost: Cost | None
    """What the ended runs cost. Also null if one of them has no cost, or another currency. Null if the prices have
    no currency, or none of a model.
    """
    durationMs: UsageSummaryItemsItemDurationMs | None
    """From admission to the end, within 10 %. Null if no run has ended."""
    firstTokenMs: UsageSummaryItemsItemDurationMs | None
    """From admission to the first output, within 10 %. Null if no ended run has one."""


class Owner(TypedDict):
    """An owner of integrations and API keys."""

    ownerId: str
    """Identifier of the owner."""
    email: str | None
    """E-mail address of the first person of the owner. Null if none is set."""
    name: str | None
    """Name of the owner, for people."""
    administrator: bool
    """True if the owner may use the operations for administrators."""
    createdAt: str
    """When the owner was created."""


class OwnerList(TypedDict):
    """A page of a list of `Owner`."""

    items: list[Owner]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class Person(TypedDict):
    """A person who signs in for the owner."""

    personId: str
    """Identifier of the person."""
    email: str | None
    """E-mail address with which the person signs in. Null until it is set."""
    name: str | None
    """Name of the person."""
    role: Literal["viewer", "operator", "developer", "manager"]
    """What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes
    everything below integrations, `manager` may do everything of the owner.
    """
    state: Literal["invited", "active"]
    """`invited` until the person has set a password with the set-up link."""
    lastSeenAt: str | None
    """When the person last used the console, to the minute. Null if never."""
    createdAt: str
    """When the person was created."""


class PersonList(TypedDict):
    """A page of a list of `Person`."""

    items: list[Person]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class PutMemberAllowance(TypedDict):
    """Own limit of the member. Null: the limit of the integration applies."""

    limit: int
    """Limit of this member, in the unit of the integration."""


class _QuestionRequired(TypedDict):
    questionId: str
    """Identifier of the question, for `answers`."""
    kind: Literal["approval", "tool"]
    """`approval`: a person must decide about the call. `tool`: only the caller can make the call."""
    callId: str
    """Id of the call."""
    agent: str
    """The agent that made the call."""
    callerAgent: str | None
    """The agent that asked it. Null if the user asked."""
    tool: str
    """Name of the tool."""
    arguments: dict[str, Any]
    """The arguments of the call. An approved call is made with exactly these, or with those of the answer."""


class Question(_QuestionRequired, total=False):
    """A call that waits for an answer of the caller."""

    editable: bool
    """True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`."""
    rememberable: bool
    """True if the answer may have `remember`. Absent if the tool of the call has no `remember`."""


class Run(TypedDict):
    """A run: one request that an agent answers."""

    runId: str
    """Identifier of the run."""
    apiIntegrationId: str
    """Identifier of the integration."""
    chatId: str
    """Identifier of the chat."""
    chatDeleted: bool
    """True if the chat was deleted; then `message` is null."""
    consumerId: str | None
    """The member that the run was started for. Null if the request named none."""
    usageRequestId: str | None
    """`usageRequestId` of the request. Null if it had none."""
    status: Literal["admitted", "running", "completed", "failed", "cancelled"]
    """State of the run. `completed`, `failed` and `cancelled` are final."""
    cancelRequested: Literal["immediate", "after_step"] | None
    """How the run was asked to stop: `immediate` stops the run now, `after_step` when its current step has finished.
    Null if it was not asked.
    """
    agent: str
    """The agent that the run was started at."""
    agencyVersion: str | None
    """Hash of the agency that the run was started with. Null if it is not known."""
    attempt: int
    """Number of the attempt; it grows when a run is resumed after a crash."""
    lastEventId: int
    """Id of the last stored event of the stream."""
    createdAt: str
    """When the run was admitted."""
    startedAt: str | None
    """When the run was started. Null if it was not started yet."""
    completedAt: str | None
    """When the run ended. Null if it has not ended."""
    error: RunListItemError | None
    """Why the run failed. Null if it did not fail."""
    continues: str | None
    """The run whose questions this one settled. Null if it settled none."""
    rerunOf: RunListItemRerunOf | None
    """The run that this one reruns. Null if it is no rerun."""
    pending: list[Question]
    """The open questions of the run. Empty if there are none, or if they were settled."""
    agents: list[str] | None
    """The agents that spoke, in order. Null after the chat was deleted."""
    models: list[str] | None
    """The models that were asked, as `provider/model`. Null after the chat was deleted."""
    waiting: bool | None
    """True if the run ended with questions that are open. Null after the chat was deleted."""
    continuedBy: str | None
    """The run that settled the questions of this one. Null if there is none."""
    messagePreview: str | None
    """The first 200 characters of the message that the run answers, with white space folded to one space. Null if
    there is none, and after the chat was deleted.
    """
    answerPreview: str | None
    """The first 200 characters of the final assistant text, with white space folded to one space. Null if there is
    none, and after the chat was deleted.
    """
    usage: Usage | None
    """Tokens that models used."""
    firstTokenMs: int | None
    """From admission to the first output by a model. In milliseconds; null if there is none, or it is not known."""
    cost: Cost | None
    """What the run cost, from its end on. Also null for client tokens. Null if the prices have no currency, or none
    of a model.
    """
    durationMs: int | None
    """Milliseconds from admission to the end. Null until the run has ended, and after the chat was deleted."""
    output: Any
    """Value of the answer if the agent has an output schema, otherwise null."""
    message: str | None
    """The final assistant text. Null until the run has ended."""


class RunComparison(TypedDict):
    """Two runs, step by step."""

    runs: list[Run]
    """The run of the path, and the run `with` which it is compared."""
    steps: list[RunComparisonStepsItem]
    """The steps of both runs, oldest first."""
    text: RunComparisonText
    """The final assistant texts."""
    usage: RunComparisonUsage
    """What the runs used. Null until they have ended."""


class RunComparisonStepsItem(TypedDict):
    """A step of each run."""

    left: Step | None
    """The step of the run of the path. Null if it has none here."""
    right: Step | None
    """The step of the other run. Null if it has none here."""
    change: Literal["equal", "changed", "added", "removed"]
    """`equal`: same kind, agent, tool and arguments. `changed`: same position and kind. `added`: only the other run
    has the step. `removed`: only the run of the path has it.
    """


class RunComparisonText(TypedDict):
    """The final assistant texts."""

    left: str | None
    """The answer of the run of the path."""
    right: str | None
    """The answer of the other run."""


class RunComparisonUsage(TypedDict):
    """What the runs used. Null until they have ended."""

    left: Usage | None
    """Tokens that models used."""
    right: Usage | None
    """Tokens that models used."""


class RunList(TypedDict):
    """A page of a list of `RunListItem`."""

    items: list[RunListItem]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class _RunListItemRequired(TypedDict):
    runId: str
    """Identifier of the run."""
    apiIntegrationId: str
    """Identifier of the integration."""
    chatId: str
    """Identifier of the chat."""
    chatDeleted: bool
    """True if the chat was deleted; then `message` is null."""
    consumerId: str | None
    """The member that the run was started for. Null if the request named none."""
    usageRequestId: str | None
    """`usageRequestId` of the request. Null if it had none."""
    status: Literal["admitted", "running", "completed", "failed", "cancelled"]
    """State of the run. `completed`, `failed` and `cancelled` are final."""
    cancelRequested: Literal["immediate", "after_step"] | None
    """How the run was asked to stop: `immediate` stops the run now, `after_step` when its current step has finished.
    Null if it was not asked.
    """
    agent: str
    """The agent that the run was started at."""
    agencyVersion: str | None
    """Hash of the agency that the run was started with. Null if it is not known."""
    attempt: int
    """Number of the attempt; it grows when a run is resumed after a crash."""
    lastEventId: int
    """Id of the last stored event of the stream."""
    createdAt: str
    """When the run was admitted."""
    startedAt: str | None
    """When the run was started. Null if it was not started yet."""
    completedAt: str | None
    """When the run ended. Null if it has not ended."""
    error: RunListItemError | None
    """Why the run failed. Null if it did not fail."""
    continues: str | None
    """The run whose questions this one settled. Null if it settled none."""
    rerunOf: RunListItemRerunOf | None
    """The run that this one reruns. Null if it is no rerun."""
    pending: list[Question]
    """The open questions of the run. Empty if there are none, or if they were settled."""
    agents: list[str] | None
    """The agents that spoke, in order. Null after the chat was deleted."""
    models: list[str] | None
    """The models that were asked, as `provider/model`. Null after the chat was deleted."""
    waiting: bool | None
    """True if the run ended with questions that are open. Null after the chat was deleted."""
    continuedBy: str | None
    """The run that settled the questions of this one. Null if there is none."""
    messagePreview: str | None
    """The first 200 characters of the message that the run answers, with white space folded to one space. Null if
    there is none, and after the chat was deleted.
    """
    answerPreview: str | None
    """The first 200 characters of the final assistant text, with white space folded to one space. Null if there is
    none, and after the chat was deleted.
    """
    usage: Usage | None
    """Tokens that models used."""
    firstTokenMs: int | None
    """From admission to the first output by a model. In milliseconds; null if there is none, or it is not known."""
    cost: Cost | None
    """What the run cost, from its end on. Also null for client tokens. Null if the prices have no currency, or none
    of a model.
    """
    durationMs: int | None
    """Milliseconds from admission to the end. Null until the run has ended, and after the chat was deleted."""


class RunListItem(_RunListItemRequired, total=False):
    """A run in a list. With `texts=false` it has neither `output` nor `message`."""

    output: Any
    """Value of the answer if the agent has an output schema, otherwise null."""
    message: str | None
    """The final assistant text. Null until the run has ended."""


class RunListItemError(TypedDict):
    """Why the run failed. Null if it did not fail."""

    code: str
    """Machine-readable code."""
    message: str
    """What was wrong and what to do, for a person."""


class RunListItemRerunOf(TypedDict):
    """The run that this one reruns. Null if it is no rerun."""

    runId: str
    """The original run."""
    afterStep: int
    """The last step of the original run that was kept; 0 if none was."""


class RunUsageRecord(TypedDict):
    """What one run used and was charged."""

    kind: Literal["run"]
    """Discriminator."""
    usageRequestId: str | None
    """`usageRequestId` of the request. Null if it had none."""
    consumerId: str | None
    """The member of the run. Null if the request named none."""
    chatId: str
    """Identifier of the chat."""
    runId: str
    """Identifier of the run."""
    agent: str
    """The agent that the run was started at."""
    status: Literal["running", "completed", "failed", "cancelled"]
    """State of the run."""
    usage: Usage
    """"""
    byModel: list[RunUsageRecordByModelItem]
    """The same tokens, by model."""
    charged: RunUsageRecordCharged | None
    """What the run was charged. Null while it runs, and if allowances were off."""
    rerun: bool
    """True if the run is a rerun. It is charged to no member."""
    periodStart: str | None
    """Start of the period in which the run counts. Null for a lifetime allowance, and if allowances were off."""
    firstTokenMs: int | None
    """From admission to the first output by a model. In milliseconds; null if there is none, or it is not known."""
    cost: Cost | None
    """What the run cost, from its end on. Null if the prices have no currency, or none of a model."""
    startedAt: str | None
    """When the run was started. Null if it was not started yet."""
    completedAt: str | None
    """When the run ended. Null if it has not ended."""


class RunUsageRecordByModelItem(TypedDict):
    """Tokens of one model."""

    model: str
    """Model, as `provider/model`."""
    input_tokens: int
    """Tokens of the prompts, cached ones included."""
    cached_tokens: int
    """Input tokens that the provider read from its cache."""
    output_tokens: int
    """Tokens of the answers, reasoning included."""


class RunUsageRecordCharged(TypedDict):
    """What the run was charged. Null while it runs, and if allowances were off."""

    unit: Literal["runs", "tokens", "credits"]
    """Unit of the amount."""
    amount: float
    """Amount that counts against the allowance."""


class SandboxFile(TypedDict):
    """An uploaded file that the agent can read with its file tools."""

    name: str
    """Uploaded filename: the final segment of `path`, without control characters."""
    path: str
    """Canonical path under /app/mnt/, as returned in `resource` by createAgencyUpload."""


class Schedule(TypedDict):
    """Runs that start by themselves. Only `cron`, `everySeconds` or `at` is not null."""

    scheduleId: str
    """The schedule's id."""
    name: str
    """Name for people."""
    cron: str | None
    """Five fields: minute, hour, day, month, weekday; or six with seconds before them, at least 10 s apart."""
    everySeconds: int | None
    """Seconds between two ticks."""
    at: str | None
    """When the only tick is due."""
    timezone: str
    """The IANA time zone in which `cron` is read."""
    request: ScheduleRequest
    """"""
    catchUp: Literal["latest", "none", "all"]
    """Which ticks run later if they passed while no node was running: only the latest, none, or all, at most 24."""
    active: bool
    """False if the schedule is paused, or its only tick has passed."""
    pausedReason: str | None
    """Why the server paused the schedule. Null if it did not."""
    nextTickAt: str | None
    """When the next tick is due. Null if there is none."""
    createdAt: str
    """When the schedule was created. `everySeconds` counts from here."""
    updatedAt: str
    """When the schedule was last changed."""


class ScheduleList(TypedDict):
    """A page of a list of `Schedule`."""

    items: list[Schedule]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class _ScheduleRequestRequired(TypedDict):
    message: str
    """The user message."""


class ScheduleRequest(_ScheduleRequestRequired, total=False):
    """What `POST /get_completion_v2` takes, without `usageRequestId`, `answers` and `history`; at most 256 KiB as
    JSON. `{{tick}}` in `message` is replaced by the tick's time. Without `chatId` each tick makes a new chat.
    """

    apiIntegrationId: str
    """Integration identifier."""
    agent: str
    """Agency entry point. When omitted, the integration's default is used."""
    chatId: str | None
    """Chat identifier. An unknown one starts a new chat with this id."""
    aliasChatId: str | None
    """Alias chat identifier. An unknown one starts a new chat with this alias."""
    attachments: list[Attachment]
    """Files and images for the model, by URL or inline."""
    sandboxFiles: list[SandboxFile]
    """Uploaded files for the tools of the agent."""
    user_context: dict[str, Any] | str | None
    """Free-form context. Tools always get it; the model gets it only if the agency asks for it."""
    consumerId: str
    """The app member. Required when member allowances are enabled."""
    clientTools: list[ClientTool]
    """Tools that you run yourself, at most 64 KiB as JSON. A call of one ends the run with a question. Allowed if
    the integration has `clientTools`.
    """
    instructions: str
    """Added to what the first agent is instructed to do, for this run only. At most 32 KiB. Allowed if the
    integration has `callerInstructions`.
    """
    attachmentUrlRefreshes: dict[str, str]
    """Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same host
    and path. It must list all earlier conversation files that need refreshing: files of which the server keeps no
    copy and whose signed links have expired.
    """


class ScheduleTick(TypedDict):
    """What happened at a tick."""

    tick: str
    """When the tick was due."""
    runId: str | None
    """The tick's run. Null if there is none."""
    code: str | None
    """Why there is no run: the refusal's code. Null if there is a run."""
    error: str | None
    """The refusal's sentence, for people."""
    at: str
    """When the server recorded this."""


class ScheduleTickList(TypedDict):
    """A page of a list of `ScheduleTick`."""

    items: list[ScheduleTick]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class ScheduledRun(TypedDict):
    """A run that was started besides the ticks."""

    runId: str
    """The run's id."""
    chatId: str
    """Its chat's id."""


class ServiceNode(TypedDict):
    """A node of this installation."""

    nodeId: str
    """Identifier of the node; a node that was fenced registers with a new one."""
    boot: str
    """Identifier of the process; every start has a new one."""
    state: Literal["alive", "draining", "dead"]
    """`draining` while it shuts down, `dead` if it has stopped or was fenced."""
    self: bool
    """True for the node that answers this request."""
    version: str
    """Version of the server."""
    host: str | None
    """Name of its machine. Null if an earlier version registered the node."""
    address: str | None
    """The address at which it listens, such as `10.0.0.11:8787`. Null while it starts, and for an earlier version."""
    startedAt: str
    """When the node was started."""
    lastSeenAt: str | None
    """When the node last sent a heartbeat. Null if it has sent none."""
    activeRuns: int
    """Number of its unfinished runs."""
    stats: ServiceNodeStats | None
    """Figures of the node at its last heartbeat. Null before its second heartbeat, and for an earlier version."""


class ServiceNodeList(TypedDict):
    """A page of a list of `ServiceNode`."""

    items: list[ServiceNode]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class ServiceNodeStats(TypedDict):
    """Figures of the node at its last heartbeat. Null before its second heartbeat, and for an earlier version."""

    openStreams: int
    """Number of open streams of runs."""
    admissions: ServiceNodeStatsAdmissions
    """Completion requests since the process was started."""
    eventLagMs: int
    """Longest time from an event until it was stored, within the last 10 to 20 s. Readers do not wait for this."""
    writerQueue: int
    """Number of transactions that wait for the writer."""


class ServiceNodeStatsAdmissions(TypedDict):
    """Completion requests since the process was started."""

    admitted: int
    """Requests that started a run."""
    replayed: int
    """Requests that were answered with the run of an earlier request."""
    refused: dict[str, int]
    """Refused requests by the `code` of the error. Codes without requests are left out."""


class Step(TypedDict):
    """A step of a run: it has finished, failed, was cut, or waits for an answer."""

    step: int
    """Number of the step within the run."""
    attempt: int
    """Number of the attempt; it grows when a run is resumed after a crash."""
    kind: Literal["model", "tool", "guardrail", "summary"]
    """An answer of the model, a call of a tool, a check of the user's message by guardrails, or a summary that a
    model wrote of the oldest turns.
    """
    agent: str
    """The agent of the step."""
    callerAgent: str | None
    """The agent that asked it. Null if the user asked."""
    model: str | None
    """Model of the step, as `provider/model`. Null for other steps."""
    tool: str | None
    """Name of the tool. Null for other steps."""
    callId: str | None
    """Id of the tool call. Null for other steps."""
    loop: str | None
    """Id of the `send_message` call that began the delegation. Null outside of one."""
    files: list[ChangedFile]
    """The files that the call changed, together with the step."""
    attachments: list[ToolAttachment]
    """The images that the call returned."""
    arguments: dict[str, Any] | None
    """The arguments with which the call was made, if a person or a guardrail changed them. Null for all other calls
    and for a model.
    """
    shownArguments: dict[str, Any] | None
    """What the model wrote instead of `arguments`. Null if these are null."""
    stateChanges: StepStateChanges | None
    """How the call changed the state of the chat, together with the step. Null if it did not, and for client tokens."""
    guardrails: list[GuardrailDecision]
    """What guardrails decided about the step, in the order in which they were asked."""
    hidden: list[HiddenPart]
    """The tools and flows that the model did not see, because `isEnabled` was false. Empty if it saw all."""
    summary: StepSummary | None
    """The summary. Null for other steps, and for client tokens."""
    handoff: str | None
    """The agent to which the call handed over. Null if it did not."""
    status: Literal["completed", "failed", "cancelled", "waiting"]
    """End of the step. `cancelled`: the run was cancelled during the call. `waiting`: the run ended with a question
    about the call; `answeredBy` tells whether it was answered.
    """
    firstEventId: int
    """Id of the first event of the step."""
    lastEventId: int
    """Id of the last event of the step."""
    usage: Usage | None
    """Tokens that models used."""
    firstTokenMs: int | None
    """From the start of a model step to its first output. In milliseconds; null if there is none, or it is not
    known.
    """
    cost: Cost | None
    """What the model step cost. Also null for tools, and for client tokens. Null if the prices have no currency, or
    none of a model.
    """
    error: RunListItemError | None
    """Why the step failed or was cut. Null otherwise."""
    tries: int
    """How often models were asked for the step. 1 for a tool."""
    answeredBy: StepAnsweredBy | None
    """Who answered the question about the call. Null if it asked nothing or has no answer."""
    continuedBy: str | None
    """The run that continued with the answer. Null if there is no answer."""
    startedAt: str
    """When the step was started."""
    completedAt: str
    """When the step ended. If the call waited: when it asked, and after the answer when it was answered."""


class StepAnsweredBy(TypedDict):
    """Who answered the question about the call. Null if it asked nothing or has no answer."""

    kind: Literal["person", "key", "client_token"]
    """Who answered."""
    id: str | None
    """Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`."""
    name: str | None
    """Name of the person or key. Null if there is none."""
    at: str
    """When the answer arrived."""


class StepList(TypedDict):
    """A page of a list of `Step`."""

    items: list[Step]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class StepPrompt(TypedDict):
    """What a model was sent in a step."""

    instructions: str | None
    """The instructions. Null if a function of the agency made them, or if they are not known."""
    messages: list[dict[str, Any]]
    """What the model was shown of the chat and of the run, in order. Empty if it is not known."""
    tools: list[StepPromptToolsItem]
    """The tools that the model could call, without tools of MCP servers."""
    settings: dict[str, Any]
    """The settings of the agent, with `reasoning`, `webSearch` and the schema `output` if it has them."""
    model: str | None
    """The model that was asked, as `provider/model`."""
    agencyVersion: str | None
    """Hash of the agency that the run was started with. Null if it is not known."""
    exact: bool
    """True if the version of the agency is loaded and the prompt has the size that was sent."""


class StepPromptToolsItem(TypedDict):
    """A part of an answer."""

    name: str
    """Name of the tool."""
    description: str
    """What the model reads about the tool."""
    inputSchema: dict[str, Any]
    """JSON Schema of the arguments."""


class StepStateChanges(TypedDict):
    """How the call changed the state of the chat, together with the step. Null if it did not, and for client tokens."""

    set: dict[str, Any]
    """The new values by their keys."""
    removed: list[str]
    """The keys that the call removed."""


class StepSummary(TypedDict):
    """The summary. Null for other steps, and for client tokens."""

    turns: int
    """How many of the oldest turns it replaces in prompts."""
    text: str
    """What the model wrote."""


class ToolAttachment(TypedDict):
    """An image that a tool returned."""

    attachmentId: str
    """Identifier of the attachment within its run."""
    mediaType: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    """Media type, detected from the bytes."""
    size: int
    """Size in bytes."""


class _ToolHistoryItemRequired(TypedDict):
    role: Literal["tool"]
    """Discriminator."""
    callId: str
    """Names the call. Its output has the same id."""
    output: str
    """What the tool returned."""


class ToolHistoryItem(_ToolHistoryItemRequired, total=False):
    """What a call returned."""

    failed: bool
    """True if the call failed."""


class _UpdateChatApprovalsItemRequired(TypedDict):
    tool: str
    """Name of the tool."""


class UpdateChatApprovalsItem(_UpdateChatApprovalsItemRequired, total=False):
    """A part of an answer."""

    by: dict[str, Any]
    """As it was read. It cannot be changed."""
    at: str
    """As it was read. It cannot be changed."""


class Usage(TypedDict):
    """Tokens that models used."""

    request_count: int
    """Number of model calls."""
    input_tokens: int
    """Tokens of the prompts, cached ones included."""
    cached_tokens: int
    """Input tokens that the provider read from its cache."""
    output_tokens: int
    """Tokens of the answers, reasoning included."""
    reasoning_tokens: int
    """Output tokens that the model used for reasoning."""
    total_tokens: int
    """`input_tokens` + `output_tokens`."""


class UsageRecordList(TypedDict):
    """A page of a list of `UsageRecord`."""

    items: list[UsageRecord]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


UsageSummary = TypedDict(
    "UsageSummary",
    {
        "groupBy": "Literal[\"hour\", \"day\", \"consumer\", \"agent\", \"model\"]",
        "from": "str | None",
        "to": "str | None",
        "items": "list[UsageSummaryItemsItem]",
        "nextCursor": "str | None",
    },
)
"""Usage, added up by hour, day, member, agent or model."""


class _UsageSummaryItemsItemRequired(TypedDict):
    key: str | None
    """The hour (when it begins), day (`2030-01-31`), member, agent or model. Null: the runs that name no member."""
    runs: int
    """Number of runs."""
    failed: int
    """Number of runs that failed."""
    cancelled: int
    """Number of runs that were cancelled."""
    cost: Cost | None
    """What the ended runs cost. Also null if one of them has no cost, or another currency. Null if the prices have
    no currency, or none of a model.
    """
    durationMs: UsageSummaryItemsItemDurationMs | None
    """From admission to the end, within 10 %. Null if no run has ended."""
    firstTokenMs: UsageSummaryItemsItemDurationMs | None
    """From admission to the first output, within 10 %. Null if no ended run has one."""
    usage: Usage
    """"""
    charged: UsageSummaryItemsItemCharged
    """What the ended runs count for in each unit."""


class UsageSummaryItemsItem(_UsageSummaryItemsItemRequired, total=False):
    """The usage of one group."""

    split: str | None
    """Only with `splitBy`: one of the ten values with the most tokens in the whole period: members, agents, models,
    error codes or hashes of agencies. Null: all others, and the runs that have none.
    """


class UsageSummaryItemsItemCharged(TypedDict):
    """What the ended runs count for in each unit."""

    runs: int
    """Charge in runs."""
    tokens: int
    """Charge in tokens."""
    credits: int
    """Charge in credits."""


class UsageSummaryItemsItemDurationMs(TypedDict):
    """From admission to the end, within 10 %. Null if no run has ended."""

    p50: int
    """The median: half the runs took at most this time, in milliseconds."""
    p95: int
    """The 95th percentile in milliseconds."""


class _UserHistoryItemRequired(TypedDict):
    role: Literal["user"]
    """Discriminator."""
    content: str
    """What the user wrote."""


class UserHistoryItem(_UserHistoryItemRequired, total=False):
    """A message from the user. It begins a turn."""

    attachments: list[Attachment]
    """Attachments, at most 20 in all items together."""


class WebhookAgencyEvent(TypedDict):
    """An edit or a start broke the integration's agency. Sent once for each agency and fault."""

    type: Literal["agency.broken"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookAgencyEventData
    """What the event is about."""


class WebhookAgencyEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    agency: str
    """The agency's name."""
    error: WebhookAgencyEventDataError
    """What is wrong with the agency."""


class WebhookAgencyEventDataError(TypedDict):
    """What is wrong with the agency."""

    message: str
    """The first fault, in one line."""
    faults: list[WebhookAgencyEventDataErrorFaultsItem]
    """At most ten faults."""


class WebhookAgencyEventDataErrorFaultsItem(TypedDict):
    """A fault."""

    file: str
    """The file, by its path from the agency's folder."""
    line: int | None
    """The line, from 1. Null if the fault is not in a text."""
    column: int | None
    """The column, from 1. Null if the fault is not in a text."""
    message: str
    """What is wrong, and what to write."""


class WebhookAllowanceEvent(TypedDict):
    """A member has used up its allowance. Sent once for each member and period."""

    type: Literal["member.allowance_exhausted"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookAllowanceEventData
    """What the event is about."""


class WebhookAllowanceEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    consumerId: str
    """The member."""
    allowance: Allowance
    """"""


class WebhookDelivery(TypedDict):
    """An event on its way to an endpoint."""

    deliveryId: str
    """The delivery's identifier."""
    eventId: str
    """The event's identifier: the header `webhook-id` in every attempt."""
    type: Literal["run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]
    """The event's type."""
    runId: str | None
    """The run that the event is about. Null if it is not about a run."""
    status: Literal["pending", "delivered", "failed", "skipped"]
    """`pending` until an attempt succeeds. `failed` after the last attempt, `skipped` if the endpoint was paused or
    disabled.
    """
    attempts: int
    """Attempts so far."""
    nextAttemptAt: str | None
    """When the next attempt is due. Null if there is none."""
    lastStatus: int | None
    """HTTP status that was answered last. Null if there was none."""
    lastError: str | None
    """Why the last attempt failed. Null if it did not fail."""
    createdAt: str
    """When the delivery was made."""
    deliveredAt: str | None
    """When an attempt succeeded. Null if none did."""


class WebhookDeliveryList(TypedDict):
    """A page of a list of `WebhookDelivery`."""

    items: list[WebhookDelivery]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class WebhookDeliveryWithBody(TypedDict):
    """A delivery with what is posted and what was answered."""

    deliveryId: str
    """The delivery's identifier."""
    eventId: str
    """The event's identifier: the header `webhook-id` in every attempt."""
    type: Literal["run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]
    """The event's type."""
    runId: str | None
    """The run that the event is about. Null if it is not about a run."""
    status: Literal["pending", "delivered", "failed", "skipped"]
    """`pending` until an attempt succeeds. `failed` after the last attempt, `skipped` if the endpoint was paused or
    disabled.
    """
    attempts: int
    """Attempts so far."""
    nextAttemptAt: str | None
    """When the next attempt is due. Null if there is none."""
    lastStatus: int | None
    """HTTP status that was answered last. Null if there was none."""
    lastError: str | None
    """Why the last attempt failed. Null if it did not fail."""
    createdAt: str
    """When the delivery was made."""
    deliveredAt: str | None
    """When an attempt succeeded. Null if none did."""
    body: str
    """What is posted, the same in every attempt."""
    answer: str | None
    """The first 256 bytes that were answered last. Null if there was none."""


class WebhookEndpoint(TypedDict):
    """An address that an integration's events are posted to."""

    endpointId: str
    """The endpoint's identifier."""
    url: str | None
    """Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is
    posted, and deliveries are `skipped`.
    """
    events: list[Literal["*", "run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]]
    """The event types that are sent. The default is `["*"]`, all."""
    description: str | None
    """Note for people."""
    active: bool
    """True if events are sent. False if the endpoint was paused or disabled."""
    disabledReason: Literal["gone", "failing"] | None
    """Why the server disabled the endpoint: `gone` if it answered 410, `failing` after 72 hours with failures alone.
    Null if the server did not disable it.
    """
    failingSince: str | None
    """Since when every attempt has failed. Null if the last one succeeded."""
    createdAt: str
    """When the endpoint was made."""
    updatedAt: str
    """When the endpoint was last changed."""


class WebhookEndpointList(TypedDict):
    """A page of a list of `WebhookEndpoint`."""

    items: list[WebhookEndpoint]
    """The items of this page, in order."""
    nextCursor: str | None
    """Send it as `cursor` to read the next page. Null on the last page."""


class WebhookEndpointWithSecret(TypedDict):
    """An endpoint with its new secret."""

    endpointId: str
    """The endpoint's identifier."""
    url: str | None
    """Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is
    posted, and deliveries are `skipped`.
    """
    events: list[Literal["*", "run.completed", "run.failed", "run.cancelled", "run.asked", "member.allowance_exhausted", "upload.completed", "agency.broken", "schedule.paused", "webhook.test"]]
    """The event types that are sent. The default is `["*"]`, all."""
    description: str | None
    """Note for people."""
    active: bool
    """True if events are sent. False if the endpoint was paused or disabled."""
    disabledReason: Literal["gone", "failing"] | None
    """Why the server disabled the endpoint: `gone` if it answered 410, `failing` after 72 hours with failures alone.
    Null if the server did not disable it.
    """
    failingSince: str | None
    """Since when every attempt has failed. Null if the last one succeeded."""
    createdAt: str
    """When the endpoint was made."""
    updatedAt: str
    """When the endpoint was last changed."""
    secret: str
    """The secret that signs what is posted, `whsec_…`. It is shown only in this answer."""


class WebhookReplay(TypedDict):
    """What a replay made."""

    deliveries: int
    """How many deliveries were made."""


class WebhookRunEvent(TypedDict):
    """A run ended. `run.asked` is sent besides `run.completed` if the run ended with open questions."""

    type: Literal["run.completed", "run.failed", "run.cancelled", "run.asked"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookRunEventData
    """What the event is about."""


class WebhookRunEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    runId: str
    """The run's identifier."""
    chatId: str
    """The chat's identifier."""
    chatDeleted: bool
    """True if the chat was deleted."""
    consumerId: str | None
    """The member that the run was started for. Null if the request named none."""
    usageRequestId: str | None
    """The request's `usageRequestId`. Null if it had none."""
    status: Literal["admitted", "running", "completed", "failed", "cancelled"]
    """How the run ended."""
    cancelRequested: Literal["immediate", "after_step"] | None
    """How the run was asked to stop. Null if it was not asked."""
    agent: str
    """The agent that the run was started at."""
    agencyVersion: str | None
    """The agency's hash when the run was started. Null if it is not known."""
    attempt: int
    """The attempt that ended the run."""
    lastEventId: int
    """The last event's id in the stream."""
    createdAt: str
    """When the run was admitted."""
    startedAt: str | None
    """When the run was started. Null if it was not started."""
    completedAt: str
    """When the run ended."""
    firstTokenMs: int | None
    """From the run's admission to a model's first output. In milliseconds; null if there is none, or it is not
    known.
    """
    cost: Cost | None
    """What the run cost. Null if the prices have no currency, or none of a model."""
    error: RunListItemError | None
    """Why the run failed. Null if it did not fail."""
    continues: str | None
    """The run whose questions this one settled. Null if it settled none."""
    rerunOf: RunListItemRerunOf | None
    """The run that this one reruns. Null if it is no rerun."""
    pending: list[WebhookRunEventDataPendingItem]
    """The run's open questions."""
    usage: Usage
    """"""
    charged: RunUsageRecordCharged | None
    """What the run was charged. Null while it runs, and if allowances were off."""
    byModel: list[RunUsageRecordByModelItem]
    """The same tokens, by model."""


class WebhookRunEventDataPendingItem(TypedDict):
    """An open question, without its call's arguments."""

    questionId: str
    """The question's identifier, for `answers`."""
    kind: Literal["approval", "tool"]
    """Who must act."""
    callId: str
    """The call's id."""
    agent: str
    """The agent that made the call."""
    callerAgent: str | None
    """The agent that asked it. Null if the user asked."""
    tool: str
    """The tool's name."""


class WebhookScheduleEvent(TypedDict):
    """The server paused a schedule."""

    type: Literal["schedule.paused"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookScheduleEventData
    """What the event is about."""


class WebhookScheduleEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    scheduleId: str
    """The schedule's identifier."""
    pausedReason: str
    """Why it was paused."""


class WebhookTestEvent(TypedDict):
    """Sent on request, to try an endpoint."""

    type: Literal["webhook.test"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookTestEventData
    """What the event is about."""


class WebhookTestEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    endpointId: str
    """The endpoint's identifier."""


class WebhookUploadEvent(TypedDict):
    """An upload was published as a file."""

    type: Literal["upload.completed"]
    """The event's type."""
    timestamp: str
    """When the event happened."""
    data: WebhookUploadEventData
    """What the event is about."""


class WebhookUploadEventData(TypedDict):
    """What the event is about."""

    apiIntegrationId: str
    """The integration's identifier."""
    path: str
    """The file's path."""
    size: int
    """Size in bytes."""
    contentType: str
    """The file's media type."""


HistoryItem = UserHistoryItem | AssistantHistoryItem | ToolHistoryItem
"""A part from an earlier conversation, discriminated by `role`."""


Attachment = FileAttachment | ImageAttachment
"""A file or an image of a message, discriminated by `type`."""


ChatState = dict[str, Any]
"""What tools keep in a chat: values by their keys, at most 64 KiB as JSON. In a change, null removes a member."""


UsageRecord = RunUsageRecord | Adjustment
"""The usage of a run or a correction, discriminated by `kind`."""


WebhookEvent = WebhookRunEvent | WebhookAllowanceEvent | WebhookUploadEvent | WebhookAgencyEvent | WebhookScheduleEvent | WebhookTestEvent
"""What is posted to an endpoint, discriminated by `type`."""
