import type { OrderStatus } from "./gql/graphql";
import { STATUS } from "./words";

export function Status({ status }: { status: OrderStatus }) {
  return <span className={`status ${status.toLowerCase()}`}>{STATUS[status]}</span>;
}
