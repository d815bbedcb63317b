// What the gateway says about the last operation of each tab, as gateway/graph/http/explain.py writes it.
import { createStore, useStored } from "./store";

export interface Call {
  operation: string;
  index: string | null;
  source: "table" | "cache" | "dax";
  stale: boolean;
  keys: number;
  touched: { partition: string; sort: string; keys: number }[];
  items: number;
  capacity: number;
  startMs: number;
  durationMs: number;
  allowedBy: string[];
}

export interface Explanation {
  tenant: string;
  role: string;
  /** The names of the session's tags, which the statements compare with the keys. */
  tags: string[];
  policies: string;
  calls: Call[];
  refused: { what: string; reason: string }[];
  keys: number;
  items: number;
  capacity: number;
  durationMs: number;
}

export interface LastOperation {
  name: string;
  at: Date;
  status: number;
  requestId: string | null;
  errors: string[];
  explanation: Explanation | null;
  cost: Record<string, unknown> | null;
}

/** The tab that is in front, by GraphiQL's id. */
export const activeTab = createStore("");

const byTab = createStore<ReadonlyMap<string, LastOperation>>(new Map());

export function keepLast(tab: string, last: LastOperation): void {
  byTab.set(new Map(byTab.get()).set(tab, last));
}

export function forgetLast(): void {
  byTab.set(new Map());
}

/** The last operation of the tab in front; null where none was run there. */
export function useLastOperation(): LastOperation | null {
  return useStored(byTab).get(useStored(activeTab)) ?? null;
}
