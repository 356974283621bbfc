// Types of what the tools take and answer.
// Made from the schema files by `python -m graymatter_mcp.contract`; do not edit.

/** Arguments of memory_search. */
export interface MemorySearchInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** What to look for, in plain words or as an exact identifier. */
  query: string;
  /** How many facts to return at most. */
  top_k?: number;
  /** Return ranks and provenance for each fact instead of bare text. */
  explain?: boolean;
  /** Keep only facts declared at least this strongly; turns graph hints off. */
  min_confidence?: "verified" | "inferred" | "unverified";
  /** How far declared confidence moves the ranking; 0 switches it off. */
  confidence_weight?: number;
}

/** Part retrieval. */
export interface Retrieval {
  min_confidence?: string | null;
  confidence_weight: number;
  policy: string;
  kg: string;
}

/** Part ranks. */
export interface Ranks {
  vector_rank: number;
  keyword_rank: number;
  recency_rank: number;
  fused_score: number;
  k: number;
}

/** Part provenance. */
export interface Provenance {
  fact_id: string;
  written_at: string;
  superseded_by?: string;
  confidence?: string;
  pinned?: boolean;
  supersedes?: string[] | null;
}

/** Part ranking. */
export interface Ranking {
  base_score: number;
  final_score: number;
  factor: number;
  effective_confidence: string;
  confidence_weight: number;
  policy: string;
}

/** Part explained. */
export interface Explained {
  text: string;
  weight: number;
  age_days: number;
  ranks: Ranks;
  provenance: Provenance;
  kg_links?: string[] | null;
  ranking?: Ranking | null;
}

/** Result of memory_search. */
export interface MemorySearchOutput {
  retrieval?: Retrieval | null;
  agent_id: string;
  query: string;
  count: number;
  facts: string[] | null;
  feedback?: string;
  explained?: Explained[] | null;
}

/** Arguments of memory_search_batch. */
export interface MemorySearchBatchInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** The questions; blank ones are skipped. */
  queries: string[];
  /** How many facts to return at most for each query. */
  top_k?: number;
  /** Keep only facts declared at least this strongly; turns graph hints off. */
  min_confidence?: "verified" | "inferred" | "unverified";
  /** How far declared confidence moves the ranking; 0 switches it off. */
  confidence_weight?: number;
}

/** Part per_query. */
export interface PerQuery {
  query: string;
  facts: string[] | null;
  error?: string;
}

/** Result of memory_search_batch. */
export interface MemorySearchBatchOutput {
  retrieval?: Retrieval | null;
  agent_id: string;
  count: number;
  merged: string[] | null;
  per_query: PerQuery[] | null;
}

/** Arguments of memory_add. */
export interface MemoryAddInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** The fact, stored exactly as sent. */
  text: string;
  /** Writer's own declaration; omitted means inferred. */
  confidence?: "verified" | "inferred" | "unverified";
}

/** Result of memory_add. */
export interface MemoryAddOutput {
  agent_id: string;
  stored: boolean;
  fact_id?: string;
  confidence?: string;
}

/** Arguments of memory_alias. */
export interface MemoryAliasInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** The word or phrase used in questions. */
  term: string;
  /** The words the stored facts use. */
  equivalents: string[];
}

/** Result of memory_alias. */
export interface MemoryAliasOutput {
  agent_id: string;
  term: string;
  equivalents: string[] | null;
  stored: boolean;
}

/** Arguments of checkpoint_save. */
export interface CheckpointSaveInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** A string holding one JSON object: goals, progress, next steps. */
  state?: string;
}

/** Result of checkpoint_save. */
export interface CheckpointSaveOutput {
  agent_id: string;
  checkpoint_id: string;
  created_at: string;
}

/** Arguments of checkpoint_resume. */
export interface CheckpointResumeInput {
  /** Namespace of the agent, byte-exact; __shared__ is common to all. */
  agent_id: string;
  /** What to answer when no checkpoint exists. */
  on_missing?: "error" | "empty";
}

