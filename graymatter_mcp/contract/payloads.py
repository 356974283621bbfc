"""Types of what the tools take and answer.

Made from the schema files by `python -m graymatter_mcp.contract`; do not edit.
"""

# Without postponed evaluation, which would hide from readers at run time which keys are required.
from typing import Any, Final, Literal, NotRequired, TypedDict


class MemorySearchInput(TypedDict):
    """Arguments of memory_search."""

    agent_id: str
    query: str
    top_k: NotRequired[float]
    explain: NotRequired[bool]
    min_confidence: NotRequired[Literal["verified", "inferred", "unverified"]]
    confidence_weight: NotRequired[float]


class Retrieval(TypedDict):
    """Part retrieval."""

    min_confidence: NotRequired[str | None]
    confidence_weight: float
    policy: str
    kg: str


class Ranks(TypedDict):
    """Part ranks."""

    vector_rank: int
    keyword_rank: int
    recency_rank: int
    fused_score: float
    k: float


class Provenance(TypedDict):
    """Part provenance."""

    fact_id: str
    written_at: str
    superseded_by: NotRequired[str]
    confidence: NotRequired[str]
    pinned: NotRequired[bool]
    supersedes: NotRequired[list[str] | None]


class Ranking(TypedDict):
    """Part ranking."""

    base_score: float
    final_score: float
    factor: float
    effective_confidence: str
    confidence_weight: float
    policy: str


class Explained(TypedDict):
    """Part explained."""

    text: str
    weight: float
    age_days: float
    ranks: Ranks
    provenance: Provenance
    kg_links: NotRequired[list[str] | None]
    ranking: NotRequired[Ranking | None]


class MemorySearchOutput(TypedDict):
    """Result of memory_search."""

    retrieval: NotRequired[Retrieval | None]
    agent_id: str
    query: str
    count: int
    facts: list[str] | None
    feedback: NotRequired[str]
    explained: NotRequired[list[Explained] | None]


class MemorySearchBatchInput(TypedDict):
    """Arguments of memory_search_batch."""

    agent_id: str
    queries: list[str]
    top_k: NotRequired[float]
    min_confidence: NotRequired[Literal["verified", "inferred", "unverified"]]
    confidence_weight: NotRequired[float]


class PerQuery(TypedDict):
    """Part per_query."""

    query: str
    facts: list[str] | None
    error: NotRequired[str]


class MemorySearchBatchOutput(TypedDict):
    """Result of memory_search_batch."""

    retrieval: NotRequired[Retrieval | None]
    agent_id: str
    count: int
    merged: list[str] | None
    per_query: list[PerQuery] | None


class MemoryAddInput(TypedDict):
    """Arguments of memory_add."""

    agent_id: str
    text: str
    confidence: NotRequired[Literal["verified", "inferred", "unverified"]]


class MemoryAddOutput(TypedDict):
    """Result of memory_add."""

    agent_id: str
    stored: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


class MemoryAliasInput(TypedDict):
    """Arguments of memory_alias."""

    agent_id: str
    term: str
    equivalents: list[str]


class MemoryAliasOutput(TypedDict):
    """Result of memory_alias."""

    agent_id: str
    term: str
    equivalents: list[str] | None
    stored: bool


class CheckpointSaveInput(TypedDict):
    """Arguments of checkpoint_save."""

    agent_id: str
    state: NotRequired[str]


class CheckpointSaveOutput(TypedDict):
    """Result of checkpoint_save."""

    agent_id: str
    checkpoint_id: str
    created_at: str


class CheckpointResumeInput(TypedDict):
    """Arguments of checkpoint_resume."""

    agent_id: str
    on_missing: NotRequired[Literal["error", "empty"]]


class CheckpointResumeOutput1(TypedDict):
    """Result of checkpoint_resume."""

    id: str
    created_at: str
    state: NotRequired[dict[str, Any]]
    message_count: NotRequired[int]


class CheckpointResumeOutput2(TypedDict):
    """Result of checkpoint_resume."""

    found: Literal[False]
    agent_id: str


