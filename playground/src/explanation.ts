// What the gateway says about the last operation, as gateway/graph/explain.py writes it.
import { createStore } from "./store";

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

export const lastOperation = createStore<LastOperation | null>(null);
