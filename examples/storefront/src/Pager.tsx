// From one page of a list to the next, by cursors: no page is skipped or shown twice while others write.
import { graphql } from "./gql";
import type { PageCursorsFragment } from "./gql/graphql";
import { to } from "./route";

graphql(/* GraphQL */ `
  fragment PageCursors on PageInfo {
    hasNextPage
    hasPreviousPage
    startCursor
    endCursor
  }
`);

export interface Cursor {
  first?: number;
  after?: string;
  last?: number;
  before?: string;
}

/** The page that an address names. */
export function cursorOf(query: URLSearchParams, size: number): Cursor {
  const after = query.get("after");
  const before = query.get("before");
  if (before) return { last: size, before };
  return after ? { first: size, after } : { first: size };
}

interface PagerProps {
  info: PageCursorsFragment;
  path: string[];
  query: Record<string, string>;
  words: [back: string, on: string];
}

export function Pager({ info, path, query, words: [back, on] }: PagerProps) {
  const { hasPreviousPage, startCursor, hasNextPage, endCursor } = info;
  if (!hasPreviousPage && !hasNextPage) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <Step to={hasPreviousPage && startCursor ? to(path, { ...query, before: startCursor }) : null}>← {back}</Step>
      <Step to={hasNextPage && endCursor ? to(path, { ...query, after: endCursor }) : null}>{on} →</Step>
    </nav>
  );
}

function Step({ to: address, children }: { to: string | null; children: React.ReactNode }) {
  if (address === null) return <span aria-disabled="true">{children}</span>;
  return <a href={address}>{children}</a>;
}
