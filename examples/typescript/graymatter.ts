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

/** Every tool, with its arguments and its results. */
export interface Tools {
  memory_search: { input: MemorySearchInput; output: MemorySearchOutput };
  memory_search_batch: { input: MemorySearchBatchInput; output: MemorySearchBatchOutput };
  memory_add: { input: MemoryAddInput; output: MemoryAddOutput };
  memory_alias: { input: MemoryAliasInput; output: MemoryAliasOutput };
  checkpoint_save: { input: CheckpointSaveInput; output: CheckpointSaveOutput };
  checkpoint_resume: { input: CheckpointResumeInput; output: CheckpointResumeOutput1 | CheckpointResumeOutput2 };
  memory_reflect: { input: MemoryReflectInput; output: MemoryReflectOutput };
}