class MemoryReflectInput(TypedDict):
    """Arguments of memory_reflect."""

    action: Literal["add", "update", "forget", "link", "pin", "unpin"]
    agent_id: NotRequired[str]
    agent: NotRequired[str]
    text: NotRequired[str]
    target: NotRequired[str]
    confidence: NotRequired[Literal["verified", "inferred", "unverified"]]


class MemoryReflectOutput(TypedDict):
    """Result of memory_reflect."""

    action: str
    agent: str
    ok: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


class Weights(TypedDict):
    """Part weights."""

    keyword: NotRequired[float]
    vector: NotRequired[float]
    graph: NotRequired[float]
    entity: NotRequired[float]
    recency: NotRequired[float]


class MemoryContextInput(TypedDict):
    """Arguments of memory_context."""

    message: str
    k: NotRequired[int]
    namespace: NotRequired[str]
    includeNamespaces: NotRequired[list[str]]
    project: NotRequired[str]
    includeProjects: NotRequired[list[str]]
    weights: NotRequired[Weights]
    agentName: NotRequired[str]
    maxSensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    contentMode: NotRequired[Literal["full", "snippet", "ids"]]
    asOf: NotRequired[str]
    minVectorScore: NotRequired[float]
    abstainBelow: NotRequired[float]
    maxTokens: NotRequired[int]
    maxBytes: NotRequired[int]


class Signals(TypedDict):
    """Part signals."""

    keyword: float
    vector: float
    graph: float
    recency: float
    entity: float


