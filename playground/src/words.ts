// Numbers and names in words.
import { createElement, type ReactNode } from "react";

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function amount(number: number): string {
  return plain.format(number);
}

export function counted(number: number, word: string): string {
  return `${plain.format(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function units(capacity: number): string {
  return counted(capacity, "capacity unit");
}

export function milliseconds(number: number): string {
  return `${number < 10 ? plain.format(number) : Math.round(number)} ms`;
}

/** What stands between backticks is code. */
export function withCode(text: string): ReactNode[] {
  return text.split("`").map((part, index) => (index % 2 ? createElement("code", { key: index }, part) : part));
}