/** Result of checkpoint_resume. */
export interface CheckpointResumeOutput1 {
  id: string;
  created_at: string;
  state?: Record<string, unknown>;
  message_count?: number;
}

/** Result of checkpoint_resume. */
export interface CheckpointResumeOutput2 {
  found: false;
  agent_id: string;
}

/** Arguments of memory_reflect. */
export interface MemoryReflectInput {
  /** What to do. */
  action: "add" | "update" | "forget" | "link" | "pin" | "unpin";
  /** The agent whose memory is curated; required at runtime unless agent is given. */
  agent_id?: string;
  /** Deprecated spelling of agent_id; one of the two is required at runtime, agent_id wins. */
  agent?: string;
  /** The new fact (add, update), or the source node (link). */
  text?: string;
  /** Exact text of the fact to act on, or the target node (link). */
  target?: string;
  /** Declaration for add and update only. */
  confidence?: "verified" | "inferred" | "unverified";
}

/** Result of memory_reflect. */
export interface MemoryReflectOutput {
  action: string;
  agent: string;
  ok: boolean;
  fact_id?: string;
  confidence?: string;
}

/** Part weights. */
export interface Weights {
  /** Weight of words. */
  keyword?: number;
  /** Weight of meaning. */
  vector?: number;
  /** Weight of linked facts. */
  graph?: number;
  /** Weight of named entities. */
  entity?: number;
  /** Weight of age. */
  recency?: number;
}

/** Arguments of memory_context. */
export interface MemoryContextInput {
  /** The user's current message. */
  message: string;
  /** How many results at most. */
  k?: number;
  /** One shelf, matched byte by byte; without it every shelf in scope. */
  namespace?: string;
  /** Several shelves; wins over namespace. */
  includeNamespaces?: string[];
  /** Id or name of a project; alone, only that project. */
  project?: string;
  /** Projects read beside your own facts. */
  includeProjects?: string[];
  /** Weights of the signals; any subset, not all 0. */
  weights?: Weights;
  /** Only facts written under this agent name; applied before ranking. */
  agentName?: string;
  /** The most sensitive level that is returned. */
  maxSensitivity?: "public" | "internal" | "private" | "sensitive";
  /** full contents, snippets of at most 240 characters, or ids alone. */
  contentMode?: "full" | "snippet" | "ids";
  /** Answer as the store stood at this instant, ISO 8601 with an offset; not in the future. */
  asOf?: string;
  /** Least similarity that supports a result by meaning alone; 0 supports all. */
  minVectorScore?: number;
  /** Least evidence below which nothing is answered; 0 always answers. */
  abstainBelow?: number;
  /** Budget of relevant content in tokens of 4 characters. */
  maxTokens?: number;
  /** Limit of the answer in bytes; what does not fit is named in omitted. Over MCP 40000 unless sent. */
  maxBytes?: number;
}

/** Part signals. */
export interface Signals {
  keyword: number;
  vector: number;
  graph: number;
  recency: number;
  entity: number;
}

/** Part results. */
export interface Results {
  id: string;
  score: number;
  content?: string;
  tier: "warm" | "cold";
  namespace: string;
  project: string | null;
  source: string;
  metadata?: Record<string, unknown>;
  sourceType?: string;
  capturedFrom?: string;
  agentName?: string;
  confidence?: number;
  createdAt: string;
  updatedAt: string;
  truncated?: true;
  signals: Signals;
}

/** Part relevant. */
export interface Relevant {
  results: Results[];
  degraded: boolean;
  abstained: boolean;
}

/** Part results. */
export interface RecentResults {
  id: string;
  score: number;
  content?: string;
  tier: "warm" | "cold";
  namespace: string;
  project: string | null;
  source: string;
  metadata?: Record<string, unknown>;
  sourceType?: string;
  capturedFrom?: string;
  agentName?: string;
  confidence?: number;
  createdAt: string;
  updatedAt: string;
  truncated?: true;
}

/** Part recent. */
export interface Recent {
  results: RecentResults[];
}

