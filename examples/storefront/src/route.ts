// Where we are: the part of the address behind #, so that back, forward and reload work without a server.
import { useMemo, useSyncExternalStore } from "react";

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(
    (changed) => {
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    },
    () => location.hash,
  );
  return useMemo(() => parsed(hash), [hash]);
}

function parsed(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

export function to(path: string[], query: Record<string, string> = {}): string {
  const asked = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${asked && `?${asked}`}`;
}

export function go(address: string): void {
  location.hash = address;
}
