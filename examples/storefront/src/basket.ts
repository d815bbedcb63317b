// What is about to be ordered. It is of one tenant: signing out empties it.
import { createStore } from "./store";

export interface Line {
  productId: string;
  quantity: number;
}

// the gateway takes so many lines in one order
export const MAX_LINES = 40;
const MAX_QUANTITY = 999;

export const basket = createStore<Line[]>([]);

/** The order that was placed and not yet shown. */
export const justPlaced = createStore<string | null>(null);

export function add(productId: string): void {
  const line = basket.get().find((each) => each.productId === productId);
  if (line) setQuantity(productId, line.quantity + 1);
  else basket.set([...basket.get(), { productId, quantity: 1 }]);
}

export function setQuantity(productId: string, quantity: number): void {
  const bounded = Math.min(Math.max(Math.trunc(quantity) || 1, 1), MAX_QUANTITY);
  basket.set(basket.get().map((line) => (line.productId === productId ? { productId, quantity: bounded } : line)));
}

export function remove(productId: string): void {
  basket.set(basket.get().filter((line) => line.productId !== productId));
}

let submitted = { content: "", key: "" };

/** The same submission keeps its key however often it is sent; another basket or customer gets a new one. */
export function submissionKey(content: unknown): string {
  const text = JSON.stringify(content);
  if (submitted.content !== text) submitted = { content: text, key: newKey() };
  return submitted.key;
}

/** After success: the same order once more is a new submission. */
export function forgetSubmission(): void {
  submitted = { content: "", key: "" };
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