/** Part userGlobal. */
export interface UserGlobal {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part projectScoped. */
export interface ProjectScoped {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part userPreferences. */
export interface UserPreferences {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part currentSetup. */
export interface CurrentSetup {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part projectConventions. */
export interface ProjectConventions {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part decisions. */
export interface Decisions {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part bugRootCauses. */
export interface BugRootCauses {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part deploymentState. */
export interface DeploymentState {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part safetyConstraints. */
export interface SafetyConstraints {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part pitfalls. */
export interface Pitfalls {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part recentDecisions. */
export interface RecentDecisions {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part all. */
export interface All {
  id: string;
  content?: string;
  namespace: string;
  project: string | null;
  memoryType: string | null;
  createdAt: string;
}

/** Part contextPack. */
export interface ContextPack {
  userGlobal: UserGlobal[];
  projectScoped: ProjectScoped[];
  userPreferences: UserPreferences[];
  currentSetup: CurrentSetup[];
  projectConventions: ProjectConventions[];
  decisions: Decisions[];
  bugRootCauses: BugRootCauses[];
  deploymentState: DeploymentState[];
  safetyConstraints: SafetyConstraints[];
  pitfalls: Pitfalls[];
  recentDecisions: RecentDecisions[];
  all: All[];
}

/** Result of memory_context. */
export interface MemoryContextOutput {
  relevant: Relevant;
  recent: Recent;
  contextPack: ContextPack;
  guidance: string;
  omitted?: string[];
}

/** Arguments of memory_hybrid_search. */
export interface MemoryHybridSearchInput {
  /** What to look for, in your own words. */
  query: string;
  /** How many results at most. */
  k?: number;
  /** One shelf, matched byte by byte; without it every shelf in scope. */
  namespace?: string;
  /** Several shelves; wins over namespace. */
  includeNamespaces?: string[];
  /** Id or name of a project; alone, only that project. */
  project?: string;
  /** Projects read beside your own facts. */
  includeProjects?: string[];
  /** Weights of the signals; any subset, not all 0. */
  weights?: Weights;
  /** Only facts written under this agent name; applied before ranking. */
  agentName?: string;
  /** The most sensitive level that is returned. */
  maxSensitivity?: "public" | "internal" | "private" | "sensitive";
  /** full contents, snippets of at most 240 characters, or ids alone. */
  contentMode?: "full" | "snippet" | "ids";
  /** Answer as the store stood at this instant, ISO 8601 with an offset; not in the future. */
  asOf?: string;
  /** Least similarity that supports a result by meaning alone; 0 supports all. */
  minVectorScore?: number;
  /** Least evidence below which nothing is answered; 0 always answers. */
  abstainBelow?: number;
  /** Budget of content in tokens of 4 characters; the first result always comes. */
  maxTokens?: number;
  /** Limit of the answer in bytes; what does not fit is named in omitted. Over MCP 40000 unless sent. */
  maxBytes?: number;
}

/** Result of memory_hybrid_search. */
export interface MemoryHybridSearchOutput {
  results: Results[];
  degraded: boolean;
  abstained: boolean;
  omitted?: string[];
}

/** Arguments of memory_capture. */
export interface MemoryCaptureInput {
  /** The fact, stored as sent: one self-contained sentence is best. */
  content: string;
  /** The shelf to write to, matched byte by byte. */
  namespace?: string;
  /** Who or what writes it. */
  source?: string;
  /** Kind of source, such as doc, chat, email, code-review, inference, observation, system, manual. */
  sourceType?: string;
  /** Conversation, run or channel it came from. */
  capturedFrom?: string;
  /** How sure the writer is. */
  confidence?: number;
  /** Name of the writing agent. */
  agentName?: string;
  /** Id or name of the project to write to. */
  project?: string;
  /** Your own keys, up to 64 characters each, 8 KB in all; memoryType and sensitivity are understood. */
  metadata?: Record<string, unknown>;
  /** How widely the fact may be shown; inferred from the content when it is not sent. */
  sensitivity?: "public" | "internal" | "private" | "sensitive";
  /** Store in spite of the gate; only on the user's word. */
  force?: boolean;
  /** Hidden from this instant on, ISO 8601 with an offset; in the future. */
  expiresAt?: string;
  /** Handles by which the fact can be forgotten later; never returned. */
  sourceRefs?: string[];
}

/** Result of memory_capture. */
export interface MemoryCaptureOutput {
  id: string | null;
  rejected?: string;
  deduplicated?: true;
  updated?: true;
  superseded?: string[];
  embedded?: boolean;
}

/** Arguments of memory_session_recap. */
export interface MemorySessionRecapInput {
  /** Decisions taken. */
  decisions?: string[];
  /** Facts of the current setup. */
  setupFacts?: string[];
  /** Root causes of bugs and incidents. */
  rootCauses?: string[];
  /** Preferences of the user. */
  preferences?: string[];
  /** Conventions of the project. */
  projectConventions?: string[];
  /** Constraints of safety and privacy. */
  safetyConstraints?: string[];
  /** Other durable facts. */
  other?: string[];
  /** A shelf for all of them, in place of the usual ones. */
  namespace?: string;
  /** Who or what writes it. */
  source?: string;
  /** Kind of source, such as doc, chat, email, code-review, inference, observation, system, manual. */
  sourceType?: string;
  /** Conversation, run or channel it came from. */
  capturedFrom?: string;
  /** How sure the writer is. */
  confidence?: number;
  /** Name of the writing agent. */
  agentName?: string;
  /** Id or name of the project to write to. */
  project?: string;
  /** Your own keys, up to 64 characters each, 8 KB in all; memoryType and sensitivity are understood. */
  metadata?: Record<string, unknown>;
  /** How widely the fact may be shown; inferred from the content when it is not sent. */
  sensitivity?: "public" | "internal" | "private" | "sensitive";
  /** Store in spite of the gate; only on the user's word. */
  force?: boolean;
  /** Hidden from this instant on, ISO 8601 with an offset; in the future. */
  expiresAt?: string;
  /** Handles by which the fact can be forgotten later; never returned. */
  sourceRefs?: string[];
}

/** Part results. */
export interface MemorySessionRecapOutputResults {
  id: string | null;
  rejected?: string;
  deduplicated?: true;
  updated?: true;
  superseded?: string[];
  embedded?: boolean;
}

/** Result of memory_session_recap. */
export interface MemorySessionRecapOutput {
  saved: number;
  results: MemorySessionRecapOutputResults[];
}

/** Arguments of memory_remember. */
export interface MemoryRememberInput {
  /** The fact, stored as sent: one self-contained sentence is best. */
  content: string;
  /** The shelf to write to, matched byte by byte. */
  namespace?: string;
  /** Who or what writes it. */
  source?: string;
  /** Kind of source, such as doc, chat, email, code-review, inference, observation, system, manual. */
  sourceType?: string;
  /** Conversation, run or channel it came from. */
  capturedFrom?: string;
  /** How sure the writer is. */
  confidence?: number;
  /** Name of the writing agent. */
  agentName?: string;
  /** Id or name of the project to write to. */
  project?: string;
  /** Your own keys, up to 64 characters each, 8 KB in all; memoryType and sensitivity are understood. */
  metadata?: Record<string, unknown>;
  /** How widely the fact may be shown; inferred from the content when it is not sent. */
  sensitivity?: "public" | "internal" | "private" | "sensitive";
  /** Store in spite of the gate; only on the user's word. */
  force?: boolean;
  /** Hidden from this instant on, ISO 8601 with an offset; in the future. */
  expiresAt?: string;
  /** Handles by which the fact can be forgotten later; never returned. */
  sourceRefs?: string[];
}

/** Result of memory_remember. */
export interface MemoryRememberOutput {
  id: string | null;
  rejected?: string;
  deduplicated?: true;
  updated?: true;
  superseded?: string[];
  embedded?: boolean;
}

/** Arguments of memory_recent. */
export interface MemoryRecentInput {
  /** How many results at most. */
  k?: number;
  /** One shelf, matched byte by byte; without it every shelf in scope. */
  namespace?: string;
  /** Several shelves; wins over namespace. */
  includeNamespaces?: string[];
  /** Earliest creation time, inclusive, ISO 8601 with an offset. */
  since?: string;
  /** Id or name of a project; alone, only that project. */
  project?: string;
  /** Projects read beside your own facts. */
  includeProjects?: string[];
  /** Only facts written under this agent name; applied before ranking. */
  agentName?: string;
  /** The most sensitive level that is returned. */
  maxSensitivity?: "public" | "internal" | "private" | "sensitive";
  /** full contents, snippets of at most 240 characters, or ids alone. */
  contentMode?: "full" | "snippet" | "ids";
  /** Answer as the store stood at this instant, ISO 8601 with an offset; not in the future. */
  asOf?: string;
  /** Only these facts, still filtered. */
  ids?: string[];
  /** Limit of the answer in bytes; what does not fit is named in omitted. Over MCP 40000 unless sent. */
  maxBytes?: number;
}

/** Part results. */
export interface MemoryRecentOutputResults {
  id: string;
  score: number;
  content?: string;
  tier: "warm" | "cold";
  namespace: string;
  project: string | null;
  source: string;
  metadata?: Record<string, unknown>;
  sourceType?: string;
  capturedFrom?: string;
  agentName?: string;
  confidence?: number;
  createdAt: string;
  updatedAt: string;
  truncated?: true;
}

/** Result of memory_recent. */
export interface MemoryRecentOutput {
  results: MemoryRecentOutputResults[];
  omitted?: string[];
}

/** Arguments of memory_today. */
export interface MemoryTodayInput {
  /** How many results at most. */
  k?: number;
  /** One shelf, matched byte by byte; without it every shelf in scope. */
  namespace?: string;
  /** Several shelves; wins over namespace. */
  includeNamespaces?: string[];
  /** Id or name of a project; alone, only that project. */
  project?: string;
  /** Projects read beside your own facts. */
  includeProjects?: string[];
  /** Only facts written under this agent name; applied before ranking. */
  agentName?: string;
  /** The most sensitive level that is returned. */
  maxSensitivity?: "public" | "internal" | "private" | "sensitive";
  /** full contents, snippets of at most 240 characters, or ids alone. */
  contentMode?: "full" | "snippet" | "ids";
  /** Limit of the answer in bytes; what does not fit is named in omitted. Over MCP 40000 unless sent. */
  maxBytes?: number;
}

/** Part results. */
export interface MemoryTodayOutputResults {
  id: string;
  score: number;
  content?: string;
  tier: "warm" | "cold";
  namespace: string;
  project: string | null;
  source: string;
  metadata?: Record<string, unknown>;
  sourceType?: string;
  capturedFrom?: string;
  agentName?: string;
  confidence?: number;
  createdAt: string;
  updatedAt: string;
  truncated?: true;
}

/** Result of memory_today. */
export interface MemoryTodayOutput {
  results: MemoryTodayOutputResults[];
  omitted?: string[];
}

/** Arguments of memory_neighbors. */
export interface MemoryNeighborsInput {
  /** Id of a fact. */
  id: string;
  /** How many links to follow. */
  depth?: 1 | 2 | 3;
  /** How many results at most. */
  k?: number;
  /** Id or name of a project; alone, only that project. */
  project?: string;
  /** Projects read beside your own facts. */
  includeProjects?: string[];
  /** Several shelves; wins over namespace. */
  includeNamespaces?: string[];
  /** The most sensitive level that is returned. */
  maxSensitivity?: "public" | "internal" | "private" | "sensitive";
  /** Answer as the store stood at this instant, ISO 8601 with an offset; not in the future. */
  asOf?: string;
  /** Limit of the answer in bytes; what does not fit is named in omitted. Over MCP 40000 unless sent. */
  maxBytes?: number;
}

/** Part signals. */
export interface MemoryNeighborsOutputResultsSignals {
  graph: number;
}

/** Part results. */
export interface MemoryNeighborsOutputResults {
  id: string;
  score: number;
  content?: string;
  tier: "warm" | "cold";
  namespace: string;
  project: string | null;
  source: string;
  metadata?: Record<string, unknown>;
  sourceType?: string;
  capturedFrom?: string;
  agentName?: string;
  confidence?: number;
  createdAt: string;
  updatedAt: string;
  truncated?: true;
  signals: MemoryNeighborsOutputResultsSignals;
}

/** Result of memory_neighbors. */
export interface MemoryNeighborsOutput {
  results: MemoryNeighborsOutputResults[];
  degraded: boolean;
  omitted?: string[];
}

/** Arguments of memory_forget. */
export interface MemoryForgetInput {
  /** Id of a fact. */
  id?: string;
  /** A handle, matched exactly: every fact of it is erased. */
  sourceRef?: string;
  /** Id or name of the project to write to. */
  project?: string;
}

/** Result of memory_forget. */
export interface MemoryForgetOutput1 {
  deleted: boolean;
  coldDeleteOk: boolean;
}

/** Result of memory_forget. */
export interface MemoryForgetOutput2 {
  sourceRef: string;
  ids: string[];
  count: number;
  coldDeleteOk: boolean;
}

/** Arguments of memory_update. */
export interface MemoryUpdateInput {
  /** Id of a fact. */
  id: string;
  /** The fact, stored as sent: one self-contained sentence is best. */
  content?: string;
  /** The shelf to move it to. */
  namespace?: string;
  /** Replaces your own keys; the server's stay. */
  metadata?: Record<string, unknown>;
  /** How widely the fact may be shown; inferred from the content when it is not sent. */
  sensitivity?: "public" | "internal" | "private" | "sensitive";
  /** Kind of source, such as doc, chat, email, code-review, inference, observation, system, manual. */
  sourceType?: string;
  /** Conversation, run or channel it came from. */
  capturedFrom?: string;
  /** How sure the writer is. */
  confidence?: number;
  /** Hidden from this instant on, ISO 8601 with an offset; in the future. */
  expiresAt?: string;
  /** Id or name of the project that the fact must be in. */
  project?: string;
}

/** Result of memory_update. */
export interface MemoryUpdateOutput {
  id: string;
  updated: true;
  embeddingChanged: boolean;
}

/** Arguments of memory_stats. */
export interface MemoryStatsInput {
}

/** Part byNamespace. */
export interface ByNamespace {
  warm: number;
  cold: number;
}

/** Result of memory_stats. */
export interface MemoryStatsOutput {
  byNamespace: Record<string, ByNamespace>;
  totalWarm: number;
  totalCold: number;
  totalInactive: number;
  pendingVectors: number;
  lastDecayAt: string | null;
  uptimeMs: number;
}

/** Arguments of memory_hygiene. */
export interface MemoryHygieneInput {
  /** Length of each list at most. */
  k?: number;
}

/** Part summary. */
export interface Summary {
  scanned: number;
  lowValue: number;
  stale: number;
  duplicateClusters: number;
  contradictionCandidates: number;
  orphanCandidates: number;
}

/** Part lowValue. */
export interface LowValue {
  id: string;
  content: string;
  reason: "low_worthiness";
}

/** Part stale. */
export interface Stale {
  id: string;
  reason: "current_state_review" | "copy_of_superseded";
  of?: string;
}

/** Part duplicateClusters. */
export interface DuplicateClusters {
  ids: string[];
  reason: "high_token_overlap";
}

/** Part contradictionCandidates. */
export interface ContradictionCandidates {
  ids: string[];
  reason: "comparable_scalar_conflict" | "polarity_conflict";
}

/** Part orphanCandidates. */
export interface OrphanCandidates {
  id: string;
  reason: "warm_without_cold_vector";
}

/** Result of memory_hygiene. */
export interface MemoryHygieneOutput {
  summary: Summary;
  lowValue: LowValue[];
  stale: Stale[];
  duplicateClusters: DuplicateClusters[];
  contradictionCandidates: ContradictionCandidates[];
  orphanCandidates: OrphanCandidates[];
}

/** Arguments of memory_evaluate. */
export interface MemoryEvaluateInput {
  /** core, or retrieval. */
  suite?: string;
}

/** Part summary. */
export interface MemoryEvaluateOutputSummary {
  total: number;
  passed: number;
  failed: number;
}

/** Part cases. */
export interface Cases {
  name: string;
  passed: boolean;
  skipped?: true;
  detail?: string;
}

/** Part checks. */
export interface Checks {
  name: string;
  passed: boolean;
  skipped?: true;
  detail?: string;
}

/** Part hygiene. */
export interface Hygiene {
  summary: Summary;
  lowValue: LowValue[];
  stale: Stale[];
  duplicateClusters: DuplicateClusters[];
  contradictionCandidates: ContradictionCandidates[];
  orphanCandidates: OrphanCandidates[];
}

/** Result of memory_evaluate. */
export interface MemoryEvaluateOutput {
  suite: string;
  passed: boolean;
  summary: MemoryEvaluateOutputSummary;
  cases: Cases[];
  checks: Checks[];
  hygiene: Hygiene;
}

/** Arguments of memory_adoption. */
export interface MemoryAdoptionInput {
  /** Name of the client, such as claudeCode or cursor. */
  client?: string;
  /** Names of the tools that the client sees. */
  observedTools?: string[];
  /** SHA-256 of the instructions that the client got. */
  observedInstructionsHash?: string;
  /** SHA-256 of the list of tools that the client got. */
  observedToolsHash?: string;
}

/** Part server. */
export interface Server {
  name: "graymatter";
  version: string;
  adoptionSchema: 1;
}

/** Part mcp. */
export interface Mcp {
  toolCount: number;
  tools: string[];
  toolsHash: string;
  instructionsHash: string;
  instructionsPreview: string;
  listChanged: boolean;
}

/** Part features. */
export interface Features {
  proactiveContext: boolean;
  durableCapture: boolean;
  sessionRecap: boolean;
  hygiene: boolean;
  evaluation: boolean;
  sensitivity: boolean;
  projectAwareContextPacks: boolean;
  retentionDecay: boolean;
  asOf: boolean;
  abstention: boolean;
}

/** Part refresh. */
export interface Refresh {
  commands: string[];
  requiresNewSession: true;
  note: string;
}

/** Part diagnostics. */
export interface Diagnostics1 {
  check: "tool_surface";
  ok: boolean;
  status: "ok" | "stale" | "unknown";
  expectedCount: number;
  observedCount: number | null;
  missingRequiredTools: string[];
  missingTools: string[];
  extraTools: string[];
  action: string;
}

/** Part diagnostics. */
export interface Diagnostics2 {
  check: "instructions_hash";
  ok: boolean;
  status: "ok" | "stale" | "unknown";
  expected: string;
  observed: string | null;
  action: string;
}

/** Part diagnostics. */
export interface Diagnostics3 {
  check: "mandatory_protocol";
  ok: false;
  verifiableAtRuntime: false;
  action: string;
}

/** Result of memory_adoption. */
export interface MemoryAdoptionOutput {
  server: Server;
  mcp: Mcp;
  requiredTools: string[];
  features: Features;
  refresh: Refresh;
  requestedClient: string;
  diagnostics: (Diagnostics1 | Diagnostics2 | Diagnostics3)[];
}

/** Arguments of project_list. */
export interface ProjectListInput {
}

/** Part projects. */
export interface Projects {
  id: string;
  name: string;
  role: "owner" | "member";
  ownerUserId: string;
  createdAt: string;
}

/** Result of project_list. */
export interface ProjectListOutput {
  projects: Projects[];
}

/** Arguments of project_create. */
export interface ProjectCreateInput {
  /** Its name; no control characters. */
  name: string;
}

/** Result of project_create. */
export interface ProjectCreateOutput {
  id: string;
  name: string;
  ownerUserId: string;
  createdAt: string;
}

/** Arguments of project_delete. */
export interface ProjectDeleteInput {
  /** Id or name of the project. */
  project: string;
}

/** Result of project_delete. */
export interface ProjectDeleteOutput {
  deleted: true;
  entriesRemoved: number;
}

/** Arguments of project_activate. */
export interface ProjectActivateInput {
  /** Id or name of a project. */
  project: string;
}

/** Part active. */
export interface Active {
  id: string;
  name: string;
}

/** Result of project_activate. */
export interface ProjectActivateOutput {
  active: Active;
}

/** Arguments of project_deactivate. */
export interface ProjectDeactivateInput {
}

/** Result of project_deactivate. */
export interface ProjectDeactivateOutput {
  active: null;
}

/** Arguments of project_share. */
export interface ProjectShareInput {
  /** Id or name of the project. */
  project: string;
  /** The user's exact name. */
  username: string;
}

/** Result of project_share. */
export interface ProjectShareOutput {
  added: true;
  userId: string;
  username: string;
}

/** Arguments of project_unshare. */
export interface ProjectUnshareInput {
  /** Id or name of the project. */
  project: string;
  /** The user's exact name. */
  username: string;
}

/** Result of project_unshare. */
export interface ProjectUnshareOutput {
  removed: true;
}

/** Every tool, with its arguments and its results. */
export interface Tools {
  memory_search: { input: MemorySearchInput; output: MemorySearchOutput };
  memory_search_batch: { input: MemorySearchBatchInput; output: MemorySearchBatchOutput };
  memory_add: { input: MemoryAddInput; output: MemoryAddOutput };
  memory_alias: { input: MemoryAliasInput; output: MemoryAliasOutput };
  checkpoint_save: { input: CheckpointSaveInput; output: CheckpointSaveOutput };
  checkpoint_resume: { input: CheckpointResumeInput; output: CheckpointResumeOutput1 | CheckpointResumeOutput2 };
  memory_reflect: { input: MemoryReflectInput; output: MemoryReflectOutput };
  memory_context: { input: MemoryContextInput; output: MemoryContextOutput };
  memory_hybrid_search: { input: MemoryHybridSearchInput; output: MemoryHybridSearchOutput };
  memory_capture: { input: MemoryCaptureInput; output: MemoryCaptureOutput };
  memory_session_recap: { input: MemorySessionRecapInput; output: MemorySessionRecapOutput };
  memory_remember: { input: MemoryRememberInput; output: MemoryRememberOutput };
  memory_recent: { input: MemoryRecentInput; output: MemoryRecentOutput };
  memory_today: { input: MemoryTodayInput; output: MemoryTodayOutput };
  memory_neighbors: { input: MemoryNeighborsInput; output: MemoryNeighborsOutput };
  memory_forget: { input: MemoryForgetInput; output: MemoryForgetOutput1 | MemoryForgetOutput2 };
  memory_update: { input: MemoryUpdateInput; output: MemoryUpdateOutput };
  memory_stats: { input: MemoryStatsInput; output: MemoryStatsOutput };
  memory_hygiene: { input: MemoryHygieneInput; output: MemoryHygieneOutput };
  memory_evaluate: { input: MemoryEvaluateInput; output: MemoryEvaluateOutput };
  memory_adoption: { input: MemoryAdoptionInput; output: MemoryAdoptionOutput };
  project_list: { input: ProjectListInput; output: ProjectListOutput };
  project_create: { input: ProjectCreateInput; output: ProjectCreateOutput };
  project_delete: { input: ProjectDeleteInput; output: ProjectDeleteOutput };
  project_activate: { input: ProjectActivateInput; output: ProjectActivateOutput };
  project_deactivate: { input: ProjectDeactivateInput; output: ProjectDeactivateOutput };
  project_share: { input: ProjectShareInput; output: ProjectShareOutput };
  project_unshare: { input: ProjectUnshareInput; output: ProjectUnshareOutput };
}