class Results(TypedDict):
    """Part results."""

    id: str
    score: float
    content: NotRequired[str]
    tier: Literal["warm", "cold"]
    namespace: str
    project: str | None
    source: str
    metadata: NotRequired[dict[str, Any]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    agentName: NotRequired[str]
    confidence: NotRequired[float]
    createdAt: str
    updatedAt: str
    truncated: NotRequired[Literal[True]]
    signals: Signals


class Relevant(TypedDict):
    """Part relevant."""

    results: list[Results]
    degraded: bool
    abstained: bool


class RecentResults(TypedDict):
    """Part results."""

    id: str
    score: float
    content: NotRequired[str]
    tier: Literal["warm", "cold"]
    namespace: str
    project: str | None
    source: str
    metadata: NotRequired[dict[str, Any]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    agentName: NotRequired[str]
    confidence: NotRequired[float]
    createdAt: str
    updatedAt: str
    truncated: NotRequired[Literal[True]]


class Recent(TypedDict):
    """Part recent."""

    results: list[RecentResults]


class UserGlobal(TypedDict):
    """Part userGlobal."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class ProjectScoped(TypedDict):
    """Part projectScoped."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class UserPreferences(TypedDict):
    """Part userPreferences."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class CurrentSetup(TypedDict):
    """Part currentSetup."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class ProjectConventions(TypedDict):
    """Part projectConventions."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class Decisions(TypedDict):
    """Part decisions."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class BugRootCauses(TypedDict):
    """Part bugRootCauses."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class DeploymentState(TypedDict):
    """Part deploymentState."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class SafetyConstraints(TypedDict):
    """Part safetyConstraints."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class Pitfalls(TypedDict):
    """Part pitfalls."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class RecentDecisions(TypedDict):
    """Part recentDecisions."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class All(TypedDict):
    """Part all."""

    id: str
    content: NotRequired[str]
    namespace: str
    project: str | None
    memoryType: str | None
    createdAt: str


class ContextPack(TypedDict):
    """Part contextPack."""

    userGlobal: list[UserGlobal]
    projectScoped: list[ProjectScoped]
    userPreferences: list[UserPreferences]
    currentSetup: list[CurrentSetup]
    projectConventions: list[ProjectConventions]
    decisions: list[Decisions]
    bugRootCauses: list[BugRootCauses]
    deploymentState: list[DeploymentState]
    safetyConstraints: list[SafetyConstraints]
    pitfalls: list[Pitfalls]
    recentDecisions: list[RecentDecisions]
    all: list[All]


class MemoryContextOutput(TypedDict):
    """Result of memory_context."""

    relevant: Relevant
    recent: Recent
    contextPack: ContextPack
    guidance: str
    omitted: NotRequired[list[str]]


class MemoryHybridSearchInput(TypedDict):
    """Arguments of memory_hybrid_search."""

    query: str
    k: NotRequired[int]
    namespace: NotRequired[str]
    includeNamespaces: NotRequired[list[str]]
    project: NotRequired[str]
    includeProjects: NotRequired[list[str]]
    weights: NotRequired[Weights]
    agentName: NotRequired[str]
    maxSensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    contentMode: NotRequired[Literal["full", "snippet", "ids"]]
    asOf: NotRequired[str]
    minVectorScore: NotRequired[float]
    abstainBelow: NotRequired[float]
    maxTokens: NotRequired[int]
    maxBytes: NotRequired[int]


class MemoryHybridSearchOutput(TypedDict):
    """Result of memory_hybrid_search."""

    results: list[Results]
    degraded: bool
    abstained: bool
    omitted: NotRequired[list[str]]


class MemoryCaptureInput(TypedDict):
    """Arguments of memory_capture."""

    content: str
    namespace: NotRequired[str]
    source: NotRequired[str]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    confidence: NotRequired[float]
    agentName: NotRequired[str]
    project: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    sensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    force: NotRequired[bool]
    expiresAt: NotRequired[str]
    sourceRefs: NotRequired[list[str]]


class MemoryCaptureOutput(TypedDict):
    """Result of memory_capture."""

    id: str | None
    rejected: NotRequired[str]
    deduplicated: NotRequired[Literal[True]]
    updated: NotRequired[Literal[True]]
    superseded: NotRequired[list[str]]
    embedded: NotRequired[bool]


class MemorySessionRecapInput(TypedDict):
    """Arguments of memory_session_recap."""

    decisions: NotRequired[list[str]]
    setupFacts: NotRequired[list[str]]
    rootCauses: NotRequired[list[str]]
    preferences: NotRequired[list[str]]
    projectConventions: NotRequired[list[str]]
    safetyConstraints: NotRequired[list[str]]
    other: NotRequired[list[str]]
    namespace: NotRequired[str]
    source: NotRequired[str]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    confidence: NotRequired[float]
    agentName: NotRequired[str]
    project: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    sensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    force: NotRequired[bool]
    expiresAt: NotRequired[str]
    sourceRefs: NotRequired[list[str]]


class MemorySessionRecapOutputResults(TypedDict):
    """Part results."""

    id: str | None
    rejected: NotRequired[str]
    deduplicated: NotRequired[Literal[True]]
    updated: NotRequired[Literal[True]]
    superseded: NotRequired[list[str]]
    embedded: NotRequired[bool]


class MemorySessionRecapOutput(TypedDict):
    """Result of memory_session_recap."""

    saved: int
    results: list[MemorySessionRecapOutputResults]


class MemoryRememberInput(TypedDict):
    """Arguments of memory_remember."""

    content: str
    namespace: NotRequired[str]
    source: NotRequired[str]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    confidence: NotRequired[float]
    agentName: NotRequired[str]
    project: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    sensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    force: NotRequired[bool]
    expiresAt: NotRequired[str]
    sourceRefs: NotRequired[list[str]]


class MemoryRememberOutput(TypedDict):
    """Result of memory_remember."""

    id: str | None
    rejected: NotRequired[str]
    deduplicated: NotRequired[Literal[True]]
    updated: NotRequired[Literal[True]]
    superseded: NotRequired[list[str]]
    embedded: NotRequired[bool]


class MemoryRecentInput(TypedDict):
    """Arguments of memory_recent."""

    k: NotRequired[int]
    namespace: NotRequired[str]
    includeNamespaces: NotRequired[list[str]]
    since: NotRequired[str]
    project: NotRequired[str]
    includeProjects: NotRequired[list[str]]
    agentName: NotRequired[str]
    maxSensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    contentMode: NotRequired[Literal["full", "snippet", "ids"]]
    asOf: NotRequired[str]
    ids: NotRequired[list[str]]
    maxBytes: NotRequired[int]


class MemoryRecentOutputResults(TypedDict):
    """Part results."""

    id: str
    score: float
    content: NotRequired[str]
    tier: Literal["warm", "cold"]
    namespace: str
    project: str | None
    source: str
    metadata: NotRequired[dict[str, Any]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    agentName: NotRequired[str]
    confidence: NotRequired[float]
    createdAt: str
    updatedAt: str
    truncated: NotRequired[Literal[True]]


class MemoryRecentOutput(TypedDict):
    """Result of memory_recent."""

    results: list[MemoryRecentOutputResults]
    omitted: NotRequired[list[str]]


class MemoryTodayInput(TypedDict):
    """Arguments of memory_today."""

    k: NotRequired[int]
    namespace: NotRequired[str]
    includeNamespaces: NotRequired[list[str]]
    project: NotRequired[str]
    includeProjects: NotRequired[list[str]]
    agentName: NotRequired[str]
    maxSensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    contentMode: NotRequired[Literal["full", "snippet", "ids"]]
    maxBytes: NotRequired[int]


class MemoryTodayOutputResults(TypedDict):
    """Part results."""

    id: str
    score: float
    content: NotRequired[str]
    tier: Literal["warm", "cold"]
    namespace: str
    project: str | None
    source: str
    metadata: NotRequired[dict[str, Any]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    agentName: NotRequired[str]
    confidence: NotRequired[float]
    createdAt: str
    updatedAt: str
    truncated: NotRequired[Literal[True]]


class MemoryTodayOutput(TypedDict):
    """Result of memory_today."""

    results: list[MemoryTodayOutputResults]
    omitted: NotRequired[list[str]]


class MemoryNeighborsInput(TypedDict):
    """Arguments of memory_neighbors."""

    id: str
    depth: NotRequired[Literal[1, 2, 3]]
    k: NotRequired[int]
    project: NotRequired[str]
    includeProjects: NotRequired[list[str]]
    includeNamespaces: NotRequired[list[str]]
    maxSensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    asOf: NotRequired[str]
    maxBytes: NotRequired[int]


class MemoryNeighborsOutputResultsSignals(TypedDict):
    """Part signals."""

    graph: float


class MemoryNeighborsOutputResults(TypedDict):
    """Part results."""

    id: str
    score: float
    content: NotRequired[str]
    tier: Literal["warm", "cold"]
    namespace: str
    project: str | None
    source: str
    metadata: NotRequired[dict[str, Any]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    agentName: NotRequired[str]
    confidence: NotRequired[float]
    createdAt: str
    updatedAt: str
    truncated: NotRequired[Literal[True]]
    signals: MemoryNeighborsOutputResultsSignals


class MemoryNeighborsOutput(TypedDict):
    """Result of memory_neighbors."""

    results: list[MemoryNeighborsOutputResults]
    degraded: bool
    omitted: NotRequired[list[str]]


class MemoryForgetInput(TypedDict):
    """Arguments of memory_forget."""

    id: NotRequired[str]
    sourceRef: NotRequired[str]
    project: NotRequired[str]


class MemoryForgetOutput1(TypedDict):
    """Result of memory_forget."""

    deleted: bool
    coldDeleteOk: bool


class MemoryForgetOutput2(TypedDict):
    """Result of memory_forget."""

    sourceRef: str
    ids: list[str]
    count: int
    coldDeleteOk: bool


class MemoryUpdateInput(TypedDict):
    """Arguments of memory_update."""

    id: str
    content: NotRequired[str]
    namespace: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    sensitivity: NotRequired[Literal["public", "internal", "private", "sensitive"]]
    sourceType: NotRequired[str]
    capturedFrom: NotRequired[str]
    confidence: NotRequired[float]
    expiresAt: NotRequired[str]
    project: NotRequired[str]


class MemoryUpdateOutput(TypedDict):
    """Result of memory_update."""

    id: str
    updated: Literal[True]
    embeddingChanged: bool


class MemoryStatsInput(TypedDict):
    """Arguments of memory_stats."""


class ByNamespace(TypedDict):
    """Part byNamespace."""

    warm: int
    cold: int


class MemoryStatsOutput(TypedDict):
    """Result of memory_stats."""

    byNamespace: dict[str, ByNamespace]
    totalWarm: int
    totalCold: int
    totalInactive: int
    pendingVectors: int
    lastDecayAt: str | None
    uptimeMs: int


class MemoryHygieneInput(TypedDict):
    """Arguments of memory_hygiene."""

    k: NotRequired[int]


class Summary(TypedDict):
    """Part summary."""

    scanned: int
    lowValue: int
    stale: int
    duplicateClusters: int
    contradictionCandidates: int
    orphanCandidates: int


class LowValue(TypedDict):
    """Part lowValue."""

    id: str
    content: str
    reason: Literal["low_worthiness"]


class Stale(TypedDict):
    """Part stale."""

    id: str
    reason: Literal["current_state_review", "copy_of_superseded"]
    of: NotRequired[str]


class DuplicateClusters(TypedDict):
    """Part duplicateClusters."""

    ids: list[str]
    reason: Literal["high_token_overlap"]


class ContradictionCandidates(TypedDict):
    """Part contradictionCandidates."""

    ids: list[str]
    reason: Literal["comparable_scalar_conflict", "polarity_conflict"]


class OrphanCandidates(TypedDict):
    """Part orphanCandidates."""

    id: str
    reason: Literal["warm_without_cold_vector"]


class MemoryHygieneOutput(TypedDict):
    """Result of memory_hygiene."""

    summary: Summary
    lowValue: list[LowValue]
    stale: list[Stale]
    duplicateClusters: list[DuplicateClusters]
    contradictionCandidates: list[ContradictionCandidates]
    orphanCandidates: list[OrphanCandidates]


class MemoryEvaluateInput(TypedDict):
    """Arguments of memory_evaluate."""

    suite: NotRequired[str]


class MemoryEvaluateOutputSummary(TypedDict):
    """Part summary."""

    total: int
    passed: int
    failed: int


class Cases(TypedDict):
    """Part cases."""

    name: str
    passed: bool
    skipped: NotRequired[Literal[True]]
    detail: NotRequired[str]


class Checks(TypedDict):
    """Part checks."""

    name: str
    passed: bool
    skipped: NotRequired[Literal[True]]
    detail: NotRequired[str]


class Hygiene(TypedDict):
    """Part hygiene."""

    summary: Summary
    lowValue: list[LowValue]
    stale: list[Stale]
    duplicateClusters: list[DuplicateClusters]
    contradictionCandidates: list[ContradictionCandidates]
    orphanCandidates: list[OrphanCandidates]


class MemoryEvaluateOutput(TypedDict):
    """Result of memory_evaluate."""

    suite: str
    passed: bool
    summary: MemoryEvaluateOutputSummary
    cases: list[Cases]
    checks: list[Checks]
    hygiene: Hygiene


class MemoryAdoptionInput(TypedDict):
    """Arguments of memory_adoption."""

    client: NotRequired[str]
    observedTools: NotRequired[list[str]]
    observedInstructionsHash: NotRequired[str]
    observedToolsHash: NotRequired[str]


class Server(TypedDict):
    """Part server."""

    name: Literal["graymatter"]
    version: str
    adoptionSchema: Literal[1]


class Mcp(TypedDict):
    """Part mcp."""

    toolCount: int
    tools: list[str]
    toolsHash: str
    instructionsHash: str
    instructionsPreview: str
    listChanged: bool


class Features(TypedDict):
    """Part features."""

    proactiveContext: bool
    durableCapture: bool
    sessionRecap: bool
    hygiene: bool
    evaluation: bool
    sensitivity: bool
    projectAwareContextPacks: bool
    retentionDecay: bool
    asOf: bool
    abstention: bool


class Refresh(TypedDict):
    """Part refresh."""

    commands: list[str]
    requiresNewSession: Literal[True]
    note: str


class Diagnostics1(TypedDict):
    """Part diagnostics."""

    check: Literal["tool_surface"]
    ok: bool
    status: Literal["ok", "stale", "unknown"]
    expectedCount: int
    observedCount: int | None
    missingRequiredTools: list[str]
    missingTools: list[str]
    extraTools: list[str]
    action: str


class Diagnostics2(TypedDict):
    """Part diagnostics."""

    check: Literal["instructions_hash"]
    ok: bool
    status: Literal["ok", "stale", "unknown"]
    expected: str
    observed: str | None
    action: str


class Diagnostics3(TypedDict):
    """Part diagnostics."""

    check: Literal["mandatory_protocol"]
    ok: Literal[False]
    verifiableAtRuntime: Literal[False]
    action: str


class MemoryAdoptionOutput(TypedDict):
    """Result of memory_adoption."""

    server: Server
    mcp: Mcp
    requiredTools: list[str]
    features: Features
    refresh: Refresh
    requestedClient: str
    diagnostics: list[Diagnostics1 | Diagnostics2 | Diagnostics3]


class ProjectListInput(TypedDict):
    """Arguments of project_list."""


class Projects(TypedDict):
    """Part projects."""

    id: str
    name: str
    role: Literal["owner", "member"]
    ownerUserId: str
    createdAt: str


class ProjectListOutput(TypedDict):
    """Result of project_list."""

    projects: list[Projects]


class ProjectCreateInput(TypedDict):
    """Arguments of project_create."""

    name: str


class ProjectCreateOutput(TypedDict):
    """Result of project_create."""

    id: str
    name: str
    ownerUserId: str
    createdAt: str


class ProjectDeleteInput(TypedDict):
    """Arguments of project_delete."""

    project: str


class ProjectDeleteOutput(TypedDict):
    """Result of project_delete."""

    deleted: Literal[True]
    entriesRemoved: int


class ProjectActivateInput(TypedDict):
    """Arguments of project_activate."""

    project: str


class Active(TypedDict):
    """Part active."""

    id: str
    name: str


class ProjectActivateOutput(TypedDict):
    """Result of project_activate."""

    active: Active


class ProjectDeactivateInput(TypedDict):
    """Arguments of project_deactivate."""


class ProjectDeactivateOutput(TypedDict):
    """Result of project_deactivate."""

    active: None


class ProjectShareInput(TypedDict):
    """Arguments of project_share."""

    project: str
    username: str


class ProjectShareOutput(TypedDict):
    """Result of project_share."""

    added: Literal[True]
    userId: str
    username: str


class ProjectUnshareInput(TypedDict):
    """Arguments of project_unshare."""

    project: str
    username: str


class ProjectUnshareOutput(TypedDict):
    """Result of project_unshare."""

    removed: Literal[True]


CheckpointResumeOutput = CheckpointResumeOutput1 | CheckpointResumeOutput2


MemoryForgetOutput = MemoryForgetOutput1 | MemoryForgetOutput2


TOOLS: Final = (
    "memory_search",
    "memory_search_batch",
    "memory_add",
    "memory_alias",
    "checkpoint_save",
    "checkpoint_resume",
    "memory_reflect",
    "memory_context",
    "memory_hybrid_search",
    "memory_capture",
    "memory_session_recap",
    "memory_remember",
    "memory_recent",
    "memory_today",
    "memory_neighbors",
    "memory_forget",
    "memory_update",
    "memory_stats",
    "memory_hygiene",
    "memory_evaluate",
    "memory_adoption",
    "project_list",
    "project_create",
    "project_delete",
    "project_activate",
    "project_deactivate",
    "project_share",
    "project_unshare",
)
"""Every tool, in the order of the list."""
