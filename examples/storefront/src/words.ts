// Dates, statuses and counts in words.
import type { OrderStatus } from "./gql/graphql";

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const minute = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const HOUR = 3_600_000;

export function since(text: string): string {
  const hours = (Date.parse(text) - Date.now()) / HOUR;
  if (hours > -1) return ago.format(Math.round(hours * 60), "minute");
  if (hours > -24) return ago.format(Math.round(hours), "hour");
  if (hours > -24 * 7) return ago.format(Math.round(hours / 24), "day");
  return day.format(new Date(text));
}

export function moment(text: string): string {
  return minute.format(new Date(text));
}

export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

export const STATUS: Record<OrderStatus, string> = {
  PENDING: "Pending",
  REVIEW: "In review",
  CONFIRMED: "Confirmed",
  SHIPPED: "Shipped",
  DELIVERED: "Delivered",
  CANCELLED: "Cancelled",
};
